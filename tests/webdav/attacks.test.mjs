// Attacks on a server with WebDAV. Alice may write below /alice and read /public; whatever she, or a page
// that she visits, sends: no byte of a secret comes out, nothing outside her directory changes, no file of
// the host is read, no other server is asked, and every answer comes soon.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import test, { after, before, describe } from "node:test";
import { pathToFileURL } from "node:url";
import { at } from "../../scripts/lib/paths.mjs";
import { files, others, rules, SECRET } from "../reach/alice.mjs";
import {
  answerTo,
  dav,
  listen,
  lockBody,
  locked,
  posted,
  StateBackend,
  serveFiles,
  setBody,
  withPolicy,
} from "./lib.mjs";

/** A line of a file of the host, which an XML reader must never open. */
const HOST_FILE = pathToFileURL(at("LICENSE")).href;
const HOST_TEXT = "Permission is hereby granted";
const start = () => ({ ...files, "/alice/d/more.txt": "hers" });

let state;
let url;
let port;
let other;
let asked;

const alice = (method, path, init = {}) => dav(url, method, path, { user: "alice", ...init });
const moves = (method, from, destination, more = {}) =>
  alice(method, from, { headers: { destination, ...more } });
const find = (body, path = "/alice/own.txt") =>
  alice("PROPFIND", path, { headers: { depth: "0" }, body });
/** A request with bytes that no client library would send. */
const wire = (method, path, headers = "") =>
  answerTo(
    port,
    `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: alice\r\nConnection: close\r\n${headers}\r\n`,
  );
const document = (type, inside) =>
  `<?xml version="1.0"?><!DOCTYPE x [${type}]><D:propfind xmlns:D="DAV:"><D:prop><D:x>${inside}</D:x></D:prop></D:propfind>`;
