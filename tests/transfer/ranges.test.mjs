// Large files go in ranges: the memory that takes, and sources and targets that fail or change meanwhile.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { content, digest, folder, MIB, made } from "../lib/large-files.mjs";
import { compareTrees, copyTree, FilesystemBackend, memory, withPolicy } from "./lib.mjs";

/** What a copy of a large file may take beside that of a small one. */
const ROOM = 96 * MIB;
const disk = (rootDir) => new FilesystemBackend({ rootDir, maxFileBytes: 2 ** 31 - 1 });

/** Files that are there, and nothing else: no temporary ones. */
const names = (rootDir) => readdirSync(rootDir).sort();

test("a file of 256 MiB takes no more memory than a small one", async () => {
  const run = promisify(execFile);
  const script = fileURLToPath(new URL("ranges.mjs", import.meta.url));
  const peak = {};
  for (const [size, blocks] of [
    ["small", 1],
    ["large", 256],
  ]) {
    const [from, to] = [folder(), folder()];
    await made(join(from, "film.mp4"), blocks);
    const { stdout } = await run(process.execPath, [script, from, to]);
    const { error, copied, bytes, maxRSS } = JSON.parse(stdout);
    assert.deepEqual([error, copied, bytes], [undefined, 1, blocks * MIB]);
    assert.equal(await digest(join(to, "film.mp4")), await digest(join(from, "film.mp4")));
    assert.deepEqual(names(to), ["film.mp4"]);
    peak[size] = maxRSS * 1024;
  }
  assert.ok(peak.large - peak.small < ROOM, JSON.stringify(peak));
});

test("large files are compared in ranges", async () => {
  const [from, to] = [folder(), folder()];
  for (const place of [from, to]) writeFileSync(join(place, "a.bin"), content(12));
  const again = await copyTree(disk(from), disk(to));
  assert.deepEqual([again.error, again.copied, again.equal], [undefined, 0, 1]);
  assert.equal((await compareTrees(disk(from), disk(to))).equal, 1);

  const other = content(12);
  other[11 * MIB + 7] ^= 1;
  writeFileSync(join(to, "a.bin"), other);
  assert.deepEqual((await compareTrees(disk(from), disk(to))).different, ["a.bin"]);
  const refused = await copyTree(disk(from), disk(to));
  assert.equal(refused.code, "already_exists");
  assert.deepEqual(readFileSync(join(to, "a.bin")), other);
  const skipped = await copyTree(disk(from), disk(to), { onConflict: "skip" });
  assert.deepEqual([skipped.skipped, skipped.copied], [1, 0]);
  const replaced = await copyTree(disk(from), disk(to), { onConflict: "overwrite" });
  assert.deepEqual([replaced.error, replaced.copied], [undefined, 1]);
  assert.deepEqual(readFileSync(join(to, "a.bin")), content(12));
});

/** A folder whose ranges are counted; `meanwhile` is called before some of them are read. */
function watched(rootDir, meanwhile) {
  const backend = disk(rootDir);
  const read = { ranges: 0, largest: 0, whole: 0 };
  const { readRaw, downloadFiles } = backend;
  backend.readRaw = async (path, options) => {
    if (options?.end > 0) read.ranges += 1;
    await meanwhile?.(read.ranges);
    const answer = await readRaw.call(backend, path, options);
    read.largest = Math.max(read.largest, answer.data?.content.length ?? 0);
    return answer;
  };
  backend.downloadFiles = async (paths, options) => {
    read.whole += paths.length;
    return downloadFiles.call(backend, paths, options);
  };
  return { backend, read };
}

