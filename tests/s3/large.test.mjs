// Large files between a folder and a bucket: the memory that takes, and what others store meanwhile.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { at } from "../../scripts/lib/paths.mjs";
import { digest, folder, MIB, made } from "../lib/large-files.mjs";
import { backend, dist, good, kitbag, location, newBucket, servers } from "./lib.mjs";

const { copyTree } = await import(`${dist}/transfer.js`);
/** What a copy of a large file may take beside that of a small one: some parts of 8 MiB, and their copies. */
const ROOM = 128 * MIB;

/** Copies in a process of its own; the most memory that it had. */
async function copied(from, to, bytes) {
  const script = at("tests/transfer/ranges.mjs");
  const env = { ...process.env, KITBAG_TEST_DIST: dist };
  const { stdout } = await promisify(execFile)(process.execPath, [script, from, to], { env });
  const { maxRSS, ...result } = JSON.parse(stdout);
  assert.deepEqual(result, { copied: 1, bytes });
  return maxRSS * 1024;
}

test("a file of 256 MiB goes to a bucket and back in bounded memory", async () => {
  const peak = { there: [], back: [] };
  for (const blocks of [1, 256]) {
    const [from, to] = [folder(), folder()];
    await made(join(from, "film.mp4"), blocks);
    const place = JSON.stringify(await location(servers.ceph));
    peak.there.push(await copied(from, place, blocks * MIB));
    peak.back.push(await copied(place, to, blocks * MIB));
    assert.equal(await digest(join(to, "film.mp4")), await digest(join(from, "film.mp4")));
  }
  for (const [small, large] of Object.values(peak)) {
    assert.ok(large - small < ROOM, JSON.stringify(peak));
  }
});

for (const [name, endpoint] of Object.entries(servers)) {
  test(`${name}: what another writer stores meanwhile is not replaced`, async () => {
    const bucket = await newBucket(endpoint);
    const files = backend(endpoint, bucket);
    const rootDir = folder();
    await made(join(rootDir, "a.bin"), 20);
    const source = new kitbag.FilesystemBackend({ rootDir, maxFileBytes: 2 ** 30 });
    const { readRaw } = source;
    let ranges = 0;
    source.readRaw = async (path, options) => {
      if (options?.end > 0) ranges += 1;
      if (ranges === 4) good(await backend(endpoint, bucket).write("/a.bin", "dGhlaXJz"));
      return readRaw.call(source, path, options);
    };
    const refused = await copyTree(source, files);
    assert.deepEqual([refused.code, refused.copied], ["already_exists", 0]);
    const [there] = await files.downloadFiles(["/a.bin"]);
    assert.equal(new TextDecoder().decode(there.content), "theirs");

    // A source that changes: what was there stays.
    ranges = 10;
    source.readRaw = async (path, options) => {
      if (options?.end > 0) ranges += 1;
      if (ranges === 13) writeFileSync(join(rootDir, "a.bin"), Buffer.alloc(20 * MIB, "new"));
      return readRaw.call(source, path, options);
    };
    const changed = await copyTree(source, files, { onConflict: "overwrite" });
    assert.deepEqual([changed.code, changed.copied], ["conflict", 0]);
    const [still] = await files.downloadFiles(["/a.bin"]);
    assert.equal(new TextDecoder().decode(still.content), "theirs");

    const replaced = await copyTree(source, files, { onConflict: "overwrite" });
    assert.deepEqual([replaced.error, replaced.copied], [undefined, 1]);
    const [now] = await files.downloadFiles(["/a.bin"]);
    assert.ok(readFileSync(join(rootDir, "a.bin")).equals(now.content));
  });
}
