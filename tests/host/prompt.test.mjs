// Small files of a folder are read by calls that return at once, while those are short. A call that is long, a
// file system of another machine and other work that is due make the next ones wait in another thread.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
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

/** Parts of files: within one, over its end, behind it, empty, and more than a call at once reads. */
const RANGES = [
  ...[
    [0, 3],
    [2, 5],
    [5, 500_000],
    [300_000, 300_010],
    [1, 1],
  ],
  ...[
    [0, 65_536],
    [0, 65_537],
    [100_000, 190_000],
  ],
];

test("a file that is changed while it is read is read again", () =>
  watched({ type: EXT }, async (folder) => {
    await settled(folder);
    const { disk, rootDir, counts } = folder;
    const { readSync } = fs;
    try {
      for (const change of [
        () => fs.writeFileSync(join(rootDir, "a.txt"), "another text\n"),
        () => fs.truncateSync(join(rootDir, "a.txt"), 3),
        () => fs.rmSync(join(rootDir, "a.txt")),
      ]) {
        fs.writeFileSync(join(rootDir, "a.txt"), "before\n");
        let changes = 0;
        fs.readSync = (...given) => {
          const got = readSync(...given);
          changes += 1;
          if (changes === 1) change();
          return got;
        };
        // The pause makes that this call may return at once.
        for (const until = performance.now() + 20_000; changes === 0; ) {
          assert.ok(performance.now() < until, "no call returns at once");
          await pause(50);
          const now = await disk.read("/a.txt");
          if (changes === 0) continue;
          const isThere = fs.existsSync(join(rootDir, "a.txt"));
          // The old file may be answered whole after it was removed: the read began before.
          const right = isThere ? [fs.readFileSync(join(rootDir, "a.txt"), "utf8")] : ["before\n"];
          assert.deepEqual([now.content ?? ""], right);
        }
      }
    } finally {
      fs.readSync = readSync;
    }
    assert.ok(counts.now > 0);
  }));

test("only plain files are opened", () =>
  watched({ type: EXT }, async (folder) => {
    const { disk, rootDir } = folder;
    execFileSync("mkfifo", [join(rootDir, "pipe")]);
    fs.symlinkSync("a.txt", join(rootDir, "in"));
    await settled(folder);
    const opened = [];
    const { openSync, lstatSync } = fs;
    let looks = 0;
    fs.openSync = (path, ...rest) => {
      if (/\/(pipe|in)$/.test(path)) opened.push(path);
      return openSync(path, ...rest);
    };
    fs.lstatSync = (path, ...rest) => {
      if (/\/(pipe|in)$/.test(path)) looks += 1;
      return lstatSync(path, ...rest);
    };
    try {
      for (const until = performance.now() + 20_000; looks < 4; ) {
        assert.ok(performance.now() < until, "no call returns at once");
        await pause(50);
        assert.equal((await disk.read("/pipe")).code, "permission_denied");
        assert.equal((await disk.read("/in")).content, text);
      }
    } finally {
      Object.assign(fs, { openSync, lstatSync });
    }
    assert.deepEqual(opened, []);
  }));

test("no descriptor stays open, whatever a read finds", () =>
  watched({ type: EXT }, async ({ disk, rootDir }) => {
    fs.mkdirSync(join(rootDir, "dir"));
    fs.symlinkSync("a.txt", join(rootDir, "in"));
    const open = () => fs.readdirSync("/proc/self/fd").length;
    const before = open();
    for (let n = 0; n < 100; n++) {
      for (const path of ["/a.txt", "/dir", "/in", "/none", "/none/none", "/a.txt/below"]) {
        await disk.read(path);
      }
      await pause(0);
    }
    assert.equal(open(), before);
  }));

test("answers are the same", async () => {
  const answers = async ({ disk, rootDir }) => {
    fs.mkdirSync(join(rootDir, "dir"));
    fs.writeFileSync(join(rootDir, "dir/closed.txt"), text, { mode: 0 });
    fs.symlinkSync("/etc/passwd", join(rootDir, "out"));
    fs.symlinkSync("a.txt", join(rootDir, "in"));
    fs.writeFileSync(join(rootDir, "empty"), "");
    fs.writeFileSync(join(rootDir, "large"), "0123456789".repeat(20_000));
    execFileSync("mkfifo", [join(rootDir, "pipe")]);
    const paths = [
      "/none.txt",
      "/none/none.txt",
      "/a.txt/below",
      "/dir",
      "/dir/closed.txt",
      "/out",
    ];
    const all = {};
    for (const path of [...paths, "/in", "/pipe", "/empty", "/large"]) {
      await pause(1);
      all[path] = await disk.read(path);
    }
    for (const [start, end] of RANGES) {
      for (const path of ["/a.txt", "/empty", "/large"]) {
        await pause(1);
        const { data, part, error } = await disk.readRaw(path, { start, end });
        // Times and versions are those of two folders.
        const { content, mimeType } = data ?? {};
        const { version, ...place } = part ?? {};
        all[`${path} ${start} ${end}`] = { error, content, mimeType, place };
      }
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