test("a source that changes meanwhile is a conflict, and what was there stays", async () => {
  for (const before of [undefined, "before"]) {
    const [from, to] = [folder(), folder()];
    writeFileSync(join(from, "a.bin"), content(20));
    if (before) writeFileSync(join(to, "a.bin"), before);
    const changed = content(20);
    changed[0] ^= 1;
    const { backend, read } = watched(from, (ranges) => {
      if (ranges === 3) writeFileSync(join(from, "a.bin"), changed);
    });
    const result = await copyTree(backend, disk(to), { onConflict: "overwrite" });
    assert.deepEqual([result.code, result.copied, result.failed], ["conflict", 0, 1]);
    assert.ok(read.ranges >= 3 && read.whole === 0, JSON.stringify(read));
    assert.deepEqual(names(to), before ? ["a.bin"] : []);
    if (before) assert.equal(readFileSync(join(to, "a.bin"), "utf8"), before);

    const again = await copyTree(disk(from), disk(to), { onConflict: "overwrite" });
    assert.equal(again.error, undefined);
    assert.deepEqual(readFileSync(join(to, "a.bin")), changed);
  }
});

test("a source that fails meanwhile leaves what was there", async () => {
  const [from, to] = [folder(), folder()];
  writeFileSync(join(from, "a.bin"), content(20));
  writeFileSync(join(to, "a.bin"), "before");
  const { backend } = watched(from, (ranges) => {
    if (ranges === 3) rmSync(join(from, "a.bin"));
  });
  const result = await copyTree(backend, disk(to), { onConflict: "overwrite" });
  assert.deepEqual([result.code, result.failed], ["not_found", 1]);
  assert.equal(readFileSync(join(to, "a.bin"), "utf8"), "before");
  assert.deepEqual(names(to), ["a.bin"]);
});

test("a file that another writer makes meanwhile is not replaced", async () => {
  const [from, to] = [folder(), folder()];
  writeFileSync(join(from, "a.bin"), content(20));
  for (const [theirs, counts] of [
    [Buffer.from("theirs"), { code: "already_exists", equal: 0 }],
    [content(20), { code: undefined, equal: 1 }],
  ]) {
    rmSync(join(to, "a.bin"), { force: true });
    const { backend } = watched(from, (ranges) => {
      if (ranges === 5) writeFileSync(join(to, "a.bin"), theirs);
    });
    const { code, equal, copied } = await copyTree(backend, disk(to));
    assert.deepEqual({ code, equal, copied }, { ...counts, copied: 0 });
    assert.deepEqual(readFileSync(join(to, "a.bin")), theirs);
    assert.deepEqual(names(to), ["a.bin"]);
  }
});

test("a target that refuses leaves what was there", async () => {
  const [from, to] = [folder(), folder()];
  writeFileSync(join(from, "a.bin"), content(20));
  writeFileSync(join(to, "a.bin"), "before");
  const small = new FilesystemBackend({ rootDir: to });
  const large = await copyTree(disk(from), small, { onConflict: "overwrite" });
  assert.deepEqual([large.code, large.failed], ["too_large", 1]);
  const denied = withPolicy(disk(to), { readOnly: true });
  const refused = await copyTree(disk(from), denied, { onConflict: "overwrite" });
  assert.deepEqual([refused.code, refused.failed], ["permission_denied", 1]);
  const controller = new AbortController();
  const { backend } = watched(from, (ranges) => ranges === 3 && controller.abort());
  const options = { onConflict: "overwrite", signal: controller.signal };
  assert.equal((await copyTree(backend, disk(to), options)).code, "timeout");
  // The answer does not wait until the temporary file is gone.
  while (names(to).length > 1) await setImmediate();
  assert.equal(readFileSync(join(to, "a.bin"), "utf8"), "before");
  assert.deepEqual(names(to), ["a.bin"]);
});

test("what has no ranges, or takes no parts, gets whole files", async () => {
  const from = folder();
  writeFileSync(join(from, "a.bin"), content(9));
  const target = memory();
  const there = await copyTree(disk(from), target);
  assert.deepEqual([there.error, there.copied], [undefined, 1]);
  const ruled = memory();
  assert.equal((await copyTree(disk(from), withPolicy(ruled, {}))).copied, 1);
  const to = folder();
  for (const source of [target, ruled]) {
    rmSync(join(to, "a.bin"), { force: true });
    const back = await copyTree(source, disk(to));
    assert.deepEqual([back.error, back.copied], [undefined, 1]);
    assert.deepEqual(readFileSync(join(to, "a.bin")), content(9));
  }
});
