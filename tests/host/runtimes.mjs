// Run by Deno and by Bun: the conformance suite on a folder and on a local shell.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (name) => import(pathToFileURL(join(process.argv[2], "dist", name)).href);
const { begin, FilesystemBackend, LocalShellBackend, undo } = await load("node.js");
const { runConformance } = await load("conformance.js");
const { nodeShell } = await load("node_shell.js");

const base = mkdtempSync(join(tmpdir(), "kitbag-runtime-"));
const out = { reports: [] };
try {
  let next = 0;
  for (const make of [
    (options) => new FilesystemBackend(options),
    (options) => new LocalShellBackend({ ...options, execute: nodeShell() }),
  ]) {
    const report = await runConformance(
      ({ writeMode }) => {
        const rootDir = join(base, String(next++));
        mkdirSync(rootDir);
        return make({ rootDir, writeMode });
      },
      { turns: { begin, undo } },
    );
    out.reports.push(report);
  }
  const shell = new LocalShellBackend({ rootDir: base, execute: nodeShell(), timeout: 0.5 });
  out.ended = await shell.execute("echo begun; sleep 60 & sleep 60");
} finally {
  rmSync(base, { recursive: true, force: true });
}
console.log(JSON.stringify(out));
