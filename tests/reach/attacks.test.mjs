// Attacks over the wire. Alice may write below /alice and read /public; whatever she, or a page that she
// visits, sends: no byte of a secret comes out, and nothing outside her directory changes.

import assert from "node:assert/strict";
import test, { after, before, describe } from "node:test";
import { files, others, rules, SECRET } from "./alice.mjs";
import { answerTo, listen, posted, StateBackend, served, serveFiles, withPolicy } from "./lib.mjs";

const start = () => ({ ...files, "/alice/page.html": "<script>steal()</script>" });

let state;
let url;
let port;

const raw = (text, options) => answerTo(port, text, options);
const rawGet = (path, more = "") =>
  raw(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: alice\r\n${more}Connection: close\r\n\r\n`,
  );
const alice = (path, init = {}) =>
  fetch(`${url}${path}`, { ...init, headers: { authorization: "alice", ...init.headers } });
const op = (fields, headers = {}) => posted(url, fields, { authorization: "alice", ...headers });
/** As a page of another site, with Alice's cookie and what a form can send. */
const page = (init) =>
  fetch(`${url}${init.path ?? "/"}`, {
    ...init,
    headers: { cookie: "session=alice", ...init.headers },
  });
const bytes = (text) => ({ base64: btoa(text) });

const PATHS = [
  "/secret/key.txt",
  "/alice/../secret/key.txt",
  "/alice/%2e%2e/secret/key.txt",
  "/alice/%2e%2e%2fsecret%2fkey.txt",
  "/alice%2f..%2fsecret%2fkey.txt",
  "//secret/key.txt",
  "/./secret/key.txt",
  "/alice/..%5csecret%5ckey.txt",
  "/%73ecret/key.txt",
  "/secret%00/key.txt",
  "/secret/key.txt%00.png",
  "/secret/key.txt/",
  "/secret/.%2fkey.txt",
  "/%c0%ae%c0%ae/secret/key.txt",
  "/alice/%252e%252e/secret/key.txt",
  "/secret;a=b/key.txt",
  "/secret/key.txt?download",
  "/~/secret/key.txt",
  "/C:/secret/key.txt",
  "/alice/%0d%0aSet-Cookie:%20a=b",
];

const ATTACKS = {
  ...Object.fromEntries(PATHS.map((path) => [`GET ${path}`, () => rawGet(path)])),
  "an address in absolute form": () => rawGet(`http://127.0.0.1:${port}/secret/key.txt`),
  "a path in a header": () =>
    rawGet(
      "/public/a.txt",
      "X-Original-URL: /secret/key.txt\r\nX-Rewrite-URL: /secret/key.txt\r\n",
    ),
  "readRaw of a secret": () => op({ op: "readRaw", path: "/secret/key.txt" }),
  "downloadFiles of a secret": () =>
    op({ op: "downloadFiles", paths: ["/alice/own.txt", "/secret/key.txt"] }),
  "grep of everything": () => op({ op: "grep", pattern: "S3C", path: "/", before: 5 }),
  "grep of one secret": () => op({ op: "grep", pattern: "", path: "/secret/key.txt" }),
  "copy of a secret": () => op({ op: "copy", from: "/secret/key.txt", to: "/alice/key.txt" }),
  "move of a secret": () => op({ op: "move", from: "/secret/key.txt", to: "/alice/key.txt" }),
  "copy of the directory above": () => op({ op: "copy", from: "/", to: "/alice/all" }),
  "copy from another server": () =>
    op({ op: "copy", from: "http://169.254.169.254/latest/meta-data", to: "/alice/meta" }),
  "copy from a file of the host": () =>
    op({ op: "copy", from: "file:///etc/passwd", to: "/alice/passwd" }),
  "write over another's file": () => op({ op: "write", path: "/bob/diary.txt", content: "mine" }),
  "upload with one forbidden file": () =>
    op({
      op: "uploadFiles",
      files: [
        { path: "/alice/x", content: bytes("x") },
        { path: "/bob/x", content: bytes("x") },
      ],
    }),
  "append to another's file": () => op({ op: "append", path: "/public/a.txt", content: "!" }),
  "edit that guesses a secret": () =>
    op({ op: "edit", path: "/secret/key.txt", oldString: "S3CRET", newString: "known" }),
  "delete of everything": () => op({ op: "delete", path: "/" }),
  "delete that asks for a content": () =>
    op({ op: "delete", path: "/secret/key.txt", unchanged: bytes(SECRET) }),
  "a commit with a forbidden file": () =>
    op({
      op: "commit",
      files: [
        { path: "/alice/own.txt", before: bytes("hers"), after: bytes("new") },
        { path: "/bob/diary.txt", before: bytes(`${SECRET} of bob`), after: bytes("mine") },
      ],
    }),
  "a commit that asks for a content": () =>
    op({ op: "commit", files: [{ path: "/secret/key.txt", before: bytes("a"), after: null }] }),
  "stat of a secret": () => op({ op: "stat", path: "/secret/key.txt" }),
  "an operation that is a property of every object": () => op({ op: "constructor" }),
  "an operation named __proto__": () => op('{"op":"__proto__"}'),
  "a command": () => op({ op: "execute", command: "id" }),
  "__proto__ in a request": () =>
    op(`{"op":"read","path":"/public/a.txt","__proto__":{"path":"/secret/key.txt"}}`),
  "a field twice": () => op(`{"op":"read","path":"/public/a.txt","path":"/secret/key.txt"}`),
  "a path that is an array": () => op({ op: "read", path: ["/public/a.txt", "/secret/key.txt"] }),
  "a library's own file": () => op({ op: "read", path: "/.kitbag/key" }),
  "100,000 levels of JSON": () => op(`{"op":"read","path":${"[".repeat(100_000)}`),
  "bytes that are not in the body": () =>
    op('{"op":"write","path":"/alice/z","content":{"bytes":[0,99999]}}\nx', {
      "content-type": "application/vnd.kitbag",
    }),
  "another method in a header": () =>
    alice("/alice/../public/a.txt", { headers: { "x-http-method-override": "DELETE" } }),
  "another method in a header of a POST": () =>
    op({ op: "read", path: "/public/a.txt" }, { "x-method-override": "DELETE" }),
  TRACE: () => raw(`TRACE / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: alice\r\n\r\n`),
  "a form of another site": () =>
    page({
      method: "POST",
      headers: { "content-type": "text/plain", origin: "https://evil.test" },
      body: '{"op":"delete","path":"/alice/own.txt"}',
    }),
  "a form without an origin": () =>
    page({
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: '{"op":"delete","path":"/alice/own.txt"}',
    }),
  "JSON of another site": () =>
    page({
      method: "POST",
      headers: { "content-type": "application/json", origin: "https://evil.test", "x-kitbag": "1" },
      body: '{"op":"delete","path":"/alice/own.txt"}',
    }),
  "a sandboxed frame": () =>
    page({
      method: "POST",
      headers: { "content-type": "application/json", origin: "null", "x-kitbag": "1" },
      body: '{"op":"delete","path":"/alice/own.txt"}',
    }),
  "DELETE of another site": () =>
    page({ path: "/alice/own.txt", method: "DELETE", headers: { origin: "https://evil.test" } }),
  "PUT without the header": () => page({ path: "/alice/own.txt", method: "PUT", body: "x" }),
  "an image of another site": () =>
    page({ path: "/alice/own.txt", headers: { "sec-fetch-site": "cross-site" } }),
  "an image of a sister site": () =>
    page({ path: "/alice/own.txt", headers: { "sec-fetch-site": "same-site" } }),
  "a question before a request": () =>
    page({
      method: "OPTIONS",
      headers: { origin: "https://evil.test", "access-control-request-method": "DELETE" },
    }),
  "a name that points here": () =>
    raw(
      `GET /alice/own.txt HTTP/1.1\r\nHost: evil.test\r\nAuthorization: alice\r\nConnection: close\r\n\r\n`,
    ),
  "another host in a header": () =>
    raw(
      `GET /alice/own.txt HTTP/1.1\r\nHost: evil.test\r\nX-Forwarded-Host: 127.0.0.1:${port}\r\nAuthorization: alice\r\nConnection: close\r\n\r\n`,
    ),
  nobody: () => fetch(`${url}/public/a.txt`),
  "two users at once": () => rawGet("/bob/diary.txt", "Authorization: bob\r\n"),
  "two users in one header": () =>
    fetch(`${url}/bob/diary.txt`, { headers: { authorization: "alice, bob" } }),
  "a key of no server": () =>
    op({ op: "write", path: "/bob/x", content: "x" }, { "idempotency-key": "x".repeat(40) }),
  "two keys": () =>
    raw(
      `DELETE /bob/diary.txt HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: alice\r\nX-Kitbag: 1\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\nConnection: close\r\n\r\n`,
    ),
  "two lengths": () =>
    raw(
      `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 5\r\nContent-Length: 50\r\n\r\nGET /secret/key.txt HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: bob\r\n\r\n`,
    ),
  "a length and chunks": () =>
    raw(
      `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /secret/key.txt HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`,
    ),
  "watching a secret": async () => {
    const controller = new AbortController();
    const stream = await fetch(`${url}/?watch=/secret`, {
      headers: { authorization: "alice" },
      signal: controller.signal,
    });
    if (!stream.ok) return stream;
    state.edit("/secret/key.txt", SECRET, SECRET);
    await new Promise((resolve) => setTimeout(resolve, 50));
    controller.abort();
    return new Response("", stream);
  },
};

