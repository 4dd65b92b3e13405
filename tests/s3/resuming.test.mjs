// Uploads of large files that are broken off, by SIGKILL or because the server cannot be reached: the next sync
// sends the parts that are missing. One that nobody needs any more is given up.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { at } from "../../scripts/lib/paths.mjs";
import { digest, folder, made } from "../lib/large-files.mjs";
import { backend, dist, good, kitbag, newBucket, servers } from "./lib.mjs";
import { startRelay } from "./relay.mjs";
import { KEYS } from "./servers.mjs";
import { signed } from "./sign.mjs";

const { sync } = await import(`${dist}/sync.js`);
/** Parts have 8 MiB. */
const PARTS = 6;
const PART = 8;
/** How many of them are sent before a run ends. */
const BEFORE = 2;

const disk = (rootDir) => new kitbag.FilesystemBackend({ rootDir, maxFileBytes: 2 ** 31 - 1 });
const kept = (rootDir) => ({
  keepIn: { backend: disk(rootDir), path: "/.kitbag/sync/other" },
});

/** The numbers of the parts in a log of requests. */
const parts = (log) =>
  log.flatMap((line) => /^PUT .*[?&]partNumber=(\d+)/.exec(line)?.slice(1).map(Number) ?? []);

/** What a bucket has of uploads that were neither completed nor given up. */
async function open(endpoint, bucket) {
  const url = `${endpoint}/${bucket}?uploads=`;
  const answer = await signed(KEYS, { method: "GET", url });
  return ((await answer.text()).match(/<Upload>/g) ?? []).length;
}

/** The notes of uploads. */
function notes(rootDir) {
  try {
    return readdirSync(join(rootDir, ".kitbag/sync/other/sending"));
  } catch {
    return [];
  }
}

/** A folder with a large file and a bucket; `run` syncs them in this process, over a relay of its own. */
async function pair(endpoint) {
  const [bucket, rootDir] = [await newBucket(endpoint), folder()];
  const file = join(rootDir, "film.mp4");
  await made(file, PARTS * PART);
  const direct = backend(endpoint, bucket);
  const run = async () => {
    const relay = await startRelay(endpoint);
    const there = backend(relay.endpoint, bucket);
    const done = good(await sync(disk(rootDir), there, kept(rootDir)));
    await relay.stop();
    assert.deepEqual(done.refused, []);
    return parts(relay.log);
  };
  /** Breaks a run off when some parts were sent. */
  const brokenOff = async (how) => {
    const relay = await startRelay(endpoint);
    const sent = async (isOver) => {
      while (parts(relay.log).length <= BEFORE && !isOver()) await pause(2);
    };
    if (how === "killed") {
      const where = { endpoint: relay.endpoint, region: "us-east-1", bucket };
      const place = JSON.stringify({ ...where, credentials: KEYS });
      const program = at("tests/sync/ranges.mjs");
      const child = spawn(process.execPath, [program, rootDir, place], { stdio: "ignore" });
      const gone = once(child, "close");
      await sent(() => child.exitCode !== null);
      child.kill("SIGKILL");
      await gone;
      assert.equal(child.exitCode, null, "it was killed in its midst");
      await relay.stop();
      // What the next run would wait for.
      rmSync(join(rootDir, ".kitbag/sync/other/running"), { force: true });
    } else {
      const there = backend(relay.endpoint, bucket, { retry: false });
      const running = sync(disk(rootDir), there, kept(rootDir));
      await sent(() => false);
      await relay.stop();
      const done = good(await running);
      assert.deepEqual(
        done.refused.map(({ path, side }) => [path, side]),
        [["/film.mp4", "b"]],
      );
    }
    assert.equal(notes(rootDir).length, 1);
    assert.equal(await open(endpoint, bucket), 1);
  };
  /** Both sides are the same, and nothing is left. */
  const whole = async () => {
    const back = folder();
    good(await sync(disk(back), direct, kept(back)));
    assert.equal(await digest(join(back, "film.mp4")), await digest(file));
    assert.deepEqual(notes(rootDir), []);
    assert.equal(await open(endpoint, bucket), 0);
  };
  return { bucket, rootDir, file, direct, run, brokenOff, whole };
}

/** moto answers a part of an upload that is gone with an error of its own, 500, which says nothing. */
const hasGone = (name) => name !== "moto";

for (const [name, endpoint] of Object.entries(servers)) {
  for (const how of ["killed", "cut off"]) {
    test(`${name}: the next run sends what is missing of an upload that was ${how}`, async () => {
      const { run, brokenOff, whole } = await pair(endpoint);
      await brokenOff(how);
      const again = await run();
      // The last part may have been sent, and not be noted yet.
      assert.ok(again.length <= PARTS - BEFORE + 1, `${again}`);
      assert.ok(Math.min(...again) >= BEFORE, `${again}`);
      await whole();
      assert.deepEqual(await run(), []);
    });
  }

  test(`${name}: an upload of a file that was changed since is given up`, async () => {
    const { file, run, brokenOff, whole } = await pair(endpoint);
    await brokenOff("killed");
    await made(file, PARTS * PART, 1);
    assert.equal((await run()).length, PARTS);
    await whole();
  });

  test(`${name}: an upload that nobody needs any more is given up`, async () => {
    const { bucket, rootDir, file, run, brokenOff } = await pair(endpoint);
    await brokenOff("killed");
    rmSync(file);
    writeFileSync(join(rootDir, "other"), "other");
    assert.deepEqual(await run(), []);
    assert.deepEqual(notes(rootDir), []);
    assert.equal(await open(endpoint, bucket), 0);
  });

  if (hasGone(name)) {
    test(`${name}: one that somebody else gave up is begun again`, async () => {
      const { bucket, direct, run, brokenOff, whole } = await pair(endpoint);
      await brokenOff("killed");
      const url = `${endpoint}/${bucket}?uploads=`;
      const listed = await (await signed(KEYS, { method: "GET", url })).text();
      const id = /<UploadId>([^<]*)</.exec(listed)[1];
      const one = `${endpoint}/${bucket}/film.mp4?uploadId=${encodeURIComponent(id)}`;
      assert.equal((await signed(KEYS, { method: "DELETE", url: one })).status, 204);
      const sent = await run();
      assert.ok(sent.length >= PARTS, `${sent}`);
      assert.equal((await direct.ls("/")).files.length, 1);
      await whole();
    });
  }

  test(`${name}: what somebody stores before an upload goes on stays`, async () => {
    const { bucket, rootDir, file, direct, run, brokenOff } = await pair(endpoint);
    await brokenOff("killed");
    const theirs = new TextEncoder().encode("theirs");
    good({ error: (await direct.uploadFiles([["/film.mp4", theirs]]))[0].error ?? undefined });
    const mine = await digest(file);
    await run();
    const [there] = await direct.downloadFiles(["/film.mp4"]);
    assert.equal(new TextDecoder().decode(there.content), "theirs");
    const [copy] = readdirSync(rootDir).filter((one) => one.includes("conflict of a"));
    assert.equal(await digest(join(rootDir, copy)), mine);
    await run();
    assert.deepEqual(notes(rootDir), []);
    assert.equal(await open(endpoint, bucket), 0);
  });
}
