// What the tests of lent backends share: the built package, temporary folders, waiting.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

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