describe("attacks", () => {
  let listening;
  before(async () => {
    state = new StateBackend({ files: start(), writeMode: "overwrite" });
    const user = (request) => {
      const { headers } = request;
      return headers.get("authorization") ?? /session=(\w+)/.exec(headers.get("cookie") ?? "")?.[1];
    };
    const backendOf = (request) =>
      user(request) === "alice"
        ? withPolicy(state, rules)
        : user(request) === "bob"
          ? state
          : undefined;
    listening = await listen((request) => serve(request));
    ({ url, port } = listening);
    const serve = serveFiles(backendOf, { timeoutMs: 2000, hosts: [`127.0.0.1:${port}`] });
  });
  after(() => listening.close());

  test("there are 60 of them", () => assert.ok(Object.keys(ATTACKS).length >= 60));

  for (const [name, attack] of Object.entries(ATTACKS)) {
    test(name, async () => {
      const unchanged = others(state);
      const own = state.read("/alice/own.txt").content;
      const answer = await attack();
      const text =
        typeof answer === "string"
          ? answer
          : JSON.stringify([...answer.headers]) + (await answer.text());
      assert.ok(!text.includes("S3CRET"), text);
      assert.ok(!/^set-cookie/im.test(text), text);
      assert.equal(others(state), unchanged);
      assert.equal(state.read("/alice/own.txt").content, own, "a page changed her file");
      for (const { path } of state.glob("**", "/alice").files) {
        assert.ok(!String(state.readRaw(path).data.content).includes(SECRET), path);
      }
    });
  }

  test("what is refused is allowed to whom it belongs", async () => {
    const got = await fetch(`${url}/bob/diary.txt`, { headers: { authorization: "bob" } });
    assert.equal(await got.text(), `${SECRET} of bob`);
    assert.equal((await alice("/public/a.txt")).status, 200);
  });

  test("a page of Alice's runs nowhere", async () => {
    const { headers } = await alice("/alice/page.html");
    assert.match(headers.get("content-security-policy"), /sandbox/);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("cross-origin-resource-policy"), "same-origin");
    assert.match(headers.get("cache-control"), /private/);
    assert.match(headers.get("vary"), /authorization/);
  });
});

