// What the tests of lent backends share: the built package, temporary folders, waiting.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { transformSync } from "esbuild";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Where the package was built; `KITBAG_PKG` names another build. */
export const packageDir = process.env.KITBAG_PKG ?? join(root, "pkg");

export const kitbag = await import(pathToFileURL(join(packageDir, "dist/node.js")).href);

/** A folder of its own, gone when `use` is done. */
export async function withFolder(use) {
  const dir = mkdtempSync(join(tmpdir(), "kitbag-test-"));
  try {
    return await use(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export const { nodeShell } = await import(
  pathToFileURL(join(packageDir, "dist/node_shell.js")).href
);

/** Runs commands as a remote sandbox would: a shell, and nothing of this process. */
export function run(shell, env = { PATH: process.env.PATH }) {
  const execute = nodeShell({ shell });
  return (command, limits) => execute({ command, cwd: "/", env, ...limits });
}

/** The class in `docs/custom.md`, as a reader would copy it. */
export function documentedStorage() {
  const text = readFileSync(join(root, "docs/custom.md"), "utf8");
  const code = /class MapStorage .*\{[\s\S]*?\n\}/.exec(text)[0];
  const { code: script } = transformSync(code, { loader: "ts", target: "es2022" });
  return new Function(`${script}\nreturn MapStorage;`)();
}
