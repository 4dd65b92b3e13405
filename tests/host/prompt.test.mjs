// Small files of a folder are read by calls that return at once, while those are short. A call that is long, a
// file system of another machine and other work that is due make the next ones wait in another thread.

import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { FRAME, stretches } from "../lib/stretches.mjs";
import { kitbag, withFolder } from "./lib.mjs";

const NFS = 0x6969;
/** A local file system, whatever the tests run on. */
const EXT = 0xef53;
const text = "one\ntwo\n";
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Hands `use` a folder with a file, on a file system of this type, and counts what opens the file: calls
 * that return at once, each of which takes `ms` longer, and calls that wait.
 */
async function watched({ type, ms = () => 0 }, use) {
  const own = { statfs: fs.statfs, openSync: fs.openSync, open: fs.open };
  const counts = { now: 0, later: 0 };
  fs.statfs = (path, done) => {
    if (type === undefined) throw new Error("not allowed");
    own.statfs(path, (error) => done(error, { type }));
  };
  fs.openSync = (path, ...rest) => {
    if (String(path).endsWith("/a.txt")) {
      counts.now += 1;
      for (const until = performance.now() + ms(); performance.now() < until; );
    }
    return own.openSync(path, ...rest);
  };
  fs.open = (path, ...rest) => {
    if (String(path).endsWith("/a.txt")) counts.later += 1;
    return own.open(path, ...rest);
  };
  try {
    await withFolder(async (rootDir) => {
      fs.writeFileSync(join(rootDir, "a.txt"), text);
      const disk = new kitbag.FilesystemBackend({ rootDir });
      const read = async () => assert.equal((await disk.read("/a.txt")).content, text);
      await read();
      await pause(20);
      Object.assign(counts, { now: 0, later: 0 });
      await use({ disk, read, counts, rootDir });
      disk.dispose();
    });
  } finally {
    Object.assign(fs, own);
  }
}

/** Reads until a file was opened by a call that returned at once: on a busy machine one may have been long. */
async function settled({ read, counts }) {
  const { now } = counts;
  for (const until = performance.now() + 20_000; counts.now === now; ) {
    assert.ok(performance.now() < until, "no call returns at once");
    await pause(50);
    await read();
  }
}

test("small files are read by calls that return at once", () =>
  watched({ type: EXT }, async (folder) => {
    for (let n = 0; n < 5; n++) await settled(folder);
  }));

for (const [name, type] of [
  ["on a file system of another machine", NFS],
  ["where the host does not tell what it is", undefined],
]) {
  test(`${name} every call waits in another thread`, () =>
    watched({ type }, async ({ read, counts }) => {
      for (let n = 0; n < 20; n++) await read();
      assert.deepEqual(counts, { now: 0, later: 20 });
    }));
}

test("after a long call the next ones wait in another thread, for a second", () => {
  let ms = 0;
  return watched({ type: EXT, ms: () => ms }, async (folder) => {
    const { read, counts } = folder;
    ms = 10;
    await settled(folder);
    ms = 0;
    Object.assign(counts, { now: 0, later: 0 });
    for (let n = 0; n < 20; n++) await read();
    assert.deepEqual(counts, { now: 0, later: 20 });
    await settled(folder);
  });
});

test("a thousand reads at once, and in a row, leave time for other work", () =>
  watched({ type: EXT }, async ({ read, counts }) => {
    const longest = async (call) => {
      const all = [];
      for (let n = 0; n < 5; n++) all.push((await stretches(call)).longest);
      return Math.min(...all);
    };
    const row = await longest(async () => {
      for (let n = 0; n < 1_000; n++) await read();
    });
    const atOnce = await longest(() => Promise.all(Array.from({ length: 200 }, read)));
    assert.ok(row <= FRAME, `in a row: ${row} ms`);
    assert.ok(atOnce <= FRAME, `at once: ${atOnce} ms`);
    // How many of each depends on how busy the machine is: after a long call none returns at once for a second.
    assert.ok(counts.now > 0 && counts.later > 0, JSON.stringify(counts));
  }));

test("answers are the same", async () => {
  const answers = async ({ disk, rootDir }) => {
    fs.mkdirSync(join(rootDir, "dir"));
    fs.writeFileSync(join(rootDir, "dir/closed.txt"), text, { mode: 0 });
    fs.symlinkSync("/etc/passwd", join(rootDir, "out"));
    fs.symlinkSync("a.txt", join(rootDir, "in"));
    const paths = [
      "/none.txt",
      "/none/none.txt",
      "/a.txt/below",
      "/dir",
      "/dir/closed.txt",
      "/out",
    ];
    const all = {};
    for (const path of [...paths, "/in"]) {
      await pause(1);
      all[path] = await disk.read(path);
    }
    return all;
  };
  const seen = [];
  for (const type of [EXT, NFS]) {
    await watched({ type }, async (folder) => seen.push(await answers(folder)));
  }
  assert.deepEqual(seen[0], seen[1]);
  assert.equal(seen[0]["/none.txt"].code, "not_found");
  assert.equal(seen[0]["/in"].content, text);
});
