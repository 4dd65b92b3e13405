// The words of HTTP, as `curl` and browsers use them, and what only kitbag has.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test, { describe } from "node:test";
import { at } from "../../scripts/lib/paths.mjs";
import {
  begin,
  CompositeBackend,
  HttpBackend,
  over,
  posted,
  StateBackend,
  served,
  serveFiles,
  withPolicy,
} from "./lib.mjs";

const OWN = { "x-kitbag": "1" };
const put = (url, body, headers = {}) =>
  fetch(url, { method: "PUT", body, headers: { ...OWN, ...headers } });
const remove = (url, headers = {}) =>
  fetch(url, { method: "DELETE", headers: { ...OWN, ...headers } });
const start = (files = {}) => new StateBackend({ files, writeMode: "overwrite" });

describe("files", () => {
  test("GET and HEAD have type, size, time and version", async (t) => {
    const { url } = await over(t, start({ "/d/ä b.txt": "zwölf\n" }));
    const got = await fetch(`${url}/d/${encodeURIComponent("ä b.txt")}`);
    assert.equal(await got.text(), "zwölf\n");
    assert.equal(got.headers.get("content-type"), "text/plain;charset=utf-8");
    assert.equal(got.headers.get("content-length"), "7");
    assert.ok(Math.abs(new Date(got.headers.get("last-modified")) - Date.now()) < 60_000);
    const head = await fetch(`${url}/d/${encodeURIComponent("ä b.txt")}`, { method: "HEAD" });
    assert.equal(head.headers.get("etag"), got.headers.get("etag"));
    assert.equal(head.headers.get("content-length"), "7");
    assert.equal(await head.text(), "");
    const again = { "if-none-match": got.headers.get("etag") };
    assert.equal((await fetch(got.url, { headers: again })).status, 304);
    assert.equal((await fetch(`${url}/missing`)).status, 404);
  });

  const RANGES = [
    ["bytes=0-2", 206, "012", "bytes 0-2/10"],
    ["bytes=7-", 206, "789", "bytes 7-9/10"],
    ["bytes=-2", 206, "89", "bytes 8-9/10"],
    ["Bytes=0-0", 206, "0", "bytes 0-0/10"],
    ["bytes=5-99", 206, "56789", "bytes 5-9/10"],
    ["bytes=-99", 206, "0123456789", "bytes 0-9/10"],
    ["bytes=10-", 416, undefined, "bytes */10"],
    ["bytes=-0", 416, undefined, "bytes */10"],
    ["bytes=5-2", 200, "0123456789", null],
    ["bytes=0-1,4-5", 200, "0123456789", null],
    ["lines=1-2", 200, "0123456789", null],
  ];
  for (const [range, status, body, place] of RANGES) {
    test(`Range: ${range} is answered ${status}`, async (t) => {
      const { url } = await over(t, start({ "/a": "0123456789" }));
      const answer = await fetch(`${url}/a`, { headers: { range } });
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get("content-range"), place);
      const text = await answer.text();
      if (body !== undefined) assert.equal(text, body);
    });
  }

  test("HEAD knows no ranges", async (t) => {
    const { url } = await over(t, start({ "/a": "0123456789" }));
    for (const range of ["bytes=0-2", "bytes=-2", "bytes=99-"]) {
      const head = await fetch(`${url}/a`, { method: "HEAD", headers: { range } });
      assert.equal(head.status, 200);
      assert.equal(head.headers.get("content-length"), "10");
      assert.equal(head.headers.get("content-range"), null);
      assert.equal(head.headers.get("accept-ranges"), "bytes");
    }
  });

  for (const size of [3, 3 << 20]) {
    test(`a PUT of ${size} bytes that are packed is refused`, async (t) => {
      const backend = start();
      const { url } = await over(t, backend);
      const body = new Uint8Array(size);
      for (const encoding of ["gzip", "BR", "identity, gzip"]) {
        const answer = await put(`${url}/a`, body, { "content-encoding": encoding });
        assert.equal(answer.status, 415);
        assert.equal((await answer.json()).code, "unsupported");
      }
      assert.equal(backend.read("/a").code, "not_found");
      assert.equal((await put(`${url}/a`, body, { "content-encoding": "Identity" })).status, 204);
    });
  }

  test("a range of another version is the whole file", async (t) => {
    const { url } = await over(t, start({ "/a": "0123456789" }));
    const headers = { range: "bytes=0-2", "if-range": '"other"' };
    assert.equal((await fetch(`${url}/a`, { headers })).status, 200);
  });

  test("PUT and DELETE with and without conditions", async (t) => {
    const backend = start();
    const { url } = await over(t, backend);
    assert.equal((await put(`${url}/a`, "one", { "if-none-match": "*" })).status, 201);
    assert.equal((await put(`${url}/a`, "two", { "if-none-match": "*" })).status, 412);
    assert.equal(backend.read("/a").content, "one");
    const first = (await fetch(`${url}/a`)).headers.get("etag");
    const second = await put(`${url}/a`, "two", { "if-match": first });
    assert.equal(second.status, 204);
    assert.equal((await fetch(`${url}/a`)).headers.get("etag"), second.headers.get("etag"));
    assert.equal((await put(`${url}/a`, "three", { "if-match": first })).status, 412);
    assert.equal((await put(`${url}/b`, "x", { "if-match": first })).status, 412);
    assert.equal((await put(`${url}/a`, "four")).status, 204);
    assert.equal((await remove(`${url}/a`, { "if-match": first })).status, 412);
    assert.equal((await remove(`${url}/a`)).status, 204);
    assert.equal((await remove(`${url}/a`)).status, 404);
    const bytes = new Uint8Array([0, 255, 10, 13]);
    assert.equal((await put(`${url}/b.bin`, bytes)).status, 204);
    assert.deepEqual(new Uint8Array(await (await fetch(`${url}/b.bin`)).arrayBuffer()), bytes);
  });

  test("a directory is listed, other methods are refused with those there are", async (t) => {
    const { url } = await over(t, start({ "/d/a": "1", "/d/e/b": "2" }));
    const { files } = await (await fetch(`${url}/d/`)).json();
    assert.deepEqual(
      files.map(({ path }) => path),
      ["/d/a", "/d/e/"],
    );
    const answer = await fetch(`${url}/d/a`, { method: "PATCH", headers: OWN });
    assert.equal(answer.status, 405);
    assert.equal(answer.headers.get("allow"), "GET, HEAD, PUT, DELETE");
  });
});

