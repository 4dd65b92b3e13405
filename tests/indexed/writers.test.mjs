// An index with `freshness: "writers"`: searches list nothing, and find each change that was made through
// such an index, by any program and by the layers above.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { withHistory } from "../../pkg/dist/history.js";
import { withIgnore } from "../../pkg/dist/ignore.js";
import { withIndex } from "../../pkg/dist/indexed.js";
import { sync } from "../../pkg/dist/sync.js";
import { MapBucket } from "../chunks/doubles.mjs";
import * as kitbag from "../lib/kitbag.mjs";
import { roomOf } from "../lib/room.mjs";
import { sqlite } from "./store.mjs";

const { begin, R2Backend, StateBackend, undo } = kitbag;
const folder = mkdtempSync(join(tmpdir(), "kitbag-writers-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const bytes = (text) => new TextEncoder().encode(text);
const FILES = Array.from({ length: 60 }, (_, at) => [
  `/src/${at % 7}/${at}.txt`,
  bytes(at === 7 ? "the needle\n" : `hay of stack number ${at}\n`),
]);
const open = (plain) => withIndex(plain, { freshness: "writers" });
const good = (answer) => {
  assert.equal(answer.error, undefined, JSON.stringify(answer));
  return answer;
};
const paths = ({ matches }) => matches.map(({ path }) => path);

/** A bucket that counts its calls: those of listings by prefix. */
function counted(bucket) {
  const calls = { head: 0, get: 0, put: 0, delete: 0, lists: [] };
  const proxy = new Proxy(bucket, {
    get:
      (_, method) =>
      (options, ...rest) => {
        if (method === "list") calls.lists.push(options?.prefix ?? "");
        else calls[method] += 1;
        return bucket[method](options, ...rest);
      },
  });
  const take = () => {
    const taken = { ...calls, all: calls.head + calls.get + calls.put + calls.delete };
    Object.assign(calls, { head: 0, get: 0, put: 0, delete: 0, lists: [] });
    return taken;
  };
  return { proxy, take };
}

async function bucketWithIndex() {
  const bucket = new MapBucket();
  const plain = new R2Backend({ bucket });
  await plain.uploadFiles(FILES);
  good(await open(plain).updateIndex());
  return { bucket, plain };
}

/** A search through the index finds what a listing finds, and lists nothing. */
async function sameAnswers(plain, files, words = ["needle", "stack", "new", "moved"]) {
  for (const word of words) {
    const found = await files.grep(word, "/", null, { stats: true });
    assert.equal(found.stats?.freshness, "writers", JSON.stringify(found));
    assert.deepEqual(found.matches, good(await plain.grep(word)).matches, word);
  }
  const named = await files.glob("**/*.txt");
  assert.deepEqual(named, await plain.glob("**/*.txt"));
}

describe("in a bucket", () => {
  test("a search lists notes only, and says what its promise is", async () => {
    const { bucket } = await bucketWithIndex();
    const { proxy, take } = counted(bucket);
    const files = open(new R2Backend({ bucket: proxy }));
    const { matches, stats } = await files.grep("needle", "/", null, { stats: true });
    assert.deepEqual(
      matches.map(({ path }) => path),
      ["/src/0/7.txt"],
    );
    assert.equal(stats.freshness, "writers");
    assert.equal(stats.unindexed, 0);
    assert.ok(stats.candidates <= 3, JSON.stringify(stats));
    assert.equal(stats.candidates + stats.indexed, FILES.length);
    const { lists, all } = take();
    assert.deepEqual(lists, [".kitbag/index/notes/"]);
    // Manifest, segment, and a body for each candidate.
    assert.ok(all <= 2 + stats.candidates, `${all} requests`);
    const { capability } = files;
    assert.ok(capability.notes.some((note) => note.includes("list nothing")));
  });

  test("a change takes one request more, and several at once share a note", async () => {
    const change = async (through) => {
      const { bucket } = await bucketWithIndex();
      const { proxy, take } = counted(bucket);
      const files = through(new R2Backend({ bucket: proxy }));
      const costs = [];
      for (const work of [
        () => files.write("/src/new.txt", "new words"),
        () => files.edit("/src/new.txt", "new", "other"),
        () => files.delete("/src/new.txt"),
        () =>
          Promise.all(
            Array.from({ length: 20 }, (_, at) => files.write(`/many/${at}.txt`, "new words")),
          ),
      ]) {
        for (const answer of [await work()].flat()) good(answer);
        const { all, lists } = take();
        costs.push(all + lists.length);
      }
      return costs;
    };
    const [with_, without] = [await change(open), await change((plain) => plain)];
    const more = with_.map((cost, at) => cost - without[at]);
    assert.deepEqual(more.slice(0, 3), [1, 1, 1], `${with_} and ${without}`);
    assert.ok(more[3] <= 3, `${more[3]} requests more for twenty changes at once`);
  });

  test("changes of other programs are found at once, past an index after an update", async () => {
    const { bucket, plain } = await bucketWithIndex();
    const [reader, writer] = [open(plain), open(new R2Backend({ bucket }))];
    await sameAnswers(plain, reader);
    good(await writer.write("/src/new.txt", "the new needle"));
    await sameAnswers(plain, reader);
    good(await writer.edit("/src/0/7.txt", "needle", "moved"));
    await sameAnswers(plain, reader);
    good(await writer.move("/src/3", "/lib"));
    await sameAnswers(plain, reader);
    good(await writer.delete("/src/1"));
    await sameAnswers(plain, reader);
    good(await writer.uploadFiles([["/up.txt", bytes("a new stack")]]));
    good(await writer.append("/up.txt", "and a needle"));
    await sameAnswers(plain, reader);
    good(await reader.updateIndex());
    await sameAnswers(plain, reader);
    good(await plain.write("/past.txt", "another needle"));
    const found = await reader.grep("another needle");
    assert.deepEqual(paths(found), [], "the weaker promise");
    good(await reader.updateIndex());
    assert.deepEqual(paths(await reader.grep("another needle")), ["/past.txt"]);
    await sameAnswers(plain, reader);
  });

  test("files are listed without an index, with a damaged note, and where ignore files are", async () => {
    const bucket = new MapBucket();
    const plain = new R2Backend({ bucket });
    await plain.uploadFiles(FILES);
    const files = open(plain);
    const lists = async (backend) => {
      const { matches, stats } = await backend.grep("needle", "/", null, { stats: true });
      assert.deepEqual(
        matches.map(({ path }) => path),
        ["/src/0/7.txt"],
      );
      return stats?.freshness === undefined;
    };
    assert.ok(await lists(files), "no index");
    good(await files.updateIndex());
    assert.ok(!(await lists(files)));
    const own = await roomOf(kitbag);
    good(await plain.uploadFiles([[own("/.kitbag/index/notes/0123456789abcdef.bin"), bytes("?")]]));
    assert.ok(await lists(files), "a damaged note");
    const ignoring = open(withIgnore(plain, { patterns: ["*.log"] }));
    assert.ok(await lists(ignoring), "ignore files below");
    assert.ok(ignoring.capability.notes.some((note) => note.includes("list all files")));
    const memory = open(new StateBackend({ files: { "/src/0/7.txt": "needle" } }));
    assert.ok(await lists(memory), "no versions");
    assert.equal((await memory.write("/b.txt", "needle")).error, undefined);
  });

  test("with a key, a note of somebody else makes searches list all files", async () => {
    const bucket = new MapBucket();
    const plain = new R2Backend({ bucket });
    await plain.uploadFiles(FILES);
    const keyed = (key) => withIndex(plain, { freshness: "writers", keepIn: { key } });
    const files = keyed("a key of sixteen bytes or more");
    good(await files.updateIndex());
    good(await files.write("/src/new.txt", "a needle"));
    const fresh = async () =>
      (await files.grep("needle", "/", null, { stats: true })).stats.freshness;
    assert.equal(await fresh(), "writers");
    good(await keyed("another key of sixteen bytes").write("/src/two.txt", "a needle"));
    assert.equal(await fresh(), undefined);
    assert.equal((await files.grep("needle")).matches.length, 3);
  });
});

for (const [name, make] of [
  ["a bucket", async () => (await bucketWithIndex()).plain],
  [
    "a database",
    async () => {
      const plain = await sqlite(kitbag, join(folder, `${Math.random()}.db`));
      await plain.uploadFiles(FILES);
      good(await open(plain).updateIndex());
      return plain;
    },
  ],
]) {
  test(`turns, histories and sync change files of ${name} with notes`, async () => {
    const plain = await make();
    const [files, reader] = [open(plain), open(plain)];
    await sameAnswers(plain, reader);
    const turn = begin(files, { by: "a test" });
    good(await turn.write("/src/new.txt", "a new needle"));
    good(await turn.edit("/src/0/7.txt", "the needle", "moved"));
    good(await turn.delete("/src/1/8.txt"));
    const { receipt } = good(await turn.commit());
    await sameAnswers(plain, reader);
    good(await undo(files, receipt));
    await sameAnswers(plain, reader);
    const history = withHistory(files, { keepIn: { backend: new StateBackend() } });
    good(await history.write("/src/kept.txt", "one more needle"));
    const { entries } = good(await history.log("/src/kept.txt"));
    good(await history.edit("/src/kept.txt", "needle", "new thing"));
    await sameAnswers(plain, reader);
    good(await history.restore("/src/kept.txt", entries[0].id));
    await sameAnswers(plain, reader);
    const other = new StateBackend({ files: { "/src/synced.txt": "a needle from afar\n" } });
    good(await sync(files, other, { keepIn: { backend: new StateBackend() } }));
    await sameAnswers(plain, reader);
    good(await reader.updateIndex());
    await sameAnswers(plain, reader);
  });
}

test("a freshness of another name is refused", () => {
  assert.throws(() => withIndex(new StateBackend(), { freshness: "writer" }), {
    name: "TypeError",
    message: /"freshness" must be "listing" or "writers".*"writers"/,
  });
});
