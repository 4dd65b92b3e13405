// Large files are synced in ranges: the memory that takes, and what happens to a file that is changed on
// either side meanwhile, or whose run is killed.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { content, digest, folder, MIB, made } from "../lib/large-files.mjs";
import { kept, kitbag, sync } from "./lib.mjs";

/** What a sync of a large file may take beside that of a small one. */
const ROOM = 96 * MIB;
const PROGRAM = fileURLToPath(new URL("ranges.mjs", import.meta.url));

const disk = (rootDir) => new kitbag.FilesystemBackend({ rootDir, maxFileBytes: 2 ** 31 - 1 });
/** The files of a tree, without what is kept of the pair. */
const names = (rootDir) =>
  readdirSync(rootDir, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile() && !one.parentPath.includes(".kitbag"))
    .map((one) => one.name)
    .sort();

/** A run in a process of its own. */
async function ran(a, b) {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, a, b]);
  const done = JSON.parse(stdout.slice(stdout.indexOf("{")));
  assert.deepEqual([done.error, done.refused], [undefined, []]);
  return done;
}

/** A run that refuses nothing. */
async function synced(a, b, options) {
  const done = await sync(a, b, { ...kept(a), ...options });
  assert.deepEqual([done.error, done.refused], [undefined, []]);
  return done;
}

const whats = (done) => done.changed.map(({ side, what }) => `${side} ${what}`);

/** So that the file is not one that was written within the last minute. */
function aged(path) {
  const { mtimeMs } = statSync(path);
  utimesSync(path, (mtimeMs - 600_000) / 1000, (mtimeMs - 600_000) / 1000);
}

/** A folder whose reads of parts are counted; `meanwhile` is called before each. `whole` counts other reads. */
function watched(rootDir, meanwhile) {
  const read = { parts: 0, whole: 0 };
  const before = ({ operation, paths }) => {
    // What sync keeps for itself is read as a whole.
    if (operation === "downloadFiles" && paths.some((path) => path.startsWith("/a"))) read.whole++;
    if (operation === "readRaw") meanwhile?.(++read.parts);
  };
  return { backend: kitbag.withPolicy(disk(rootDir), { hooks: { before } }), read };
}

const refusals = ({ refused }) => refused.map(({ path, side, code }) => [path, side, code]);

test("a file of 256 MiB takes no more memory than a small one, there, back and compared", async () => {
  const peak = {};
  for (const [size, blocks] of [
    ["small", 1],
    ["large", 256],
  ]) {
    const [a, b] = [folder(), folder()];
    await made(join(a, "film.mp4"), blocks);
    const there = await ran(a, b);
    assert.deepEqual(whats(there), ["b created"]);
    assert.equal(there.stats.sentBytes, blocks * MIB);
    await made(join(b, "film.mp4"), blocks, 1);
    const back = await ran(a, b);
    assert.deepEqual(whats(back), ["a replaced"]);
    // Without what was agreed, both are read to compare them.
    rmSync(join(a, ".kitbag"), { recursive: true });
    const again = await ran(a, b);
    assert.deepEqual([whats(again), again.stats.readBytes], [[], 2 * blocks * MIB]);
    assert.equal(await digest(join(a, "film.mp4")), await digest(join(b, "film.mp4")));
    assert.deepEqual([names(a), names(b)], [["film.mp4"], ["film.mp4"]]);
    // Both edited: both stay.
    await made(join(a, "film.mp4"), blocks, 2);
    await made(join(b, "film.mp4"), blocks, 3);
    const both = await ran(a, b);
    assert.equal(both.conflicts.length, 1);
    assert.equal(names(a).length, 2);
    peak[size] = [there, back, again, both].map(({ maxRSS }) => maxRSS * 1024);
  }
  for (const [at, large] of peak.large.entries()) {
    assert.ok(large - peak.small[at] < ROOM, JSON.stringify(peak));
  }
});

/** Which read is the third of the ranges that are sent: one that was agreed on is read before to compare it. */
const third = (before) => (before ? 16 : 4);

test("a file that is changed while it is sent is not stored, and the next run sends it", async () => {
  for (const before of [undefined, content(9, 1)]) {
    const [from, to] = [folder(), folder()];
    const [a, b] = [join(from, "a.bin"), join(to, "a.bin")];
    if (before) {
      writeFileSync(a, before);
      await synced(disk(from), disk(to));
    }
    writeFileSync(a, content(40));
    aged(a);
    const changed = content(40, 2);
    const { backend, read } = watched(from, (parts) => {
      if (parts === third(before)) writeFileSync(a, changed);
    });
    const done = await sync(backend, disk(to), kept(disk(from)));
    assert.deepEqual(refusals(done), [["/a.bin", "a", "conflict"]]);
    assert.deepEqual([done.changed, read.whole], [[], 0]);
    assert.deepEqual(names(to), before ? ["a.bin"] : []);
    if (before) assert.ok(readFileSync(b).equals(before));
    assert.deepEqual(whats(await synced(disk(from), disk(to))), [
      before ? "b replaced" : "b created",
    ]);
    assert.ok(readFileSync(b).equals(changed));
  }
});

