// Changes at and below a hidden path have one answer, whatever is there: nothing, a file, a directory, or
// so many bytes that a quota is exceeded. Nothing below the rules is asked.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { kitbag } from "../host/lib.mjs";

const { FilesystemBackend, StateBackend, withPolicy } = kitbag;
const bytes = (text) => new TextEncoder().encode(text);

/** What may be at the hidden path. */
const THERE = {
  nothing: [],
  "a file": ["/secret"],
  "a directory": ["/secret/deep/a.txt"],
  "a large file": ["/secret", 90],
};
/** Rules that hide it from a reader who may write. */
const RULES = {
  "its path": { permissions: [{ operations: ["read"], paths: ["/secret"], mode: "deny" }] },
  "its tree": { permissions: [{ operations: ["read"], paths: ["/secret/**"], mode: "deny" }] },
  "a pattern": { permissions: [{ operations: ["read"], paths: ["/s?cret"], mode: "deny" }] },
  "a wide pattern": {
    permissions: [{ operations: ["read"], paths: ["/**/secret"], mode: "deny" }],
  },
};
const AT = ["/secret", "/secret/x", "/secret/deep", "/secret/deep/a.txt/x", "/secret/deep/new/x"];

async function answers(make, [file, size = 1], rules) {
  const inner = make();
  if (file) await inner.uploadFiles([[file, bytes("x".repeat(size))]]);
  const seen = [];
  const guarded = withPolicy(inner, { ...rules, quota: { maxBytes: 100 } });
  for (const path of AT) {
    for (const body of ["small", "x".repeat(50)]) {
      const [uploaded] = await guarded.uploadFiles([[path, bytes(body)]]);
      seen.push([path, uploaded.error, uploaded.message]);
      seen.push([path, await guarded.write(path, body)]);
    }
    seen.push([path, await guarded.edit(path, "a", "b")]);
    seen.push([path, await guarded.delete(path)]);
    seen.push([path, await guarded.copy("/none", path)]);
    seen.push([path, await guarded.move(path, "/mine")]);
  }
  return seen;
}

const folders = [];
const folder = () => {
  const rootDir = mkdtempSync(join(tmpdir(), "kitbag-test-"));
  folders.push(rootDir);
  return new FilesystemBackend({ rootDir });
};
test.after(() => {
  for (const rootDir of folders) rmSync(rootDir, { recursive: true, force: true });
});

for (const [kind, make] of Object.entries({ memory: () => new StateBackend(), folder })) {
  for (const [by, rules] of Object.entries(RULES)) {
    test(`in a ${kind}, hidden by ${by}: every change has the same answer`, async () => {
      const expected = await answers(make, THERE.nothing, rules);
      for (const [, ...answer] of expected) {
        assert.match(JSON.stringify(answer), /permission_denied/);
      }
      for (const [what, there] of Object.entries(THERE)) {
        assert.deepEqual(await answers(make, there, rules), expected, what);
      }
    });
  }
}

test("what an earlier rule allows below a hidden path may be changed", async () => {
  const guarded = withPolicy(new StateBackend(), {
    permissions: [
      { operations: ["read", "write"], paths: ["/docs/**", "/**/*.md"], mode: "allow" },
      { operations: ["read", "write"], paths: ["/*", "/*/**"], mode: "deny" },
    ],
  });
  for (const path of ["/docs/deep/a.txt", "/other/deep/b.md", "/docs/b.md"]) {
    const [{ error }] = await guarded.uploadFiles([[path, bytes("x")]]);
    assert.equal(error, null, path);
    assert.equal((await guarded.write(path.replace(/\/(\w)\./, "/new-$1."), "x")).error, undefined);
  }
  assert.equal((await guarded.write("/other/deep/b.txt", "x")).code, "permission_denied");
});
