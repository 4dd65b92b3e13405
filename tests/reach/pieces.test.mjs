// Large files: sent in pieces of one version, without being in memory as a whole.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { appendFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { describe } from "node:test";
import { setTimeout as later } from "node:timers/promises";
import {
  begin,
  CompositeBackend,
  FilesystemBackend,
  folder,
  HttpBackend,
  over,
  posted,
  StateBackend,
  served,
  serveFiles,
  withPolicy,
} from "./lib.mjs";

const OWN = { "x-kitbag": "1" };
const MIB = 1 << 20;
const SIZE = 3 * MIB + 7;
const BYTES = randomBytes(SIZE);

/** A folder with a large file, and a backend over it whose reads are written down. */
function large(t, bytes = BYTES) {
  const rootDir = folder(t);
  const file = join(rootDir, "film.bin");
  writeFileSync(file, bytes);
  const backend = new FilesystemBackend({ rootDir, writeMode: "overwrite" });
  const reads = [];
  const { readRaw } = backend;
  backend.readRaw = (path, options) => {
    reads.push(options);
    return readRaw.call(backend, path, options);
  };
  return { rootDir, file, backend, reads };
}

const bytesOf = async (answer) => Buffer.from(await answer.arrayBuffer());

describe("a large file", () => {
  test("arrives whole, in pieces that were read one by one", async (t) => {
    const { backend, reads } = large(t);
    const { url } = await over(t, backend);
    const got = await fetch(`${url}/film.bin`);
    assert.equal(got.headers.get("content-length"), String(SIZE));
    assert.equal(got.headers.get("content-type"), "application/octet-stream");
    assert.ok(BYTES.equals(await bytesOf(got)));
    const ends = reads.map(({ start, end }) => end - start);
    assert.equal(ends.length, 4);
    assert.ok(Math.max(...ends) <= MIB, String(ends));
  });

  const RANGES = [
    ["bytes=0-0", 0, 1],
    ["bytes=0-1048575", 0, MIB],
    ["bytes=0-1048576", 0, MIB + 1],
    ["bytes=1048570-1048590", 1_048_570, 1_048_591],
    ["bytes=5-3000000", 5, 3_000_001],
    ["bytes=2000000-", 2_000_000, SIZE],
    [`bytes=${SIZE - 1}-`, SIZE - 1, SIZE],
    ["bytes=100-99999999", 100, SIZE],
    ["bytes=-1", SIZE - 1, SIZE],
    ["bytes=-2000000", SIZE - 2_000_000, SIZE],
    ["bytes=-99999999", 0, SIZE],
  ];
  for (const [range, from, to] of RANGES) {
    test(`Range: ${range}`, async (t) => {
      const { backend, reads } = large(t);
      const { url } = await over(t, backend);
      const got = await fetch(`${url}/film.bin`, { headers: { range } });
      assert.equal(got.status, 206);
      assert.equal(got.headers.get("content-range"), `bytes ${from}-${to - 1}/${SIZE}`);
      assert.ok(BYTES.subarray(from, to).equals(await bytesOf(got)));
      const read = reads.reduce((sum, { start, end }) => sum + Math.min(end, SIZE) - start, 0);
      assert.ok(read <= to - from + 2, `${read} bytes were read for ${to - from}`);
    });
  }

  for (const range of [`bytes=${SIZE}-`, "bytes=-0", "bytes=99999999-"]) {
    test(`Range: ${range} is not in it`, async (t) => {
      const { backend } = large(t);
      const { url } = await over(t, backend);
      const got = await fetch(`${url}/film.bin`, { headers: { range } });
      assert.equal(got.status, 416);
      assert.equal(got.headers.get("content-range"), `bytes */${SIZE}`);
    });
  }

  test("has one version, until it is changed", async (t) => {
    const { backend, file, reads } = large(t);
    const { url } = await over(t, backend);
    const head = await fetch(`${url}/film.bin`, { method: "HEAD" });
    assert.equal(head.headers.get("content-length"), String(SIZE));
    assert.deepEqual(
      reads.map(({ start, end }) => end - start),
      [0],
    );
    const etag = head.headers.get("etag");
    const known = await fetch(`${url}/film.bin`, { headers: { "if-none-match": etag } });
    assert.equal(known.status, 304);
    assert.equal(
      (await fetch(`${url}/film.bin`, { headers: { range: "bytes=5-9" } })).headers.get("etag"),
      etag,
    );
    const other = { range: "bytes=0-2", "if-range": '"other"' };
    const whole = await fetch(`${url}/film.bin`, { headers: other });
    assert.equal(whole.status, 200);
    await whole.body.cancel();
    const same = await fetch(`${url}/film.bin`, { headers: { ...other, "if-range": etag } });
    assert.equal(same.status, 206);
    // As many bytes as before, and the time of before.
    writeFileSync(file, Buffer.from(BYTES).fill(1, 0, 10));
    utimesSync(file, new Date(), new Date(head.headers.get("last-modified")));
    const now = await fetch(`${url}/film.bin`, { method: "HEAD" });
    assert.notEqual(now.headers.get("etag"), etag);
    const stale = { method: "PUT", body: "x", headers: { ...OWN, "if-match": etag } };
    assert.equal((await fetch(`${url}/film.bin`, stale)).status, 412);
    const fresh = { ...stale, headers: { ...OWN, "if-match": now.headers.get("etag") } };
    assert.equal((await fetch(`${url}/film.bin`, fresh)).status, 204);
    assert.equal(await (await fetch(`${url}/film.bin`)).text(), "x");
  });

  test("is deleted only as the version that was named", async (t) => {
    const { backend, file } = large(t);
    const { url } = await over(t, backend);
    const etag = (await fetch(`${url}/film.bin`, { method: "HEAD" })).headers.get("etag");
    appendFileSync(file, "more");
    const remove = (tag) =>
      fetch(`${url}/film.bin`, { method: "DELETE", headers: { ...OWN, "if-match": tag } });
    assert.equal((await remove(etag)).status, 412);
    const now = (await fetch(`${url}/film.bin`, { method: "HEAD" })).headers.get("etag");
    assert.equal((await remove(now)).status, 204);
    assert.equal((await fetch(`${url}/film.bin`)).status, 404);
  });

  const CHANGES = {
    "is appended to": (file) => appendFileSync(file, "more"),
    "is cut": (file) => truncateSync(file, 2 * MIB),
    "is replaced by another of its size": (file) => writeFileSync(file, Buffer.alloc(SIZE)),
    "is deleted": (file) => rmSync(file),
  };
  for (const [what, change] of Object.entries(CHANGES)) {
    test(`that ${what} while it is sent breaks off`, async (t) => {
      const { backend, file } = large(t);
      const serve = serveFiles(() => backend);
      const got = await serve(new Request("http://files.test/film.bin"));
      const reader = got.body.getReader();
      const first = await reader.read();
      assert.ok(BYTES.subarray(0, MIB).equals(Buffer.from(first.value)));
      // The piece behind the first one was read ahead.
      await later(50);
      change(file);
      await assert.rejects(async () => {
        while (!(await reader.read()).done);
      }, /changed while it was sent|cannot be read to its end/);
    });
  }

  test("of text in UTF-8 is sent as that, of other bytes is not", async (t) => {
    const text = Buffer.from("zwölf\n".repeat(400_000));
    for (const [bytes, type] of [
      [text, "text/plain;charset=utf-8"],
      [Buffer.concat([text, Buffer.from("ö", "latin1"), text]), "text/plain;charset=utf-8"],
      [Buffer.concat([Buffer.from("ö", "latin1"), text]), "text/plain"],
    ]) {
      const { backend, file } = large(t);
      writeFileSync(file.replace("film.bin", "a.txt"), bytes);
      const { url } = await over(t, backend);
      const got = await fetch(`${url}/a.txt`);
      assert.equal(got.headers.get("content-type"), type);
      assert.ok(bytes.equals(await bytesOf(got)));
    }
  });

  test("is a child of its folder under rules, routers and names of drives", async (t) => {
    const { backend } = large(t);
    const tree = new CompositeBackend(new StateBackend(), {
      "/films/": withPolicy(backend, { readOnlyPrefixes: ["/"] }),
    });
    const { url } = await over(t, tree, { webdav: true });
    const got = await fetch(`${url}/films/film.bin`);
    assert.ok(BYTES.equals(await bytesOf(got)));
    const found = await fetch(`${url}/films/film.bin`, {
      method: "PROPFIND",
      headers: { depth: "0" },
    });
    assert.match(await found.text(), new RegExp(`getcontentlength>${SIZE}<`));
    const hidden = withPolicy(backend, {
      permissions: [{ operations: ["read"], paths: ["/**"], mode: "deny" }],
    });
    const closed = await over(t, hidden);
    for (const headers of [{}, { range: "bytes=0-9" }, { range: "bytes=-9" }]) {
      const refused = await fetch(`${closed.url}/film.bin`, { headers });
      assert.equal(refused.status, 403);
      assert.equal((await refused.json()).code, "permission_denied");
    }
  });

  test("comes from a turn and from memory as well, which have it whole", async (t) => {
    const { backend } = large(t);
    const memory = new StateBackend();
    await memory.uploadFiles([["/film.bin", new Uint8Array(BYTES)]]);
    for (const one of [begin(backend), memory]) {
      const { url } = await over(t, one);
      assert.ok(BYTES.equals(await bytesOf(await fetch(`${url}/film.bin`))));
      const part = await fetch(`${url}/film.bin`, { headers: { range: "bytes=2000000-2000009" } });
      assert.ok(BYTES.subarray(2_000_000, 2_000_010).equals(await bytesOf(part)));
    }
  });

  test("is larger than a file may be that is read at once", async (t) => {
    const { rootDir } = large(t);
    const backend = new FilesystemBackend({ rootDir, maxFileBytes: 2 * MIB });
    const { url } = await over(t, backend, { maxResultBytes: MIB });
    assert.ok(BYTES.equals(await bytesOf(await fetch(`${url}/film.bin`))));
  });
});