describe("limits", () => {
  const limited = async (t, options) => {
    const backend = new StateBackend({ files: { "/a": "x".repeat(5000) }, writeMode: "overwrite" });
    return served(t, () => backend, options);
  };

  test("a body that is announced too large is refused at once", async (t) => {
    ({ url, port } = await limited(t, { maxBodyBytes: 1000 }));
    const answer = await posted(url, { op: "write", path: "/b", content: "x".repeat(2000) });
    assert.equal(answer.status, 413);
    assert.equal((await answer.json()).code, "too_large");
  });

  test("a body without a length is cut off where it is too large", async (t) => {
    ({ url, port } = await limited(t, { maxBodyBytes: 1000 }));
    let sent = 0;
    const body = new ReadableStream({
      pull(controller) {
        sent += 1;
        if (sent > 10_000) controller.close();
        else controller.enqueue(new Uint8Array(65_536).fill(32));
      },
    });
    const answer = await fetch(`${url}/x`, {
      ...{ method: "PUT", headers: { "x-kitbag": "1" }, body, duplex: "half" },
    }).catch((error) => error);
    assert.ok(answer.status === 413 || answer instanceof TypeError, String(answer.status));
    assert.ok(sent < 10_000, `${sent}`);
  });

  for (const size of [100, 2_000_000]) {
    test(`a body of ${size} bytes that does not come is not waited for`, async (t) => {
      ({ url, port } = await limited(t, { timeoutMs: 300 }));
      const from = performance.now();
      const answer = await raw(
        `PUT /x HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Kitbag: 1\r\nContent-Length: ${size}\r\nConnection: close\r\n\r\nabc`,
        { wait: 1 },
      );
      assert.match(answer, /^HTTP\/1.1 504 /);
      assert.match(answer, /"code":"timeout"/);
      assert.ok(performance.now() - from < 3000);
    });
  }

  test("answers end where the server says", async (t) => {
    ({ url, port } = await limited(t, { maxResultBytes: 1000 }));
    assert.equal((await fetch(`${url}/a`)).status, 413);
    const part = await fetch(`${url}/a`, { headers: { range: "bytes=0-99" } });
    assert.equal((await part.text()).length, 100);
    const read = await posted(url, { op: "read", path: "/a" });
    assert.equal(read.status, 413);
  });

  test("a client that asks for too much at once is told to wait", async (t) => {
    let open = () => {};
    const held = new Promise((resolve) => {
      open = resolve;
    });
    const state = new StateBackend({ files: { "/a": "x" } });
    const slow = new Proxy(state, {
      get: (target, name) => {
        if (name === "ls") return () => held.then(() => ({ files: [] }));
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    ({ url, port } = await served(t, () => slow, { maxParallel: 3 }));
    const three = [1, 2, 3].map(() => posted(url, { op: "ls", path: "/" }));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const fourth = await posted(url, { op: "ls", path: "/" });
    assert.equal(fourth.status, 429);
    assert.equal(fourth.headers.get("retry-after"), "1");
    open();
    for (const answer of await Promise.all(three)) assert.equal(answer.status, 200);
    assert.equal((await posted(url, { op: "ls", path: "/" })).status, 200);
  });

  test("refused watchers leave their places to others", async (t) => {
    const state = new StateBackend();
    const watch = () => {
      throw new TypeError("cannot watch");
    };
    const broken = new Proxy(state, {
      get: (target, name) => {
        if (name === "watch") return watch;
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    ({ url, port } = await served(t, () => broken, { maxParallel: 2 }));
    for (let at = 0; at < 5; at++) {
      assert.equal((await fetch(`${url}/?watch=/a/../b`)).status, 400);
      assert.equal((await fetch(`${url}/?watch=/a`)).status, 500);
    }
  });

  test("a range out of a hundred that overlap is answered once", async (t) => {
    ({ url, port } = await limited(t, {}));
    const range = `bytes=${Array.from({ length: 100 }, (_, at) => `${at}-4999`).join(",")}`;
    const answer = await fetch(`${url}/a`, { headers: { range } });
    assert.equal((await answer.text()).length, 5000);
  });

  test("of a failure of the server's a client learns nothing", async (t) => {
    const seen = [];
    const onError = (error) => seen.push(error.message);
    ({ url, port } = await served(
      t,
      () => {
        throw new Error("no table at /srv/app/users.db");
      },
      { onError },
    ));
    const answer = await fetch(`${url}/a`);
    assert.equal(answer.status, 500);
    assert.ok(!(await answer.text()).includes("/srv"));
    assert.deepEqual(seen, ["no table at /srv/app/users.db"]);
    const broken = { ls: () => ({ error: "EIO /srv/disk", code: "unavailable" }) };
    ({ url, port } = await served(t, () => broken));
    assert.ok(!(await (await posted(url, { op: "ls", path: "/" })).text()).includes("/srv"));
  });
});
