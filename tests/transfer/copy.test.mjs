// copyTree and compareTrees: what is copied, what is not, and what a copy that was broken off leaves.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  bytes,
  compareTrees,
  contents,
  copyTree,
  counted,
  FilesystemBackend,
  memory,
  withPolicy,
} from "./lib.mjs";

const PICTURE = new Uint8Array([0x89, 0x50, 0, 255, 1]);
const tree = () =>
  memory({
    "/notes/a.txt": "alpha\r\n",
    "/notes/deep/b.md": "beta",
    "/empty.txt": "",
    "/dot.png": PICTURE,
    "/invalid.bin": new Uint8Array([0xff, 0xfe, 0x80]),
  });
const many = (count) =>
  memory(
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`/f/${at}.txt`, `file ${at}`])),
  );

test("every file arrives byte for byte, also binary and empty ones", async () => {
  const target = memory();
  const result = await copyTree(tree(), target);
  assert.equal(result.error, undefined);
  assert.deepEqual([result.copied, result.equal, result.failed, result.totalFiles], [5, 0, 0, 5]);
  assert.equal(result.bytes, result.totalBytes);
  assert.deepEqual(contents(target), contents(tree()));
});

test("from and to name directories, in any spelling", async () => {
  const target = memory();
  await copyTree(tree(), target, { from: "notes/", to: "//backup/./x" });
  assert.deepEqual(Object.keys(contents(target)).sort(), [
    "/backup/x/a.txt",
    "/backup/x/deep/b.md",
  ]);
  assert.throws(() => copyTree(tree(), target, { to: "/a/../b" }), /option "to"/);
});

test("a second run stores nothing, and counts what is equal", async () => {
  const { watched, calls } = counted(memory());
  await copyTree(tree(), watched);
  const written = calls.written.length;
  const again = await copyTree(tree(), watched);
  assert.deepEqual([again.copied, again.equal, again.error], [0, 5, undefined]);
  assert.equal(calls.written.length, written);
});

test("a file of the same size with other content is a conflict, not equal", async () => {
  const target = memory({ "/a.txt": "ABC" });
  const result = await copyTree(memory({ "/a.txt": "abc" }), target);
  assert.equal(result.code, "already_exists");
  assert.match(result.error, /\/a\.txt exists with other content/);
  assert.deepEqual(contents(target), { "/a.txt": "ABC" });
});

test("skip keeps, overwrite replaces, and a function decides by path and sizes", async () => {
  const source = () => memory({ "/a.txt": "abc", "/b.txt": "longer" });
  const other = () => memory({ "/a.txt": "ABC", "/b.txt": "B" });
  const kept = other();
  const skipped = await copyTree(source(), kept, { onConflict: "skip" });
  assert.deepEqual([skipped.skipped, skipped.copied, skipped.error], [2, 0, undefined]);
  assert.deepEqual(contents(kept), contents(other()));
  const replaced = other();
  await copyTree(source(), replaced, { onConflict: "overwrite" });
  assert.deepEqual(contents(replaced), contents(source()));
  const asked = [];
  const mixed = other();
  await copyTree(source(), mixed, {
    onConflict: (conflict) => {
      asked.push(conflict);
      return conflict.path === "/a.txt" ? "skip" : "overwrite";
    },
  });
  asked.sort((a, b) => (a.path < b.path ? -1 : 1));
  assert.deepEqual(asked, [
    { path: "/a.txt", sourceSize: 3, targetSize: 3 },
    { path: "/b.txt", sourceSize: 6, targetSize: 1 },
  ]);
  assert.deepEqual(contents(mixed), { "/a.txt": "ABC", "/b.txt": "longer" });
});

test("a file that another writer makes meanwhile is a conflict and is not replaced", async () => {
  const target = memory();
  const { watched } = counted(target, (path) => {
    if (path === "/a.txt") target.write("/a.txt", "theirs");
  });
  const result = await copyTree(memory({ "/a.txt": "mine" }), watched);
  assert.equal(result.code, "already_exists");
  assert.deepEqual(contents(target), { "/a.txt": "theirs" });
});

test("a copy that is cancelled says so, and the next one goes on where it ended", async () => {
  const source = many(300);
  const { watched, calls } = counted(memory());
  const stop = new AbortController();
  const broken = await copyTree(source, watched, {
    signal: stop.signal,
    onProgress: ({ copied }) => copied >= 100 && stop.abort(),
  });
  assert.equal(broken.code, "timeout");
  const before = new Set(calls.written);
  assert.ok(before.size >= 100 && before.size < 300, `${before.size}`);
  calls.written = [];
  const rest = await copyTree(source, watched);
  assert.equal(rest.error, undefined);
  assert.deepEqual([rest.equal, rest.copied], [before.size, 300 - before.size]);
  assert.deepEqual(
    calls.written.filter((path) => before.has(path)),
    [],
  );
  assert.deepEqual(contents(source), contents(source));
  const compared = await compareTrees(source, watched);
  assert.deepEqual([compared.equal, compared.different], [300, []]);
});

