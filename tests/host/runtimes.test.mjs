// FilesystemBackend and LocalShellBackend in Deno and in Bun.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import test from "node:test";
import { packageDir, root } from "./lib.mjs";

for (const [name, args] of [
  ["deno", ["run", "-A"]],
  ["bun", ["run"]],
]) {
  test(`a folder and a local shell in ${name}`, () => {
    const program = join(root, "tests/deps/runtimes/node_modules/.bin", name);
    const script = join(root, "tests/host/runtimes.mjs");
    const output = execFileSync(program, [...args, script, packageDir], { encoding: "utf8" });
    const { reports, ended } = JSON.parse(output.trim().split("\n").at(-1));
    assert.equal(reports.length, 2);
    for (const report of reports) {
      assert.deepEqual(report.failures, []);
      assert.ok(report.passed > 100, String(report.passed));
    }
    assert.equal(ended.exitCode, 124);
    assert.match(ended.output, /begun/);
  });
}