test("what others write while a file is sent stays, and both are kept then", async () => {
  for (const before of [undefined, content(9, 1)]) {
    for (const theirs of [Buffer.from("theirs"), content(40, 3)]) {
      const [from, to] = [folder(), folder()];
      const [a, b] = [join(from, "a.bin"), join(to, "a.bin")];
      if (before) {
        writeFileSync(a, before);
        await synced(disk(from), disk(to));
      }
      writeFileSync(a, content(40));
      aged(a);
      const { backend, read } = watched(from, (parts) => {
        if (parts === third(before)) writeFileSync(b, theirs);
      });
      const done = await sync(backend, disk(to), kept(disk(from)));
      assert.deepEqual(refusals(done), [["/a.bin", "b", "conflict"]]);
      assert.deepEqual([done.changed, read.whole], [[], 0]);
      assert.ok(readFileSync(b).equals(theirs));
      assert.deepEqual(names(to), ["a.bin"]);
      const again = await synced(disk(from), disk(to));
      assert.equal(again.conflicts.length, 1);
      assert.deepEqual(names(from), names(to));
      const [copy] = names(to).filter((name) => name !== "a.bin");
      for (const place of [from, to]) {
        assert.ok(readFileSync(join(place, "a.bin")).equals(theirs));
        assert.ok(readFileSync(join(place, copy)).equals(content(40)));
      }
      assert.deepEqual((await synced(disk(from), disk(to))).changed, []);
    }
  }
});

test("two edits of a large file are both kept, or one is chosen", async () => {
  for (const onConflict of ["both", "a", "b", "leave"]) {
    const [from, to] = [folder(), folder()];
    writeFileSync(join(from, "a.bin"), content(9));
    await synced(disk(from), disk(to));
    const [mine, theirs] = [content(20, 1), content(12, 2)];
    writeFileSync(join(from, "a.bin"), mine);
    writeFileSync(join(to, "a.bin"), theirs);
    const [one, other] = [watched(from), watched(to)];
    const options = { ...kept(disk(from)), onConflict };
    const done = await sync(one.backend, other.backend, options);
    assert.deepEqual([done.error, done.refused], [undefined, []]);
    assert.deepEqual(
      [done.conflicts[0].took, one.read.whole, other.read.whole],
      [onConflict, 0, 0],
    );
    const [a, b] = [from, to].map((place) => readFileSync(join(place, "a.bin")));
    assert.ok(a.equals(onConflict === "a" || onConflict === "leave" ? mine : theirs));
    assert.ok(b.equals(onConflict === "a" ? mine : theirs));
    const copies = names(to).filter((name) => name !== "a.bin");
    assert.equal(copies.length, onConflict === "both" ? 1 : 0);
    for (const copy of copies) {
      for (const place of [from, to]) assert.ok(readFileSync(join(place, copy)).equals(mine));
    }
  }
});

test("permission bits go with a new large file, and a moved one is moved", async () => {
  const [from, to] = [folder(), folder()];
  writeFileSync(join(from, "other"), "other");
  writeFileSync(join(from, "a.sh"), content(9), { mode: 0o755 });
  await synced(disk(from), disk(to));
  assert.equal(statSync(join(to, "a.sh")).mode & 0o777, 0o755);
  renameSync(join(from, "a.sh"), join(from, "b.sh"));
  const done = await synced(disk(from), disk(to));
  assert.deepEqual([whats(done), done.stats.sentBytes], [["b moved"], 0]);
  rmSync(join(to, "b.sh"));
  assert.deepEqual(whats(await synced(disk(from), disk(to))), ["a deleted"]);
});

test("an edit of a large file goes to where a link leads", async () => {
  const [a, b] = [folder(), folder()];
  writeFileSync(join(a, "film.bin"), content(9, 1));
  symlinkSync("film.bin", join(a, "link.bin"));
  await synced(disk(a), disk(b));
  writeFileSync(join(b, "link.bin"), content(9, 2));
  assert.deepEqual(whats(await synced(disk(a), disk(b))), ["a replaced"]);
  assert.ok(lstatSync(join(a, "link.bin")).isSymbolicLink());
  assert.deepEqual(readFileSync(join(a, "film.bin")), content(9, 2));
});

test("what reads no ranges, or takes none, has whole files", async () => {
  const from = folder();
  const state = new kitbag.StateBackend({ files: {} });
  writeFileSync(join(from, "a.bin"), content(9));
  const whole = async (what) => {
    assert.deepEqual(whats(await synced(disk(from), state)), [what]);
    const [there] = await state.downloadFiles(["/a.bin"]);
    assert.ok(readFileSync(join(from, "a.bin")).equals(there.content));
  };
  await whole("b created");
  writeFileSync(join(from, "a.bin"), content(10));
  await whole("b replaced");
  await state.uploadFiles([["/a.bin", content(11)]]);
  await whole("a replaced");
});

test("a run that was killed leaves nothing of a file, and the next one sends it", async () => {
  const [from, to] = [folder(), folder()];
  await made(join(from, "film.mp4"), 200);
  for (const blocks of [200, 190]) {
    if (blocks < 200) await made(join(from, "film.mp4"), blocks, 1);
    const before = blocks < 200 ? await digest(join(to, "film.mp4")) : undefined;
    const child = spawn(process.execPath, [PROGRAM, from, to], { stdio: ["ignore", "pipe", 2] });
    const gone = once(child, "close");
    const temporary = () => readdirSync(to).some((name) => name !== "film.mp4");
    while (child.exitCode === null && !temporary()) await pause(2);
    child.kill("SIGKILL");
    await gone;
    assert.equal(child.exitCode, null, "it was killed in its midst");
    assert.equal(existsSync(join(to, "film.mp4")), before !== undefined);
    if (before) assert.equal(await digest(join(to, "film.mp4")), before);
    // What the next run would wait for.
    rmSync(join(from, ".kitbag/sync/other/running"), { force: true });
    await synced(disk(from), disk(to));
    assert.equal(await digest(join(to, "film.mp4")), await digest(join(from, "film.mp4")));
  }
});