describe("places of a client", () => {
  const ends = {
    "read to the end": (got) => got.arrayBuffer(),
    "that is given up": (got) => got.body.cancel(),
    "that breaks off": async (got, { file }) => {
      const reader = got.body.getReader();
      await reader.read();
      await later(50);
      rmSync(file);
      await assert.rejects(async () => {
        while (!(await reader.read()).done);
      });
    },
    "that nobody reads on": (got) => got.body.getReader().read(),
  };
  for (const [what, end] of Object.entries(ends)) {
    test(`an answer ${what} gives its place back, and keeps it until then`, async (t) => {
      const made = large(t);
      const timeoutMs = what === "that nobody reads on" ? 3000 : 60_000;
      const serve = serveFiles(() => made.backend, { maxParallel: 1, timeoutMs });
      const get = (path) => serve(new Request(`http://files.test${path}`));
      const got = await get("/film.bin");
      assert.equal(got.status, 200);
      assert.equal((await get("/film.bin")).status, 429);
      await end(got, made);
      const until = Date.now() + (what === "that nobody reads on" ? 30_000 : 0);
      let { status } = await get("/film.bin");
      while (status === 429 && Date.now() < until) {
        await later(100);
        ({ status } = await get("/film.bin"));
      }
      assert.notEqual(status, 429);
    });
  }

  test("a client that goes away ends the reading", async (t) => {
    const { backend, reads } = large(t, randomBytes(20 * MIB));
    const { url } = await served(t, () => backend, { maxParallel: 1 });
    const away = new AbortController();
    const got = await fetch(`${url}/film.bin`, { signal: away.signal });
    await got.body.getReader().read();
    away.abort();
    for (let tries = 0; tries < 50; tries++) {
      await later(20);
      const next = await fetch(`${url}/film.bin`, { method: "HEAD" });
      if (next.status === 200) break;
    }
    assert.ok(reads.length < 22, `${reads.length} reads`);
    assert.equal((await fetch(`${url}/film.bin`, { method: "HEAD" })).status, 200);
  });
});

describe("readRaw of a part", () => {
  test("crosses with its place and version", async (t) => {
    const { backend } = large(t);
    const { files } = await over(t, backend);
    const { data, part, error } = await files.readRaw("/film.bin", { start: 5, end: 15 });
    assert.equal(error, undefined);
    assert.deepEqual(Buffer.from(data.content), BYTES.subarray(5, 15));
    const { part: own } = await backend.readRaw("/film.bin", { start: 5, end: 15 });
    assert.deepEqual(part, own);
    assert.ok(part.version);
    const missing = await files.readRaw("/missing", { start: 0, end: 1 });
    assert.equal(missing.code, "not_found");
  });

  test("a wrong place is refused by the server too", async (t) => {
    const { url } = await over(t, new StateBackend({ files: { "/a": "1" } }));
    for (const fields of [{ start: -1 }, { end: 1.5 }, { start: "0" }, { end: "5" }]) {
      const answer = await posted(url, { op: "readRaw", path: "/a", ...fields });
      assert.equal(answer.status, 400, JSON.stringify(fields));
    }
    assert.ok(new HttpBackend({ url }));
  });
});
