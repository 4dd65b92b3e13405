// Two trees of different kinds: each of the meanings of docs/sync.md, and what is in the results.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { cleared, contents, kept, kitbag, open, put, scratch, sync } from "./lib.mjs";

after(cleared);

const { FilesystemBackend, StateBackend, withPolicy } = kitbag;
const state = () => new StateBackend({ files: {} });

const PAIRS = {
  "memory and a folder": async () => ({
    a: state(),
    b: new FilesystemBackend({ rootDir: scratch() }),
  }),
  "a folder and SQLite": () => open("folder and SQLite", scratch()),
  "two folders": () => open("two folders", scratch()),
};

/** Syncs without a refusal; the trees are equal then, and the next run has nothing to do. */
async function synced(a, b, options = {}) {
  const done = await sync(a, b, { ...kept(a), ...options });
  assert.equal(done.error, undefined);
  assert.deepEqual(done.refused, []);
  const all = await contents(a);
  assert.deepEqual(await contents(b), all);
  const again = await sync(a, b, { ...kept(a), ...options });
  assert.deepEqual([again.error, again.changed, again.conflicts], [undefined, [], []]);
  return { ...done, all };
}

const LINES = Array.from({ length: 9 }, (_, at) => `line ${at}\n`);
const lines = (changes) => LINES.map((line, at) => changes[at] ?? line).join("");

for (const [name, make] of Object.entries(PAIRS)) {
  test(`${name}: edits, new files, moves and deletions of both sides`, async () => {
    const { a, b } = await make();
    await put(a, {
      "/edited.md": lines({}),
      "/both.md": lines({}),
      "/gone.md": "gone",
      "/moved.md": "a text that is moved",
      "/saved.md": "deleted in b, edited in a",
      "/deep/er/x.txt": "x",
    });
    await put(b, { "/of b.txt": "new in b" });
    const first = await synced(a, b);
    assert.equal(Object.keys(first.all).length, 7);

    await put(b, { "/edited.md": lines({ 2: "by b\n" }), "/both.md": lines({ 8: "by b\n" }) });
    await put(a, { "/both.md": lines({ 0: "by a\n" }), "/saved.md": "edited" });
    await a.delete("/gone.md");
    await a.move("/moved.md", "/new/place.md");
    await b.delete("/saved.md");
    const second = await synced(a, b);
    assert.deepEqual(second.conflicts, []);
    assert.deepEqual(second.all, {
      "/edited.md": lines({ 2: "by b\n" }),
      "/both.md": lines({ 0: "by a\n", 8: "by b\n" }),
      "/saved.md": "edited",
      "/new/place.md": "a text that is moved",
      "/deep/er/x.txt": "x",
      "/of b.txt": "new in b",
    });
    const moved = second.changed.find(({ what }) => what === "moved");
    assert.deepEqual(moved, {
      path: "/new/place.md",
      side: "b",
      what: "moved",
      from: "/moved.md",
    });
  });

  test(`${name}: where edits touch, both stay`, async () => {
    const { a, b } = await make();
    await put(a, { "/f.md": lines({}), "/x.bin": "\0one" });
    await synced(a, b);
    for (const round of [1, 2]) {
      await put(a, { "/f.md": lines({ 4: `mine ${round}\n` }), "/x.bin": `\0mine ${round}` });
      await put(b, { "/f.md": lines({ 4: `theirs ${round}\n` }), "/x.bin": `\0theirs ${round}` });
      const { conflicts, all } = await synced(a, b, { names: ["laptop", "bucket"] });
      assert.equal(all["/f.md"], lines({ 4: `theirs ${round}\n` }));
      assert.deepEqual(
        conflicts.map(({ path, took }) => [path, took]),
        [
          ["/f.md", "both"],
          ["/x.bin", "both"],
        ],
      );
      assert.equal(all[conflicts[0].copy], lines({ 4: `mine ${round}\n` }));
      assert.match(
        conflicts[0].copy,
        /^\/f \(conflict of laptop, \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d\)/,
      );
    }
    assert.equal(Object.keys(await contents(a)).length, 6);
  });
}

test("a function decides about conflicts, and what it says wrongly leaves the file", async () => {
  const [a, b] = [state(), state()];
  const files = (who) => ({ "/a": who, "/b": who, "/c": who, "/d": who });
  await put(a, files("of a"));
  await put(b, files("of b"));
  const says = { "/a": "a", "/b": Promise.resolve("b"), "/c": "leave", "/d": "nonsense" };
  const onConflict = ({ path }) => says[path];
  const done = await sync(a, b, { ...kept(a), onConflict });
  assert.deepEqual(await contents(a), { "/a": "of a", "/b": "of b", "/c": "of a", "/d": "of a" });
  assert.deepEqual(await contents(b), { "/a": "of a", "/b": "of b", "/c": "of b", "/d": "of b" });
  assert.deepEqual(
    done.refused.map(({ path, code }) => [path, code]),
    [["/d", "invalid_argument"]],
  );
});