describe("operations", () => {
  test("with curl's JSON: bytes are base64", async (t) => {
    const { url } = await over(t, start());
    const content = { base64: "AAH/" };
    assert.equal((await posted(url, { op: "write", path: "/a.bin", content })).status, 200);
    const read = await (await posted(url, { op: "read", path: "/a.bin" })).json();
    assert.deepEqual(read.content, content);
    const wrong = await posted(url, { op: "read", path: "/a.bin", ofset: 3 });
    assert.equal(wrong.status, 400);
    assert.match((await wrong.json()).error, /no field "ofset"; is "offset" meant\?/);
  });

  test("a listing in pages", async (t) => {
    const names = Array.from({ length: 25 }, (_, n) => `/d/${String(n).padStart(2, "0")}`);
    const { url } = await over(t, start(Object.fromEntries(names.map((name) => [name, ""]))));
    const seen = [];
    let after;
    do {
      const answer = await posted(url, { op: "ls", path: "/d", limit: 10, after });
      const { files, next } = await answer.json();
      seen.push(...files.map(({ path }) => path));
      after = next;
    } while (after !== undefined);
    assert.deepEqual(seen, names);
  });

  test("a search line by line", async (t) => {
    const { url } = await over(t, start({ "/a": "hit\nno\nhit\n" }));
    const answer = await posted(
      url,
      { op: "grep", pattern: "hit" },
      { accept: "application/x-ndjson" },
    );
    const lines = (await answer.text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      lines.map(({ line }) => line),
      [1, 3, undefined],
    );
    assert.ok(lines[2].end);
  });

  test("the same key gives the same answer, another request or an old key none", async (t) => {
    const backend = start({ "/a": "" });
    const { url } = await over(t, backend);
    const ticket = (await posted(url, { op: "capability" })).headers.get("kitbag-ticket");
    const key = { "idempotency-key": `${ticket}.abcdefgh` };
    const append = (content) => posted(url, { op: "append", path: "/a", content }, key);
    assert.equal((await append("x")).status, 200);
    assert.equal((await append("x")).status, 200);
    assert.equal(backend.read("/a").content, "x");
    assert.equal((await append("y")).status, 400);
    const old = { "idempotency-key": "0123456789abcdef.0.abcdefgh" };
    const stale = await posted(url, { op: "append", path: "/a", content: "z" }, old);
    assert.equal(stale.status, 409);
    assert.equal(stale.headers.get("kitbag-stale"), "1");
    assert.equal(backend.read("/a").content, "x");
  });

  test("keys that were dropped are refused, not made again", async () => {
    const backend = start({ "/a": "" });
    const serve = serveFiles(() => backend);
    const ask = (fields, headers = {}) =>
      serve(
        new Request("http://files.test/", {
          method: "POST",
          headers: { ...OWN, "content-type": "application/json", ...headers },
          body: JSON.stringify(fields),
        }),
      );
    let ticket = (await ask({ op: "capability" })).headers.get("kitbag-ticket");
    const first = { "idempotency-key": `${ticket}.firstkey` };
    const append = (headers) => ask({ op: "append", path: "/a", content: "x" }, headers);
    for (let n = 0; n < 2; n++) assert.equal((await append(first)).status, 200);
    for (let n = 0; n < 1100; n++) {
      const key = { "idempotency-key": `${ticket}.later-${n}-key` };
      const answer = await ask({ op: "delete", path: "/missing" }, key);
      assert.equal(answer.status, 404);
      ticket = answer.headers.get("kitbag-ticket");
    }
    assert.equal((await append(first)).status, 409);
    assert.equal(backend.read("/a").content, "x");
  });
});

