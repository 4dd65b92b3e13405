// The own tests of @zenfs/core, which its package contains, over `kitbag/fs`. They run in a copy: Node strips
// no types below `node_modules`. Which fail, and why, stands in `zenfs.mjs` and in docs/conformance.md.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, readdirSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { nodeOf } from "../../scripts/lib/nodes.mjs";
import { at } from "../../scripts/lib/paths.mjs";
import { folder } from "./lib.mjs";
import { EXPECTED } from "./zenfs.mjs";

/** The names of the tests that passed, failed and were left out, in the lines of TAP. */
function read(tap) {
  const found = { passed: [], failed: [], leftOut: [] };
  for (const line of tap.split("\n")) {
    const [, not, text] = /^ *(not )?ok \d+ - (.*)$/.exec(line) ?? [];
    if (text === undefined) continue;
    const [name, directive] = text.split(/ (?=# )/);
    const list = directive ? found.leftOut : not ? found.failed : found.passed;
    list.push(name.endsWith(".test.ts") ? basename(name) : name.replaceAll("\\#", "#"));
  }
  return found;
}

async function run(t, kind) {
  const root = folder(t);
  const tests = join(root, "tests");
  cpSync(at("tests/deps/fs/node_modules/@zenfs/core/tests"), tests, { recursive: true });
  symlinkSync(at("tests/deps/fs/node_modules"), join(root, "node_modules"));
  const files = readdirSync(join(tests, "fs")).map((name) => join(tests, "fs", name));
  const env = { ...process.env, KITBAG_KIND: kind, KITBAG_ZENFS: tests };
  // Set by the runner of this file; with it the inner one would report otherwise.
  delete env.NODE_TEST_CONTEXT;
  const child = spawn(
    nodeOf("24"),
    ["--test", "--test-reporter=tap", "--test-concurrency=2", ...files],
    {
      env: { ...env, SETUP: at("tests/fs/zenfs-setup.mjs") },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  t.after(() => child.kill());
  let tap = "";
  for await (const piece of child.stdout) tap += piece;
  return { tap, ...read(tap) };
}

for (const [kind, { failing, passing }] of Object.entries(EXPECTED)) {
  test(`@zenfs/core's tests over ${kind}`, async (t) => {
    const { tap, passed, failed, leftOut } = await run(t, kind);
    const suites = [...tap.matchAll(/^not ok \d+ - (.*)$/gm)].map(([, name]) => name);
    const tests = failed.filter((name) => !suites.includes(name) || Object.hasOwn(failing, name));
    assert.deepEqual([...new Set(tests)].sort(), Object.keys(failing).sort());
    t.diagnostic(`${passed.length} passed, ${tests.length} fail, ${leftOut.length} left out`);
    assert.ok(passed.length >= passing, `${passed.length} passed`);
  });
}