test("files that fail are named with their reason, and the others are copied", async () => {
  const target = memory();
  const guarded = withPolicy(target, {
    permissions: [{ operations: ["write"], paths: ["/notes/**"], mode: "deny" }],
  });
  const result = await copyTree(tree(), guarded);
  assert.equal(result.code, "permission_denied");
  assert.deepEqual([result.copied, result.failed], [3, 2]);
  assert.deepEqual(result.failures.map(({ path }) => path).sort(), [
    "/notes/a.txt",
    "/notes/deep/b.md",
  ]);
  assert.match(result.error, /1 more failed/);
});

test("what is read before it is stored stays within two batches", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [`/${at}.bin`, new Uint8Array(10_000).fill(at)]),
  );
  const { watched, calls } = counted(memory(files));
  const result = await copyTree(watched, memory(), { batchBytes: 30_000 });
  assert.equal(result.copied, 40);
  assert.equal(calls.largest, 30_000);
});

test("progress counts up to the whole, and what it throws ends the copy", async () => {
  const seen = [];
  await copyTree(many(200), memory(), { onProgress: (progress) => seen.push(progress) });
  const counts = seen.map(({ copied }) => copied);
  assert.deepEqual(
    counts,
    [...counts].sort((a, b) => a - b),
  );
  assert.deepEqual([counts[0], counts.at(-1), seen.at(-1).totalFiles], [0, 200, 200]);
  const broken = await copyTree(many(3), memory(), {
    onProgress: () => {
      throw new Error("full");
    },
  });
  assert.equal(broken.error, "full");
});

test("compare by time reads nothing where sizes and times fit", async () => {
  const source = many(20);
  const target = memory();
  await copyTree(source, target);
  const { watched, calls } = counted(target);
  const again = await copyTree(source, watched, { compare: "time" });
  assert.deepEqual([again.equal, calls.read], [20, []]);
});

test("hidden files of a source are not copied", async () => {
  const guarded = withPolicy(tree(), {
    permissions: [{ operations: ["read"], paths: ["/notes/**"], mode: "deny" }],
  });
  const target = memory();
  await copyTree(guarded, target);
  assert.ok(!Object.keys(contents(target)).some((path) => path.startsWith("/notes")));
});

test("backends without batches and without bytes take texts, and say what they cannot take", async () => {
  const inner = memory();
  const plain = {};
  for (const name of ["ls", "read", "readRaw", "grep", "glob", "write", "edit"]) {
    plain[name] = (...args) => inner[name](...args);
  }
  const result = await copyTree(tree(), plain);
  assert.deepEqual(result.failures.map(({ error }) => error).sort(), [
    "/dot.png is not text, and this backend takes no bytes",
    "/invalid.bin is not text, and this backend takes no bytes",
  ]);
  const back = memory();
  await copyTree(plain, back, { from: "/notes" });
  assert.equal(contents(back)["/a.txt"], "alpha\r\n");
});

test("empty directories of a folder are counted and left out", async () => {
  const root = mkdtempSync(join(tmpdir(), "kitbag-copy-"));
  try {
    mkdirSync(join(root, "empty/nested"), { recursive: true });
    mkdirSync(join(root, "full"));
    writeFileSync(join(root, "full/a.txt"), "a");
    const target = memory();
    const result = await copyTree(new FilesystemBackend({ rootDir: root }), target);
    assert.equal(result.emptyDirectories, 1);
    assert.deepEqual(Object.keys(contents(target)), ["/full/a.txt"]);
  } finally {
    rmSync(root, { recursive: true });
  }
});

test("compareTrees names what only one tree has and what differs", async () => {
  const one = memory({ "/a": "1", "/b": "same", "/c": "xy", "/d": "xy" });
  const other = memory({ "/b": "same", "/c": "XY", "/d": "longer", "/e": "5" });
  assert.deepEqual(await compareTrees(one, other), {
    onlyFirst: ["a"],
    onlySecond: ["e"],
    different: ["c", "d"],
    equal: 1,
  });
  const failing = {
    ...counted(one).watched,
    glob: async () => ({ error: "It is gone", code: "unavailable" }),
  };
  const broken = await compareTrees(failing, other);
  assert.deepEqual([broken.error, broken.code], ["It is gone", "unavailable"]);
});

test("a wrong option is refused by its name before anything is read", () => {
  const { watched, calls } = counted(memory());
  assert.throws(() => copyTree(tree(), watched, { onConflicts: "skip" }), /is "onConflict" meant/);
  assert.throws(() => copyTree(tree(), watched, { onConflict: "ask" }), /option "onConflict"/);
  assert.throws(() => copyTree(tree(), watched, { batchBytes: 0 }), /option "batchBytes"/);
  assert.deepEqual(calls.written, []);
  assert.ok(bytes("x").length === 1);
});

test("the first 100 failures are named, and all are counted", async () => {
  const target = withPolicy(memory(), { readOnly: true });
  const result = await copyTree(many(150), target);
  assert.deepEqual([result.failed, result.failures.length], [150, 100]);
  assert.match(result.error, /149 more failed/);
});
