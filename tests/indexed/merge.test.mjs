// `mergeIndex`: what it returns, merges of several writers at once, and processes that are killed.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { mergeIndex, withIndex } from "../../pkg/dist/indexed.js";
import { MapBucket } from "../chunks/doubles.mjs";
import { dice, histories } from "../lib/histories.mjs";
import * as kitbag from "../lib/kitbag.mjs";
import { filled, name, sameAnswers, sqlite, stored } from "./store.mjs";

const { CompositeBackend, R2Backend, StateBackend, withPolicy } = kitbag;
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
    const done = good(await mergeIndex(files));
    assert.equal(done.merged, 4);
    assert.equal(done.segments, 1);
    assert.equal(done.dropped, 22, "every sixth of 127 was edited");
    assert.ok(done.bytes > 1000, `${done.bytes} bytes`);
    const excluded = await sameAnswers(plain, files);
    assert.ok(excluded > 90, `${excluded} files are excluded`);
    assert.deepEqual(await mergeIndex(files), { ...done, merged: 0, dropped: 0 });
  });

  test("random histories with merges find what a scan finds", async () => {
    const make = () => new R2Backend({ bucket: new MapBucket() });
    const seen = await histories({ ...kitbag, withIndex, mergeIndex }, make, {
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
    test(`merge, update and search, in the order of seed ${seed}`, async () => {
      const bucket = new MapBucket();
      const plain = new R2Backend({ bucket });
      await filled(plain, open(plain));
      const roll = dice(seed);
      const writer = () => open(new R2Backend({ bucket: slow(bucket, roll) }));
      const writers = [writer(), writer(), writer(), writer()];
      const answers = await Promise.all([
        ...writers.map((one) => mergeIndex(one)),
        mergeIndex(writers[0]),
        writers[1].updateIndex(),
        ...writers.map((one) => sameAnswers(plain, one)),
      ]);
      for (const answer of answers) if (typeof answer === "object") good(answer);
      for (const one of [...writers, open(plain)]) await sameAnswers(plain, one);
      good(await open(plain).updateIndex());
      const last = good(await mergeIndex(open(plain)));
      const files = open(plain);
      const { stats } = await files.grep("nowhere at all", "/", null, { stats: true });
      assert.deepEqual([stats.unindexed, stats.indexed + stats.candidates], [0, 127]);
      assert.ok(last.segments <= 2, `${last.segments} segments`);
    });
  }
});

test("a process that is killed before any statement of a merge leaves the index whole", async () => {
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
    const done = good(await mergeIndex(open(again)));
    assert.equal(done.segments, 1);
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

  for (const wrong of [
    ...[undefined, null, "/.index/", {}, () => {}],
    new StateBackend(),
    withPolicy(files(), {}),
    new CompositeBackend(files(), {}),
  ]) {
    const what = wrong?.constructor?.name ?? String(wrong);
    test(`of ${what}, which is not what withIndex returns`, () =>
      refused(mergeIndex(wrong), /mergeIndex: files must be what withIndex returns/));
  }

  test("of wrong and misspelled options", async () => {
    await refused(mergeIndex(files(), { timeoutMs: "5" }), /options.timeoutMs/);
    await refused(mergeIndex(files(), { signal: {} }), /options.signal/);
    await refused(mergeIndex(files(), { timeOutMs: 5 }), /"timeOutMs".*timeoutMs/);
    await refused(mergeIndex(files(), ["x"]), /options must be an object/);
    await refused(files().updateIndex({ timeoutMs: "5" }), /options.timeoutMs/);
  });

  test("where the storage lists no versions", async () => {
    const memory = open(new StateBackend({ files: { "/a": "1" } }));
    await refused(mergeIndex(memory), /lists no versions/, "unsupported");
  });

  test("of a call that was cancelled before or while it runs, which changes nothing", async () => {
    const bucket = new MapBucket();
    const plain = new R2Backend({ bucket });
    await filled(plain, open(plain));
    const before = await stored(plain);
    await refused(mergeIndex(open(plain), { signal: AbortSignal.abort() }), /./, "timeout");
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
    await refused(mergeIndex(cancelled, { signal: aborting.signal }), /cancelled/, "timeout");
    assert.deepEqual(await stored(plain), before);
    await plain.delete(name(1));
    await sameAnswers(plain, open(plain));
  });
});