describe("HttpBackend", () => {
  test("tells the server's capability after the first call, and keeps its rules", async (t) => {
    const inner = start({ "/a": "1" });
    const { files } = await over(t, withPolicy(inner, { readOnlyPrefixes: ["/"] }));
    assert.equal(files.capability.create, "never");
    assert.match(files.capability.notes[0], /not asked yet/);
    const { code, error } = await files.write("/b", "2");
    assert.equal(code, "permission_denied", error);
    assert.equal(files.capability.create, "storage");
  });

  test("under a router and a policy, with paths of their own", async (t) => {
    const { files } = await over(t, start({ "/x/a.txt": "needle" }));
    const tree = withPolicy(new CompositeBackend(start(), { "/far/": files }), {
      readOnlyPrefixes: ["/far/x/"],
    });
    const { matches } = await tree.grep("needle");
    assert.deepEqual(
      matches.map(({ path }) => path),
      ["/far/x/a.txt"],
    );
    assert.equal((await tree.write("/far/x/b", "1")).code, "permission_denied");
    assert.match((await tree.read("/far/none")).error, /'\/far\/none' not found/);
    assert.equal((await tree.write("/far/b", "1")).error, undefined);
  });

  test("a turn is committed by the server as one", async (t) => {
    const inner = start({ "/a": "1", "/b": "2" });
    const { files } = await over(t, inner);
    await files.ls("/");
    const turn = begin(files, { writeMode: "overwrite" });
    await turn.write("/a", "one");
    await turn.delete("/b");
    await turn.write("/c", "three");
    assert.equal(turn.capability.commit, "transaction");
    assert.ok((await turn.commit()).receipt);
    assert.deepEqual(
      inner
        .glob("**")
        .files.map(({ path }) => path)
        .sort(),
      ["/a", "/c"],
    );
    const other = begin(files, { writeMode: "overwrite" });
    await other.write("/a", "mine");
    await other.write("/d", "4");
    inner.write("/a", "theirs");
    const refused = await other.commit();
    assert.equal(refused.code, "conflict", refused.error);
    assert.equal(refused.conflicts[0].path, "/a");
    assert.equal(inner.read("/d").code, "not_found");
  });

  test("headers come from a function, and a wrong address says so", async (t) => {
    let token = 0;
    const seen = [];
    const { url } = await served(t, (request) => {
      seen.push(request.headers.get("authorization"));
      return start({ "/a": "1" });
    });
    const files = new HttpBackend({
      url: `${url}/`,
      headers: async () => ({ Authorization: `Bearer ${++token}` }),
    });
    assert.equal((await files.read("/a")).content, "1");
    assert.deepEqual(seen, ["Bearer 1", "Bearer 2"]);
    const elsewhere = new HttpBackend({ url, fetch: async () => new Response("<html>") });
    const { error, code } = await elsewhere.read("/a");
    assert.equal(code, "unavailable");
    assert.match(error, /option "url"|"url"/);
  });

  test("a call that is given up ends the server's work", async (t) => {
    const state = start({ "/a": "1" });
    let aborted = () => {};
    const gone = new Promise((resolve) => {
      aborted = resolve;
    });
    const slow = new Proxy(state, {
      get: (target, name) => {
        if (name === "grep") {
          return (_a, _b, _c, _d, { signal }) =>
            new Promise((resolve) => {
              signal.addEventListener("abort", () => {
                aborted(true);
                resolve({ error: "over", code: "timeout" });
              });
            });
        }
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const { files } = await over(t, slow);
    assert.equal((await files.grep("x", "/", null, null, { timeoutMs: 200 })).code, "timeout");
    assert.equal(await gone, true);
  });

  test("changes are heard, and after a broken connection a rescan is asked for", async (t) => {
    const listeners = new Set();
    const state = start({ "/a": "1" });
    const watched = new Proxy(state, {
      get: (target, name) => {
        if (name === "watch") {
          return (_path, hear) => {
            listeners.add(hear);
            return () => listeners.delete(hear);
          };
        }
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const { files, server } = await over(t, watched, { client: { watch: true } });
    const heard = [];
    const until = async (is) => {
      while (!is()) await new Promise((resolve) => setTimeout(resolve, 10));
    };
    const stop = files.watch("/d", (changes) => heard.push(changes));
    await until(() => listeners.size === 1);
    for (const hear of listeners) hear({ paths: ["/d/x", "/other"] });
    await until(() => heard.length === 1);
    assert.deepEqual(heard[0], { paths: ["/d/x"] });
    server.closeAllConnections();
    await until(() => heard.some(({ rescan }) => rescan));
    await until(() => listeners.size === 1);
    stop();
    await until(() => listeners.size === 0);
  });
});

test("options of both ends are checked", () => {
  const backendOf = () => start();
  assert.throws(() => serveFiles(), /serveFiles: the first argument must be a function/);
  assert.throws(() => serveFiles(backendOf, { orgins: [] }), /"origins" meant/);
  assert.throws(
    () => serveFiles(backendOf, { origins: ["evil.test"] }),
    /option "origins" must be/,
  );
  assert.throws(() => serveFiles(backendOf, { maxParallel: 0 }), /option "maxParallel" must be/);
  assert.throws(() => new HttpBackend({}), /option "url"/);
  assert.throws(() => new HttpBackend({ url: "/files" }), /option "url" must be/);
  assert.throws(() => new HttpBackend({ url: "http://user:pw@h/" }), /option "url" must be/);
  assert.throws(() => new HttpBackend({ url: "http://h/", headers: { a: 1 } }), /option "headers"/);
});

test("a page of an allowed origin may use the files", async (t) => {
  const origin = "https://app.example";
  const { url } = await served(t, () => start({ "/a": "1" }), { origins: [origin] });
  const ask = await fetch(`${url}/`, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-headers": "authorization,x-kitbag" },
  });
  assert.equal(ask.status, 204);
  assert.equal(ask.headers.get("access-control-allow-headers"), "authorization, x-kitbag");
  const got = await fetch(`${url}/a`, { headers: { origin } });
  assert.equal(got.headers.get("access-control-allow-origin"), origin);
});

describe("the OpenAPI file", () => {
  const api = JSON.parse(readFileSync(at("docs/server.openapi.json"), "utf8"));
  const operations = api.paths["/"].post.requestBody.content["application/json"].schema.oneOf.map(
    ({ $ref }) => api.components.schemas[$ref.split("/").at(-1)],
  );

  test("names the operations of the server", async (t) => {
    const { url } = await over(t, start());
    const { error } = await (await posted(url, { op: "none" })).json();
    const known = error.slice(error.indexOf("one of ") + 7).split(", ");
    const named = operations.map(({ properties }) => properties.op.const);
    assert.deepEqual(named.sort(), known.sort());
  });

  for (const { properties, required } of operations) {
    const op = properties.op.const;
    test(`${op} has these fields`, async (t) => {
      const { url } = await over(t, start());
      const fields = Object.keys(properties).filter((name) => name !== "op");
      const { error } = await (await posted(url, { op, qqqqqqqqq: 1 })).json();
      const list = /(?:fields are|only one is) (.*)$/.exec(error)?.[1].split(", ") ?? [];
      assert.deepEqual(list.sort(), [...fields].sort(), error);
      for (const name of required.filter((one) => one !== "op")) {
        const values = Object.fromEntries(
          fields.filter((one) => one !== name).map((one) => [one, example(properties[one])]),
        );
        const answer = await posted(url, { op, ...values });
        assert.equal(answer.status, 400, name);
        assert.match((await answer.json()).error, new RegExp(`"${name}"`));
      }
    });
  }

  /** A value that a schema allows. */
  function example(schema) {
    const { $ref, type, items, oneOf, properties } = schema;
    if ($ref) return example(api.components.schemas[$ref.split("/").at(-1)]);
    if (oneOf) return example(oneOf[0]);
    if (type === "array") return [example(items)];
    if (type === "object") {
      return Object.fromEntries(
        Object.entries(properties).map(([name, one]) => [name, example(one)]),
      );
    }
    return { string: "/a", integer: 1, boolean: true, null: null }[type];
  }

  test("has the methods of files, with answers of these kinds", async (t) => {
    const { url } = await over(t, start({ "/a": "1" }));
    const file = api.paths["/{path}"];
    assert.deepEqual(
      Object.keys(file)
        .filter((name) => name !== "parameters")
        .sort(),
      ["delete", "get", "head", "put"],
    );
    for (const [method, { responses }] of Object.entries(file)) {
      if (method === "parameters") continue;
      for (const path of ["/a", "/missing"]) {
        const answer = await fetch(`${url}${path}`, {
          method: method.toUpperCase(),
          headers: OWN,
          ...(method === "put" ? { body: "1" } : {}),
        });
        assert.ok(responses[answer.status], `${method} ${path}: ${answer.status}`);
      }
    }
  });
});
