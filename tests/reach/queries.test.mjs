// Reads in a header: what a server takes, and that nobody takes another answer for theirs. And what functions of
// the owner see behind Node's own server.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import test, { describe } from "node:test";
import { at } from "../../scripts/lib/paths.mjs";
import { HttpBackend, over, StateBackend, serveFiles } from "./lib.mjs";

const start = (files = { "/d/a.txt": "one\n", "/b.txt": "two\n" }) =>
  new StateBackend({ files, writeMode: "overwrite" });
const asked = (url, query, headers = {}) =>
  fetch(`${url}/`, {
    headers: {
      "x-kitbag-query": typeof query === "string" ? query : JSON.stringify(query),
      ...headers,
    },
  });

/** A server with the listener, until the test is done. */
async function listening(t, backendOf, options) {
  const server = createServer(serveFiles(backendOf, options).listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

describe("a read in a header", () => {
  test("is answered as a POST would be, for nobody else", async (t) => {
    const { url } = await over(t, start());
    const answer = await asked(url, { op: "read", path: "/d/a.txt" });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
    assert.equal((await answer.json()).content, "one\n");
    const missing = await asked(url, { op: "read", path: "/no" });
    assert.equal(missing.status, 404);
    const lines = await asked(
      url,
      { op: "grep", pattern: "o" },
      { accept: "application/x-ndjson" },
    );
    assert.equal(lines.headers.get("content-type"), "application/x-ndjson");
    const rows = (await lines.text()).trimEnd().split("\n").map(JSON.parse);
    assert.deepEqual(rows.map(({ path }) => path).sort(), ["/b.txt", "/d/a.txt", undefined]);
    assert.ok("end" in rows.at(-1));
  });

  for (const [what, query, status] of [
    ["a change", { op: "write", path: "/x", content: "" }, 400],
    ["a commit", { op: "commit", files: [] }, 400],
    ["a deletion", { op: "delete", path: "/b.txt" }, 400],
    ["no JSON", "{", 400],
    ["another value", "[]", 400],
    ["nothing", " ", 400],
    ["an unknown operation", { op: "none" }, 501],
    ["an unknown field", { op: "read", path: "/b.txt", more: 1 }, 400],
    ["too much", { op: "read", path: `/${"x".repeat(5000)}` }, 400],
    ["letters beyond ASCII", `{"op":"read","path":"/\u00e4"}`, 400],
    ["bytes behind it", `{"op":"append","path":"/b.txt","content":{"bytes":[0,1]}}`, 400],
  ]) {
    test(`with ${what} is refused`, async (t) => {
      const backend = start();
      const { url } = await over(t, backend);
      const answer = await asked(url, query);
      assert.equal(answer.status, status);
      assert.equal(typeof (await answer.json()).error, "string");
      assert.equal(backend.read("/b.txt").content, "two\n");
    });
  }

  test("may have as many characters as docs/server.openapi.json says", async (t) => {
    const api = JSON.parse(readFileSync(at("docs/server.openapi.json"), "utf8"));
    const named = api.paths["/"].get.parameters.find(({ name }) => name === "x-kitbag-query");
    const { maxLength, pattern } = named.schema;
    const { url } = await over(t, start());
    const empty = JSON.stringify({ op: "read", path: "/" });
    const query = (length) =>
      JSON.stringify({ op: "read", path: `/${"x".repeat(length - empty.length)}` });
    assert.match(query(maxLength), new RegExp(pattern));
    // Long names are well-formed, but no file has one.
    const fits = await (await asked(url, query(maxLength))).json();
    assert.doesNotMatch(fits.error, /x-kitbag-query/);
    const tooLong = await (await asked(url, query(maxLength + 1))).json();
    assert.match(tooLong.error, /x-kitbag-query/);
  });

  test("is only one at the root, by GET", async (t) => {
    const { url } = await over(t, start());
    const headers = { "x-kitbag-query": JSON.stringify({ op: "read", path: "/d/a.txt" }) };
    assert.equal(await (await fetch(`${url}/b.txt`, { headers })).text(), "two\n");
    assert.ok("files" in (await (await fetch(`${url}/d/`, { headers })).json()));
    assert.equal(await (await fetch(`${url}/`, { method: "HEAD", headers })).text(), "");
    const post = { method: "POST", headers: { ...headers, "x-kitbag": "1" } };
    assert.equal((await fetch(`${url}/`, post)).status, 400);
  });

  test("may come from an allowed page, and from no other", async (t) => {
    const origin = "https://app.example";
    const { url } = await over(t, start(), { origins: [origin] });
    const query = { op: "read", path: "/b.txt" };
    const answer = await asked(url, query, { origin });
    assert.equal(answer.headers.get("access-control-allow-origin"), origin);
    assert.equal((await asked(url, query, { origin: "https://evil.example" })).status, 403);
    assert.equal((await asked(url, query, { "sec-fetch-site": "cross-site" })).status, 403);
  });

  test("whose header is lost gets no answer to another question", async (t) => {
    const { url } = await over(t, start());
    const bare = (address, init) => {
      const { "x-kitbag-query": _, ...headers } = init.headers;
      return fetch(address, { ...init, headers });
    };
    const files = new HttpBackend({ url, fetch: bare });
    for (const call of ["ls", "read", "readRaw"]) {
      const { error, code } = await files[call]("/d");
      assert.equal(code, "unavailable", call);
      assert.match(error, /not as serveFiles does/);
    }
  });

  test("that is long, or has other letters, is a POST", async (t) => {
    const files = start({ "/\u00e4": "1", [`/${"x".repeat(200)}/${"y".repeat(200)}`]: "2" });
    const methods = [];
    const { url } = await over(t, files);
    const there = new HttpBackend({
      url,
      fetch: (address, init) => {
        methods.push(init.method);
        return fetch(address, init);
      },
    });
    assert.equal((await there.read("/\u00e4")).content, "1");
    assert.equal((await there.grep("2")).matches.length, 1);
    assert.equal((await there.grep("3".repeat(2000))).matches.length, 0);
    // The first asks what the server guarantees.
    assert.deepEqual(methods, ["GET", "POST", "GET", "POST"]);
  });
});

describe("behind Node's own server", () => {
  test("the owner's functions see a Request", async (t) => {
    const seen = [];
    const look = (request) => {
      const { method, headers, mode } = request;
      const { pathname } = new URL(request.url);
      seen.push([request instanceof Request, method, pathname, headers.get("authorization"), mode]);
      assert.equal([...headers].length > 0, true);
      assert.equal(request.clone() instanceof Request, true);
      assert.equal(request.signal.aborted, false);
      assert.equal("headers" in request, true);
    };
    const backend = start();
    const url = await listening(
      t,
      (request) => {
        look(request);
        return request.headers.get("authorization") === "Bearer t" ? backend : null;
      },
      {
        client: (request) => {
          look(request);
          return "me";
        },
      },
    );
    const files = new HttpBackend({ url, headers: { authorization: "Bearer t" } });
    assert.equal((await files.read("/b.txt")).content, "two\n");
    assert.equal((await files.write("/c.txt", "three")).error, undefined);
    assert.equal((await new HttpBackend({ url }).read("/b.txt")).code, "permission_denied");
    assert.ok(seen.length >= 5);
    assert.deepEqual(seen[0], [true, "GET", "/", "Bearer t", "cors"]);
  });

  test("a Response of the owner is passed on, and what is thrown is told", async (t) => {
    const told = [];
    const url = await listening(
      t,
      (request) => {
        if (request.headers.has("x-throw")) throw new Error("secret");
        const headers = new Headers({ "x-own": "1" });
        for (const cookie of ["a=1", "b=2"]) headers.append("set-cookie", cookie);
        return new Response("sign in", { status: 402, headers });
      },
      { onError: (error, request) => told.push([error.message, request instanceof Request]) },
    );
    const answer = await fetch(`${url}/b.txt`);
    assert.deepEqual(
      [answer.status, answer.headers.get("x-own"), await answer.text()],
      [402, "1", "sign in"],
    );
    assert.deepEqual(answer.headers.getSetCookie(), ["a=1", "b=2"]);
    const failed = await fetch(`${url}/b.txt`, { headers: { "x-throw": "1" } });
    assert.equal(failed.status, 500);
    assert.ok(!(await failed.text()).includes("secret"));
    assert.deepEqual(told, [["secret", true]]);
  });

  test("a search of 3 MB comes whole, and one that is not read on harms nobody", async (t) => {
    const line = "needle in a line of some length, to fill the answer\n";
    const backend = start({ "/big.txt": line.repeat(40_000) });
    const url = await listening(t, () => backend);
    const { matches, truncated } = await new HttpBackend({ url }).grep("needle");
    assert.deepEqual([matches.length, truncated], [40_000, undefined]);
    const controller = new AbortController();
    const { signal } = controller;
    const body = JSON.stringify({ op: "grep", pattern: "needle" });
    const headers = { "x-kitbag-query": body, accept: "application/x-ndjson" };
    const half = await fetch(`${url}/`, { headers, signal });
    await half.body.getReader().read();
    controller.abort();
    assert.equal((await new HttpBackend({ url }).read("/big.txt", 0, 1)).content, line.trimEnd());
  });
});
