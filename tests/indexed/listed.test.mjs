// With `freshness: "writers"`, `ls` of a directory of very many entries takes fewer requests than the pages of its
// listing, and is what these say.

import assert from "node:assert/strict";
import { test } from "node:test";
import { withIndex } from "../../pkg/dist/indexed.js";
import { R2Backend } from "../lib/kitbag.mjs";
import { LargeBucket } from "./large.mjs";

const MANY = 12_000;
const FEW = 300;

const open = (bucket) => withIndex(new R2Backend({ bucket }), { freshness: "writers" });

async function filled() {
  const bucket = new LargeBucket();
  for (let at = 0; at < MANY; at++) {
    const words = `number ${at} and so on, `.repeat(1 + (at % 50));
    await bucket.put(`big/f${at}.txt`, new TextEncoder().encode(words));
  }
  for (let at = 0; at < FEW; at++) await bucket.put(`big/d${at}/x`, new Uint8Array([120]));
  const { error } = await open(bucket).updateIndex();
  assert.equal(error, undefined);
  return bucket;
}

test("a long directory is listed once, and then had from the index", async () => {
  const bucket = await filled();
  const [plain, reader, writer] = [new R2Backend({ bucket }), open(bucket), open(bucket)];
  const pages = Math.ceil((MANY + FEW) / 1_000);
  /** The requests of `ls`, after it was compared with a listing. */
  const cost = async (dir) => {
    const expected = await plain.ls(dir);
    bucket.take();
    const found = await reader.ls(dir);
    const { lists, others } = bucket.take();
    if (process.env.KITBAG_SHOW) console.log(`# ${dir}: ${lists} listings, ${others} others`);
    assert.deepEqual(found, expected);
    return { lists, all: lists + others };
  };
  assert.deepEqual(await cost("/big"), { lists: pages, all: pages });
  // The notes are listed; the manifest, the table and parts of the catalogue are read.
  const second = await cost("/big");
  assert.equal(second.lists, 1);
  assert.ok(second.all <= pages + 4, `${second.all} requests`);
  assert.deepEqual(await cost("/big"), { lists: 1, all: 2 });
  for (const dir of ["/", "/big/d7", "/big/f7.txt"]) {
    assert.deepEqual(await cost(dir), { lists: 1, all: 1 }, dir);
  }
  // What is noted is asked for, and a note is read.
  assert.equal((await writer.write("/big/new.txt", "new")).error, undefined);
  assert.equal((await writer.edit("/big/f7777.txt", "number", "no.", true)).error, undefined);
  const noted = await cost("/big");
  assert.deepEqual(noted, { lists: 3, all: 5 });
  assert.equal((await writer.delete("/big/d7")).error, undefined);
  assert.equal((await reader.delete("/big/f1234.txt")).error, undefined);
  assert.ok((await cost("/big")).lists < pages);
  // All of it is noted.
  assert.equal((await writer.move("/big", "/huge")).error, undefined);
  await cost("/big");
  await cost("/huge");
  assert.equal((await reader.updateIndex()).error, undefined);
  await cost("/huge");
  await cost("/big");
});
