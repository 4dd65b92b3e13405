// `keepIn` with a key: what was written without it, or with another one, is not believed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { beginKept, withHistory } from "../../pkg/dist/history.js";
import { withIndex } from "../../pkg/dist/indexed.js";
import { withProvenance } from "../../pkg/dist/provenance.js";
import { MapBucket } from "../chunks/doubles.mjs";
import * as kitbag from "../lib/kitbag.mjs";
import { ownFiles, roomOf } from "../lib/room.mjs";

const { StateBackend } = kitbag;
const KEY = "correct horse battery staple";
const labels = [{ paths: ["/web/**"], as: "web" }];

/** For each user: what it does once, and what it finds of that later. */
const USERS = {
  "a history": [
    async (inner, keepIn) => (await withHistory(inner, { keepIn }).write("/a", "1")).error,
    async (inner, keepIn) => {
      const { entries, error } = await withHistory(inner, { keepIn }).log("/a");
      return error ?? entries.length;
    },
    1,
  ],
  "a pin": [
    async (inner, keepIn) => (await withHistory(inner, { keepIn }).pin()).error,
    async (inner, keepIn) => {
      const { pins, error } = await withHistory(inner, { keepIn }).pins();
      return error ?? pins.length;
    },
    1,
  ],
  "a kept turn": [
    async (inner, keepIn) => (await beginKept(inner, { keepIn, name: "t" }).write("/b", "1")).error,
    async (inner, keepIn) => {
      const { error, content } = await beginKept(inner, { keepIn, name: "t" }).read("/b");
      return error ?? content;
    },
    "1",
  ],
  labels: [
    async (inner, keepIn) => {
      const files = withProvenance(inner, { labels, keepIn });
      await files.read("/web/page");
      return (await files.write("/c", "1")).error;
    },
    async (inner, keepIn) => {
      const { error, labels: found } = await withProvenance(inner, { labels, keepIn }).labels("/c");
      return error ?? found.join();
    },
    "web",
  ],
  "an index": [
    async (inner, keepIn) => (await withIndex(inner, { keepIn }).updateIndex()).error,
    async (inner, keepIn) => {
      const { error, files } = await withIndex(inner, { keepIn }).updateIndex();
      return error ?? files;
    },
    1,
  ],
};

for (const [name, [make, found, expected]] of Object.entries(USERS)) {
  const fresh = async () => {
    // An index needs a storage that lists versions.
    const inner = new kitbag.R2Backend({ bucket: new MapBucket() });
    await inner.write("/web/page", "text\n");
    return [inner, new StateBackend()];
  };
  test(`${name}: the key that it was made with finds it, another one is refused`, async () => {
    const [inner, backend] = await fresh();
    assert.equal(await make(inner, { backend, key: KEY }), undefined);
    const bytes = new TextEncoder().encode(KEY);
    assert.equal(await found(inner, { backend, key: bytes }), expected);
    assert.match(String(await found(inner, { backend, key: `not ${KEY}` })), /has another key/);
    assert.equal(await found(inner, { backend, key: KEY }), expected);
  });

  test(`${name}: a key that is none is refused, and not shown`, async () => {
    const [inner, backend] = await fresh();
    // Without a value, as of a variable of the environment that is not set, is not without a key.
    for (const key of ["too short", new Uint8Array(15), 1, {}, true, undefined, null]) {
      assert.throws(
        () => {
          const keepIn = { backend, key };
          if (name.includes("turn")) beginKept(inner, { keepIn });
          else if (name.includes("index")) withIndex(inner, { keepIn });
          else if (name === "labels") withProvenance(inner, { labels, keepIn });
          else withHistory(inner, { keepIn });
        },
        (error) =>
          error instanceof TypeError &&
          /option "key" (must be a string or a Uint8Array of 16 bytes|has no value)/.test(
            error.message,
          ) &&
          !error.message.includes("too short"),
      );
    }
  });
}

test("entries that were written without the key are moved aside", async () => {
  const own = await roomOf(kitbag);
  const [inner, backend] = [new StateBackend(), new StateBackend()];
  await withHistory(inner, { keepIn: { backend } }).write("/a", "planted");
  const world = withHistory(inner, { keepIn: { backend, key: KEY } });
  assert.equal((await world.write("/b", "mine")).error, undefined);
  const { entries } = await world.log("/");
  assert.deepEqual(
    entries.map(({ files }) => files[0].path),
    ["/b"],
  );
  assert.equal((await ownFiles(own, backend, "/.kitbag/history/.aside")).length, 1);
});