test("a run that only plans writes nothing", async () => {
  const [a, b] = [state(), state()];
  await put(a, { "/new": "x", "/same": "of a" });
  await put(b, { "/same": "of b" });
  const done = await sync(a, b, { ...kept(a), dryRun: true });
  assert.deepEqual(done.changed, [{ path: "/new", side: "b", what: "created" }]);
  assert.deepEqual(done.conflicts, [{ path: "/same", took: "leave" }]);
  assert.deepEqual(await contents(b), { "/same": "of b" });
});

test("rules of a side apply, and a read-only side refuses file by file", async () => {
  const inner = state();
  const a = state();
  await put(a, { "/ok": "1", "/secret/key": "2" });
  const hiding = withPolicy(a, {
    permissions: [{ operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" }],
  });
  const done = await sync(hiding, inner, kept(a));
  assert.equal(done.error, undefined);
  assert.deepEqual(await contents(inner), { "/ok": "1" });

  await put(a, { "/later": "3" });
  const fixed = withPolicy(inner, { readOnly: true });
  const refused = await sync(hiding, fixed, kept(a));
  assert.deepEqual(
    refused.refused.map(({ path, side, code }) => [path, side, code]),
    [["/later", "b", "permission_denied"]],
  );
});

test("a side that cannot compare and swap is named", async () => {
  const a = state();
  const inner = state();
  const names = ["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"];
  const all = [...names, "uploadFiles", "downloadFiles"];
  const b = Object.fromEntries(all.map((name) => [name, async (...args) => inner[name](...args)]));
  await put(a, { "/a": "1" });
  const { risks, error } = await sync(a, b, kept(a));
  assert.equal(error, undefined);
  assert.match(risks.join(), /side "b" c/);
  assert.deepEqual(await contents(inner), { "/a": "1" });
  assert.deepEqual((await sync(a, state(), { keepIn: { backend: state() } })).risks, []);
});

test("two runs of a pair at the same time agree", async () => {
  const { a, b } = await open("two folders", scratch());
  const files = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`/f${at}`, `${at}`]));
  await put(a, files);
  await put(b, { "/f3": "of b" });
  const runs = await Promise.all([1, 2, 3].map(() => sync(a, b, kept(a))));
  for (const { error, refused } of runs) assert.deepEqual([error, refused], [undefined, []]);
  const all = await contents(a);
  assert.deepEqual(await contents(b), all);
  assert.equal(Object.keys(all).length, 41);
});

test("a signal ends a run, and the next one goes on at once", async () => {
  const { a, b } = await open("two folders", scratch());
  const files = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`/f${at}`, `${at}`]));
  await put(a, files);
  const stop = new AbortController();
  let heard = 0;
  const onProgress = ({ done, total }) => {
    heard = done;
    assert.equal(total, 200);
    if (done > 40) stop.abort();
  };
  const broken = await sync(a, b, { ...kept(a), signal: stop.signal, onProgress });
  assert.equal(broken.code, "timeout");
  assert.ok(heard < 200);
  const began = performance.now();
  await synced(a, b);
  assert.ok(performance.now() - began < 8_000);
});

test("what was agreed on is proven by its key", async () => {
  const [a, b, notes] = [state(), state(), state()];
  const options = { keepIn: { backend: notes, path: "/s", key: "0123456789abcdef" } };
  await put(a, { "/a": "1" });
  assert.equal((await sync(a, b, options)).error, undefined);
  const wrong = { keepIn: { ...options.keepIn, key: "another key of 16" } };
  const refused = await sync(a, b, wrong);
  assert.match(refused.error, /has another key/);
  assert.equal(refused.code, "invalid_argument");
});

test("wrong options are results", async () => {
  const [a, b] = [state(), state()];
  for (const [options, expected] of [
    [undefined, /option "keepIn" is missing/],
    [{ keepIn: {} }, /option "backend" is missing/],
    [
      { ...kept(a), onConflict: "newest" },
      /option "onConflict" must be a function, or one of both/,
    ],
    [{ ...kept(a), names: ["a"] }, /option "names" must be two names/],
    [{ ...kept(a), names: ["a", "x/y"] }, /option "names" must be two names of 1 to 40/],
    [{ ...kept(a), paths: "/notes" }, /option "paths" must be an array of patterns/],
    [{ ...kept(a), dryrun: true }, /"dryRun"/],
    [{ ...kept(a), signal: 7 }, /options.signal must be an AbortSignal/],
  ]) {
    const { error, code } = await sync(a, b, options);
    assert.match(error, expected);
    assert.equal(code, "invalid_argument");
  }
  assert.match((await sync(a, a, kept(a))).error, /two backends/);
  assert.match((await sync(a, {}, kept(a))).error, /the second side must be a backend/);
});
