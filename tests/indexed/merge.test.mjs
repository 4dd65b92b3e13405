// Updates of an index that merge its segments: what they return, several writers at once, and
// processes that are killed.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { withIndex } from "../../pkg/dist/indexed.js";
import { MapBucket } from "../chunks/doubles.mjs";
import { dice, histories } from "../lib/histories.mjs";
import * as kitbag from "../lib/kitbag.mjs";
import { filled, name, sameAnswers, sqlite, stored } from "./store.mjs";

const { R2Backend, StateBackend } = kitbag;
const folder = mkdtempSync(join(tmpdir(), "kitbag-indexed-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const killed = fileURLToPath(new URL("killed.mjs", import.meta.url));

const open = (plain) => withIndex(plain, { keepIn: { path: "/.index/" } });
const good = (answer) => {
  assert.equal(answer.error, undefined, JSON.stringify(answer));
  return answer;
};

describe("one writer", () => {
  test("makes one segment of four, drops what is out of date, and then has nothing to do", async () => {
    const plain = new R2Backend({ bucket: new MapBucket() });
    const files = open(plain);
    assert.equal(await filled(plain, files), 4);
    const { bytes, ...done } = good(await files.updateIndex());
    // Every sixth of 127 was edited: its old state is dropped.
    assert.deepEqual(done, { added: 22, merged: 4, files: 127, segments: 1 });
    assert.ok(bytes > 1000, `${bytes} bytes`);
    const excluded = await sameAnswers(plain, files);
    assert.ok(excluded > 90, `${excluded} files are excluded`);
    const before = await stored(plain);
    assert.deepEqual(await files.updateIndex(), { ...done, added: 0, merged: 0, bytes });
    assert.deepEqual(await stored(plain), before);
  });

  test("has at most four segments after many small updates", async () => {
    const plain = new R2Backend({ bucket: new MapBucket() });
    const files = open(plain);
    for (const count of [243, 81, 27, 9, 3, 1]) {
      const names = Array.from({ length: count }, (_, at) => `/of ${count}/${at}.txt`);
      await plain.uploadFiles(names.map((path) => [path, new TextEncoder().encode(path)]));
      const { segments, added } = good(await files.updateIndex());
      assert.equal(added, count);
      assert.ok(segments <= 4, `${segments} segments`);
    }
    await sameAnswers(plain, files);
  });

  test("random histories with merges find what a scan finds", async () => {
    const make = () => new R2Backend({ bucket: new MapBucket() });
    const seen = await histories({ ...kitbag, withIndex }, make, {
      seeds: 60,
      first: 500,
    });
    assert.deepEqual(seen.failures, []);
    assert.ok(seen.excluded > 60, `${seen.excluded} files were excluded`);
    // The names in an index are random, and with them which of its files a history damages.
    assert.ok(seen.merged > 1, `${seen.merged} segments were merged`);
  });
});

/** A bucket whose calls take a random number of turns of the event loop. */
function slow(bucket, roll) {
  const wait = async () => {
    for (let turns = roll(6); turns > 0; turns--) await new Promise(setImmediate);
  };
  return new Proxy(bucket, {
    get:
      (_, method) =>
      async (...args) => {
        await wait();
        const answer = await bucket[method](...args);
        await wait();
        return answer;
      },
  });
}

describe("several writers at once", () => {
  for (let seed = 1; seed <= 5; seed++) {
    test(`update and search, in the order of seed ${seed}`, async () => {
      const bucket = new MapBucket();
      const plain = new R2Backend({ bucket });
      await filled(plain, open(plain));
      const roll = dice(seed);
      const writer = () => open(new R2Backend({ bucket: slow(bucket, roll) }));
      const writers = [writer(), writer(), writer(), writer()];
      const answers = await Promise.all([
        ...writers.map((one) => one.updateIndex()),
        writers[0].updateIndex(),
        ...writers.map((one) => sameAnswers(plain, one)),
      ]);
      for (const answer of answers) if (typeof answer === "object") good(answer);
      for (const one of [...writers, open(plain)]) await sameAnswers(plain, one);
      good(await open(plain).updateIndex());
      const last = good(await open(plain).updateIndex());
      const files = open(plain);
      const { stats } = await files.grep("nowhere at all", "/", null, { stats: true });
      assert.deepEqual([stats.unindexed, stats.indexed + stats.candidates], [0, 127]);
      assert.equal(last.files, 127, "each file is in the index once");
      assert.ok(last.segments <= 2, `${last.segments} segments`);
    });
  }
});

test("a process that is killed before any statement of an update leaves the index whole", async () => {
  const whole = join(folder, "whole.db");
  const plain = await sqlite(kitbag, whole);
  assert.equal(await filled(plain, open(plain)), 4);
  const before = (await stored(plain)).sort();
  const seen = { killed: 0, unchanged: 0, orphans: 0, merged: 0 };
  for (let last = 1; ; last++) {
    const path = join(folder, `${last}.db`);
    copyFileSync(whole, path);
    const child = spawn(process.execPath, [killed, path, String(last)], { stdio: "inherit" });
    const [code, signal] = await once(child, "exit");
    const again = await sqlite(kitbag, path);
    await sameAnswers(again, open(again));
    if (signal === null) {
      assert.equal(code, 0);
      seen.merged += 1;
      break;
    }
    assert.equal(signal, "SIGKILL");
    seen.killed += 1;
    const now = (await stored(again)).sort();
    if (now.length === before.length) seen.unchanged += 1;
    if (now.length > before.length) seen.orphans += 1;
    // Another process finishes the work.
    const done = good(await open(again).updateIndex());
    assert.deepEqual([done.segments, done.files], [1, 127]);
    await sameAnswers(again, open(again));
    rmSync(path);
  }
  assert.ok(seen.unchanged > 0, "killed before the new segment was stored");
  assert.ok(seen.orphans > 0, "killed after it was stored");
  assert.equal(seen.merged, 1);
});

describe("refusals", () => {
  const files = () => open(new R2Backend({ bucket: new MapBucket() }));
  const refused = async (answer, words, code = "invalid_argument") => {
    const { error, code: seen } = await answer;
    assert.match(error, words);
    assert.equal(seen, code);
  };

  test("of wrong and misspelled options", async () => {
    await refused(files().updateIndex({ timeoutMs: "5" }), /options.timeoutMs/);
    await refused(files().updateIndex({ signal: {} }), /options.signal/);
    await refused(files().updateIndex({ timeOutMs: 5 }), /"timeOutMs".*timeoutMs/);
    await refused(files().updateIndex(["x"]), /options must be an object/);
  });

  test("where the storage lists no versions", async () => {
    const memory = open(new StateBackend({ files: { "/a": "1" } }));
    await refused(memory.updateIndex(), /lists no versions/, "unsupported");
  });

  test("of a call that was cancelled before or while it runs, which changes nothing", async () => {
    const bucket = new MapBucket();
    const plain = new R2Backend({ bucket });
    await filled(plain, open(plain));
    const before = await stored(plain);
    await refused(open(plain).updateIndex({ signal: AbortSignal.abort() }), /./, "timeout");
    const aborting = new AbortController();
    const stops = new Proxy(bucket, {
      get:
        (_, method) =>
        async (...args) => {
          if (method === "list") aborting.abort();
          return bucket[method](...args);
        },
    });
    const cancelled = open(new R2Backend({ bucket: stops }));
    await refused(cancelled.updateIndex({ signal: aborting.signal }), /cancelled/, "timeout");
    assert.deepEqual(await stored(plain), before);
    await plain.delete(name(1));
    await sameAnswers(plain, open(plain));
  });
});