const laughs = Array.from(
  { length: 30 },
  (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`,
).join("");

const ATTACKS = {
  "XXE: a file of the host": () => find(document(`<!ENTITY f SYSTEM "${HOST_FILE}">`, "&f;")),
  "XXE: another server": () => find(document(`<!ENTITY f SYSTEM "${other}/x">`, "&f;")),
  "XXE: a parameter entity": () => find(document(`<!ENTITY % f SYSTEM "${other}/x.dtd"> %f;`, "")),
  "XXE: an external document type": () =>
    find(
      `<!DOCTYPE x SYSTEM "${other}/x.dtd"><D:propfind xmlns:D="DAV:"><D:allprop/></D:propfind>`,
    ),
  "XXE in a property": () =>
    alice("PROPPATCH", "/alice/own.txt", {
      body: `<!DOCTYPE x [<!ENTITY f SYSTEM "${HOST_FILE}">]>${setBody("&f;")}`,
    }),
  "XXE in the owner of a lock": () =>
    alice("LOCK", "/alice/x.txt", {
      body: `<!DOCTYPE x [<!ENTITY f SYSTEM "${HOST_FILE}">]>${lockBody("exclusive", "&f;")}`,
    }),
  "an XInclude": () =>
    alice("PROPPATCH", "/alice/d/more.txt", {
      body: setBody(`<i:include xmlns:i="http://www.w3.org/2001/XInclude" href="${HOST_FILE}"/>`),
    }),
  "a billion laughs": () => find(document(`<!ENTITY l0 "ha">${laughs}`, "&l30;")),
  "an entity of its own name": () => find(document('<!ENTITY a "&a;">', "&a;")),
  "an entity that is not there": () =>
    find('<D:propfind xmlns:D="DAV:"><D:prop><D:x>&nbsp;</D:x></D:prop></D:propfind>'),
  "100,000 nested elements": () => find(`${"<a>".repeat(50_000)}${"</a>".repeat(50_000)}`),
  "20,000 nested elements that never end": () => find("<a>".repeat(20_000)),
  "a body of a megabyte": () => find(`<a>${"x".repeat(1 << 20)}</a>`),
  "20,000 attributes": () =>
    find(`<a ${Array.from({ length: 20_000 }, (_, n) => `a${n}=""`).join(" ")}/>`),
  "an attribute of spaces": () => find(`<a ${" ".repeat(200_000)}b`),
  "a name of 200,000 letters": () => find(`<${"a".repeat(200_000)}`),
  "20,000 namespaces": () =>
    find(
      `<D:propfind xmlns:D="DAV:" ${Array.from({ length: 8000 }, (_, n) => `xmlns:p${n}="urn:${n}"`).join(" ")}><D:prop><p1:x/></D:prop></D:propfind>`,
    ),
  "properties whose namespaces multiply": () =>
    alice("PROPPATCH", "/alice/own.txt", {
      body: `<D:propertyupdate xmlns:D="DAV:" ${Array.from({ length: 1000 }, (_, n) => `xmlns:p${n}="urn:${"n".repeat(100)}"`).join(" ")}><D:set><D:prop>${Array.from({ length: 2000 }, (_, n) => `<p1:x${n}/>`).join("")}</D:prop></D:set></D:propertyupdate>`,
    }),
  "a processing instruction": () => find(`<?php echo 1 ?><D:propfind xmlns:D="DAV:"/>`),
  "a name that ends an element": () => find('<D:propfind xmlns:D="DAV:"><D:prop><x y="></D:prop>'),
  "a namespace that ends an attribute": () =>
    find(
      `<D:propfind xmlns:D="DAV:"><D:prop><x:y xmlns:x='"><script>steal()</script>'/></D:prop></D:propfind>`,
    ),
  "UTF-7": () => find("+ADw-D:propfind xmlns:D+AD0AIg-DAV:+ACIAPgA8-/D:propfind+AD4-"),
  "half a letter in UTF-16": () => find(new Uint8Array([0xff, 0xfe, 0x3c, 0x00, 0x00, 0xd8])),
  "a Destination at another host": () => moves("COPY", "/alice/own.txt", `${other}/x`),
  "a Destination at another port": () =>
    moves("MOVE", "/alice/own.txt", `http://127.0.0.1:1/alice/x`),
  "a Destination with another scheme": () => moves("COPY", "/alice/own.txt", "file:///etc/x"),
  "a Destination without a scheme": () => moves("COPY", "/alice/own.txt", "//evil.test/alice/x"),
  "a Destination with a user": () =>
    moves("COPY", "/alice/own.txt", `http://127.0.0.1:${port}@evil.test/alice/x`),
  "a Destination above": () => moves("COPY", "/alice/own.txt", `${url}/alice/../bob/x`),
  "a Destination above, encoded": () =>
    moves("COPY", "/alice/own.txt", `${url}/alice/%2e%2e/bob/x`),
  "a Destination above, encoded whole": () =>
    moves("COPY", "/alice/own.txt", `${url}/alice/%2e%2e%2fbob%2fx`),
  "a Destination with a zero": () => moves("COPY", "/alice/own.txt", `${url}/bob/x%00`),
  "a Destination with a backslash": () =>
    moves("COPY", "/alice/own.txt", `${url}/alice\\..\\bob\\x`),
  "a copy over another's file": () => moves("COPY", "/alice/own.txt", `${url}/bob/diary.txt`),
  "a move over another's directory": () => moves("MOVE", "/alice/d", `${url}/bob`),
  "a copy over everything": () => moves("COPY", "/alice/d", `${url}/`),
  "a copy of a secret": () => moves("COPY", "/secret/key.txt", `${url}/alice/k`),
  "a copy of everything": () => moves("COPY", "/", `${url}/alice/all`),
  "a move of a secret": () => moves("MOVE", "/secret/key.txt", `${url}/alice/k`),
  "a move of another's directory": () => moves("MOVE", "/bob", `${url}/alice/bob`),
  "a copy of a file of the Finder that is a secret": () =>
    moves("COPY", "/secret/._key", `${url}/alice/k`),
  "PROPFIND of a secret": () => find(undefined, "/secret/key.txt"),
  "PROPFIND of another's directory": () => alice("PROPFIND", "/bob", { headers: { depth: "1" } }),
  "PROPFIND of everything": () => alice("PROPFIND", "/", { headers: { depth: "infinity" } }),
  "PROPFIND of the root": () => alice("PROPFIND", "/", { headers: { depth: "1" } }),
  "PROPFIND above": () => wire("PROPFIND", "/alice/%2e%2e%2fsecret/key.txt", "Depth: 0\r\n"),
  "MKCOL beside her directory": () => alice("MKCOL", "/bob/new"),
  "PROPPATCH of another's file": () =>
    alice("PROPPATCH", "/bob/diary.txt", { body: setBody("mine") }),
  "PROPPATCH of a file that she may read": () =>
    alice("PROPPATCH", "/public/a.txt", { body: setBody("mine") }),
  "LOCK of another's file": () => alice("LOCK", "/bob/diary.txt", { body: lockBody() }),
  "LOCK of everything": () => alice("LOCK", "/", { body: lockBody() }),
  "LOCK of nothing in another's directory": () =>
    alice("LOCK", "/bob/new.txt", { body: lockBody() }),
  "UNLOCK with another's token": async () => {
    const token = await locked(url, "/bob/diary.txt", { user: "bob" });
    const answer = await alice("UNLOCK", "/bob/diary.txt", { headers: { "lock-token": token } });
    assert.equal(answer.status, 403);
    await dav(url, "UNLOCK", "/bob/diary.txt", { user: "bob", headers: { "lock-token": token } });
    return answer;
  },
  "PUT with an If about another server": () =>
    alice("PUT", "/bob/diary.txt", {
      body: "x",
      headers: { if: `<${other}/> (Not <DAV:no-lock>)` },
    }),
  "an If of brackets": () =>
    alice("PUT", "/bob/diary.txt", { body: "x", headers: { if: "(".repeat(8000) } }),
  "an If of 1,000 conditions": () =>
    alice("PUT", "/bob/diary.txt", {
      body: "x",
      headers: { if: '(["a"])'.repeat(1000) },
    }),
  "a PUT of another's file": () => alice("PUT", "/bob/diary.txt", { body: "x" }),
  "a DELETE of everything": () => alice("DELETE", "/"),
  "a DELETE of another's directory": () => alice("DELETE", "/bob/"),
  "a DELETE with a fragment": () => wire("DELETE", "/alice/#/own.txt"),
  "the library's own files": () => alice("PROPFIND", "/.kitbag", { headers: { depth: "1" } }),
  "a method in a header": () =>
    alice("PROPFIND", "/public/a.txt", { headers: { "x-http-method-override": "DELETE" } }),
  "a page of another site: PROPFIND": () =>
    dav(url, "PROPFIND", "/alice", {
      headers: { cookie: "session=alice", origin: "https://evil.test" },
    }),
  "a page of another site: MOVE": () =>
    dav(url, "MOVE", "/alice/own.txt", {
      headers: {
        ...{ cookie: "session=alice", origin: "https://evil.test" },
        destination: `${url}/alice/gone.txt`,
      },
    }),
  "a page of another site: PUT without an origin": () =>
    dav(url, "PUT", "/alice/own.txt", {
      headers: { cookie: "session=alice", "sec-fetch-site": "cross-site" },
      body: "x",
    }),
  "a page of another site asks first": () =>
    dav(url, "OPTIONS", "/alice/own.txt", {
      headers: { origin: "https://evil.test", "access-control-request-method": "PROPFIND" },
    }),
  "a form of another site": () =>
    dav(url, "POST", "/", {
      headers: { cookie: "session=alice", "content-type": "text/plain" },
      body: '{"op":"delete","path":"/alice/own.txt"}',
    }),
  "an operation that a rule refuses, past a lock": () =>
    posted(url, { op: "write", path: "/bob/x", content: "x" }, { authorization: "alice" }),
  nobody: () => dav(url, "PROPFIND", "/public", { headers: { depth: "1" } }),
  "nobody locks": () => dav(url, "LOCK", "/public/a.txt", { body: lockBody() }),
};

describe("attacks on WebDAV", () => {
  let listening;
  let elsewhere;
  before(async () => {
    elsewhere = createServer((_, response) => {
      asked += 1;
      response.end(SECRET);
    });
    await new Promise((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
    other = `http://127.0.0.1:${elsewhere.address().port}`;
    const user = ({ headers }) =>
      headers.get("authorization") ?? /session=(\w+)/.exec(headers.get("cookie") ?? "")?.[1] ?? "";
    const backendOf = (request) =>
      ({ alice: withPolicy(state, rules), bob: state })[user(request)] ?? null;
    listening = await listen((request) => serve(request));
    ({ url, port } = listening);
    const keepIn = { backend: new StateBackend() };
    const serve = serveFiles(backendOf, {
      ...{ webdav: { keepIn }, client: user, timeoutMs: 5000 },
      hosts: [`127.0.0.1:${port}`],
    });
  });
  after(async () => {
    await listening.close();
    await new Promise((resolve) => elsewhere.close(resolve));
  });

  for (const [name, attack] of Object.entries(ATTACKS)) {
    test(name, async () => {
      state = new StateBackend({ files: start(), writeMode: "overwrite" });
      asked = 0;
      const unchanged = others(state);
      const began = performance.now();
      const answer = await attack();
      const took = performance.now() - began;
      const text =
        typeof answer === "string"
          ? answer
          : JSON.stringify([...answer.headers]) + (await answer.text());
      assert.ok(!text.includes("S3CRET"), text);
      assert.ok(!text.includes(HOST_TEXT), text);
      assert.ok(!text.includes("<script>"), text);
      assert.equal(asked, 0, "another server was asked");
      assert.equal(others(state), unchanged);
      assert.equal(state.read("/alice/own.txt").content, "hers");
      for (const { path } of state.glob("**", "/alice").files) {
        assert.ok(!String(state.readRaw(path).data.content).includes(SECRET), path);
      }
      assert.ok(text.length < 3_000_000, `an answer of ${text.length} letters`);
      assert.ok(took < 4000, `${took} ms`);
    });
  }
});
