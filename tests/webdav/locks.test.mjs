// Locks, properties, and empty directories: what they promise, between clients and beside other ways in.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import {
  CustomBackend,
  dav,
  drive,
  FilesystemBackend,
  folder,
  HttpBackend,
  lockBody,
  locked,
  posted,
  StateBackend,
  setBody,
  withPolicy,
} from "./lib.mjs";

const state = (files = {}) => new StateBackend({ files, writeMode: "overwrite" });
const both = { operations: ["read", "write"] };
const user = ({ headers }) => headers.get("authorization") ?? "nobody";

/** A tree that several users share. */
function shared(t, backend, more = {}) {
  const keepIn = { backend: new StateBackend(), key: "k".repeat(16), ...more };
  return drive(t, () => backend, { webdav: { keepIn }, client: user });
}

test("a large file is stored while it arrives, if nothing bars it", async (t) => {
  const rootDir = folder(t);
  const { url } = await shared(t, new FilesystemBackend({ rootDir }));
  const bytes = randomBytes((3 << 20) + 1);
  assert.equal((await dav(url, "PUT", "/film.bin", { user: "ann", body: bytes })).status, 201);
  assert.ok(bytes.equals(readFileSync(join(rootDir, "film.bin"))));
  await locked(url, "/film.bin", { user: "ann" });
  const other = randomBytes(bytes.length);
  assert.equal((await dav(url, "PUT", "/film.bin", { user: "bob", body: other })).status, 423);
  assert.equal((await dav(url, "PUT", "/no/film.bin", { user: "bob", body: other })).status, 409);
  assert.ok(bytes.equals(readFileSync(join(rootDir, "film.bin"))));
  assert.deepEqual(readdirSync(rootDir), ["film.bin"]);
});

test("what is locked changes by the client with the token alone", async (t) => {
  const backend = state({ "/a.txt": "one", "/d/b.txt": "two" });
  const { url } = await shared(t, backend);
  const token = await locked(url, "/a.txt", { user: "ann" });
  const tries = [
    ["PUT", "/a.txt", { body: "x" }],
    ["DELETE", "/a.txt", {}],
    ["MOVE", "/a.txt", { headers: { destination: `${url}/c.txt` } }],
    ["COPY", "/d/b.txt", { headers: { destination: `${url}/a.txt` } }],
    ["PROPPATCH", "/a.txt", { body: setBody("blue") }],
    ["LOCK", "/a.txt", { body: lockBody("shared") }],
  ];
  for (const [method, path, init] of tries) {
    for (const headers of [{}, { if: `</a.txt> (${token})` }]) {
      const answer = await dav(url, method, path, {
        ...init,
        user: "bob",
        headers: { ...init.headers, ...headers },
      });
      assert.equal(answer.status, 423, `${method} of bob`);
    }
  }
  assert.equal(backend.read("/a.txt").content, "one");
  const own = await dav(url, "PUT", "/a.txt", {
    user: "ann",
    body: "x",
    headers: { if: `(${token})` },
  });
  assert.equal(own.status, 204);
  const taken = await dav(url, "UNLOCK", "/a.txt", {
    user: "bob",
    headers: { "lock-token": token },
  });
  assert.equal(taken.status, 403);
  const shown = await (
    await dav(url, "PROPFIND", "/a.txt", { user: "bob", headers: { depth: "0" } })
  ).text();
  assert.match(shown, /activelock/);
  assert.ok(!shown.includes("opaquelocktoken"), "bob learns the token");
  const ended = await dav(url, "UNLOCK", "/a.txt", {
    user: "ann",
    headers: { "lock-token": token },
  });
  assert.equal(ended.status, 204);
  assert.equal((await dav(url, "PUT", "/a.txt", { user: "bob", body: "y" })).status, 204);
});

test("HttpBackend and curl find the same locks", async (t) => {
  const backend = state({ "/a.txt": "one", "/d/b.txt": "two" });
  const { url } = await drive(t, backend);
  const token = await locked(url, "/d");
  const files = new HttpBackend({ url });
  for (const answer of [
    await files.edit("/d/b.txt", "two", "2"),
    await files.delete("/d"),
    await files.move("/d/b.txt", "/c.txt"),
    await files.copy("/a.txt", "/d/c.txt"),
    (await files.uploadFiles([["/d/c.txt", new Uint8Array(3)]]))[0],
  ]) {
    assert.match(String(answer.message ?? answer.error), /locked/, JSON.stringify(answer));
  }
  assert.equal((await posted(url, { op: "append", path: "/d/./b.txt", content: "!" })).status, 423);
  assert.equal((await files.append("/a.txt", "!")).error, undefined);
  const options = { headers: { "lock-token": token } };
  assert.equal((await dav(url, "UNLOCK", "/d", options)).status, 204);
  assert.equal((await files.edit("/d/b.txt", "two", "2")).error, undefined);
});

test("a lock waits for changes that began before it", async (t) => {
  let go;
  const held = new Promise((resolve) => {
    go = resolve;
  });
  const inner = state({ "/a.txt": "one" });
  const slow = new Proxy(inner, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (name !== "uploadFiles") return typeof value === "function" ? value.bind(target) : value;
      return async (...given) => {
        await held;
        return target.uploadFiles(...given);
      };
    },
  });
  const { url } = await shared(t, slow);
  const putting = dav(url, "PUT", "/a.txt", { user: "bob", body: "late" });
  await new Promise((resolve) => setTimeout(resolve, 50));
  let isLocked = false;
  const locking = locked(url, "/a.txt", { user: "ann" }).then(() => {
    isLocked = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(isLocked, false, "the lock was given while a change was on its way");
  go();
  assert.equal((await putting).status, 204);
  await locking;
  assert.equal(inner.read("/a.txt").content, "late");
  assert.equal((await dav(url, "PUT", "/a.txt", { user: "bob", body: "later" })).status, 423);
});

test("two processes share locks by compare and swap", async (t) => {
  const backend = state({ "/a.txt": "one" });
  const kept = new StateBackend();
  const keepIn = { backend: kept, path: "/x/dav.json" };
  const servers = [];
  for (let n = 0; n < 2; n++) {
    servers.push(await drive(t, () => backend, { webdav: { keepIn }, client: user }));
  }
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      dav(servers[n % 2].url, "LOCK", "/a.txt", { user: `u${n}`, body: lockBody() }),
    ),
  );
  const given = answers.filter(({ status }) => status === 200);
  assert.equal(given.length, 1, answers.map(({ status }) => status).join());
  assert.ok(kept.read("/x/dav.json").content.includes("opaquelocktoken"));
});

test("with a key, a document of somebody else is not believed", async (t) => {
  const backend = state({ "/a.txt": "one" });
  const kept = new StateBackend({ writeMode: "overwrite" });
  const keepIn = { backend: kept, path: "/dav.json", key: "k".repeat(16) };
  const told = [];
  const onError = (error) => told.push(error.message);
  const { url } = await drive(t, () => backend, { webdav: { keepIn }, client: user, onError });
  await locked(url, "/a.txt", { user: "ann" });
  const [, json] = kept.read("/dav.json").content.split("\n");
  kept.write("/dav.json", `${"0".repeat(64)}\n${json.replace(/"locks":\[.*?\]/, '"locks":[]')}`);
  const answer = await dav(url, "PUT", "/a.txt", { user: "bob", body: "x" });
  assert.equal(answer.status, 500);
  assert.match(told[0], /was not written with this key/);
  assert.equal(backend.read("/a.txt").content, "one");
});

test("locks end by themselves, and can be renewed", async (t) => {
  const { url } = await shared(t, state({ "/a.txt": "one" }));
  const token = await locked(url, "/a.txt", { user: "ann", headers: { timeout: "Second-1" } });
  assert.equal((await dav(url, "PUT", "/a.txt", { user: "bob", body: "x" })).status, 423);
  const renewed = await dav(url, "LOCK", "/a.txt", {
    user: "ann",
    headers: { if: `(${token})`, timeout: "Infinite, Second-4100000000" },
  });
  assert.match(await renewed.text(), /Second-3600/);
  const brief = await dav(url, "LOCK", "/a.txt", {
    user: "ann",
    headers: { if: `(${token})`, timeout: "Second-1" },
  });
  assert.equal(brief.status, 200);
  const until = Date.now() + 3000;
  let status = 423;
  while (status === 423 && Date.now() < until) {
    ({ status } = await dav(url, "PUT", "/a.txt", { user: "bob", body: "x" }));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.equal(status, 204);
});

test("a lock of nothing makes an empty file; of a directory, it covers what is in it", async (t) => {
  const backend = state({ "/d/e/a.txt": "one" });
  const { url } = await shared(t, backend);
  const answer = await dav(url, "LOCK", "/d/new.txt", { user: "ann", body: lockBody() });
  assert.equal(answer.status, 201);
  assert.equal(backend.readRaw("/d/new.txt").data.content, "");
  const all = await dav(url, "LOCK", "/d", { user: "bob", body: lockBody() });
  assert.equal(all.status, 207);
  const text = await all.text();
  assert.match(text, /\/d\/new\.txt<\/D:href><D:status>HTTP\/1\.1 423/);
  assert.match(text, /\/d<\/D:href><D:status>HTTP\/1\.1 424/);
  await locked(url, "/d/e", { user: "bob", headers: { depth: "0" } });
  assert.equal((await dav(url, "PUT", "/d/e/a.txt", { user: "ann", body: "x" })).status, 204);
  assert.equal((await dav(url, "PUT", "/d/e/b.txt", { user: "ann", body: "x" })).status, 423);
  assert.equal((await dav(url, "DELETE", "/d/e/a.txt", { user: "ann" })).status, 423);
});

test("properties go with a file, and end with it", async (t) => {
  const backend = state({ "/a.txt": "one" });
  const { url } = await drive(t, backend);
  const value = '<y:in xmlns:y="urn:y" y:a="&lt;">b &amp; c</y:in>';
  assert.equal((await dav(url, "PROPPATCH", "/a.txt", { body: setBody(value) })).status, 207);
  const seen = async (path) =>
    (await dav(url, "PROPFIND", path, { headers: { depth: "0" } })).text();
  assert.ok((await seen("/a.txt")).includes(value));
  await dav(url, "COPY", "/a.txt", { headers: { destination: "/b.txt" } });
  await dav(url, "MOVE", "/b.txt", { headers: { destination: `${url}/c.txt` } });
  assert.ok((await seen("/c.txt")).includes(value));
  await new HttpBackend({ url }).delete("/c.txt");
  backend.write("/c.txt", "new");
  assert.ok(!(await seen("/c.txt")).includes("urn:x"));
  const fixed = await dav(url, "PROPPATCH", "/a.txt", {
    body: `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><D:getetag>1</D:getetag><x xmlns="urn:x"/></D:prop></D:set></D:propertyupdate>`,
  });
  assert.match(await fixed.text(), /getetag.*403.*cannot-modify-protected-property.*424/s);
});

for (const [name, make] of Object.entries({
  memory: () => state(),
  folder: (t) => new FilesystemBackend({ rootDir: folder(t), writeMode: "overwrite" }),
})) {
  test(`${name}: empty directories stay, are copied and moved`, async (t) => {
    const { url } = await drive(t, make(t));
    const steps = [
      ["MKCOL", "/a", {}, 201],
      ["MKCOL", "/a/b", {}, 201],
      ["MKCOL", "/a/b/c", {}, 201],
      ["COPY", "/a", { headers: { destination: "/copy" } }, 201],
      ["MOVE", "/a/", { headers: { destination: "/moved/" } }, 201],
      ["PUT", "/moved/b/c/x.txt", { body: "x" }, 201],
      ["DELETE", "/moved/b/c/x.txt", {}, 204],
      ["PUT", "/nowhere/x.txt", { body: "x" }, 409],
      ["MKCOL", "/copy/b", {}, 405],
      ["COPY", "/copy", { headers: { destination: "/copy/b/in" } }, 403],
      ["MOVE", "/copy", { headers: { destination: "/moved", overwrite: "F" } }, 412],
      ["PROPFIND", "/a", { headers: { depth: "0" } }, 404],
      ["PROPFIND", "/copy/b/c", { headers: { depth: "1" } }, 207],
      ["PROPFIND", "/moved/b/c", { headers: { depth: "1" } }, 207],
      ["PROPFIND", "/", { headers: { depth: "infinity" } }, 403],
      ["DELETE", "/moved/", {}, 204],
      ["PROPFIND", "/moved", { headers: { depth: "0" } }, 404],
    ];
    for (const [method, path, init, status] of steps) {
      const answer = await dav(url, method, path, init);
      assert.equal(answer.status, status, `${method} ${path}: ${await answer.text()}`);
    }
    const top = await (await dav(url, "PROPFIND", "/", { headers: { depth: "1" } })).text();
    assert.deepEqual([...top.matchAll(/<D:href>([^<]*)/g)].map(([, href]) => href).sort(), [
      "/",
      "/copy/",
    ]);
  });
}

test("file managers keep their own files, which are not in the tree", async (t) => {
  const backend = state({ "/d/a.txt": "one" });
  const { url } = await drive(t, backend);
  assert.equal((await dav(url, "PUT", "/d/._a.txt", { body: "fork" })).status, 201);
  assert.equal(await (await dav(url, "GET", "/d/._a.txt")).text(), "fork");
  const moved = await dav(url, "MOVE", "/d/._a.txt", { headers: { destination: "/d/._b.txt" } });
  assert.equal(moved.status, 201);
  assert.equal((await dav(url, "PROPFIND", "/d/._b.txt", { headers: { depth: "0" } })).status, 207);
  assert.deepEqual(
    backend.glob("**", "/").files.map(({ path }) => path),
    ["/d/a.txt"],
  );
  const shown = await dav(url, "GET", "/d/a.txt", { headers: { translate: "f" } });
  assert.equal(await shown.text(), "one");
  const { headers } = await dav(url, "OPTIONS", "/");
  assert.equal(headers.get("dav"), "1, 2");
  assert.equal(headers.get("ms-author-via"), "DAV");
  // Files that are in the tree stay reachable.
  backend.write("/d/._old", "kept");
  assert.equal(await (await dav(url, "GET", "/d/._old")).text(), "kept");
});

test("rules hold, and nobody who is refused learns of locks", async (t) => {
  const backend = state({ "/alice/a.txt": "hers", "/bob/b.txt": "his" });
  const ruled = (name) =>
    withPolicy(backend, {
      permissions: [
        { ...both, paths: [`/${name}/**`], mode: "allow" },
        { ...both, paths: ["/**"], mode: "deny" },
      ],
    });
  const keepIn = { backend: new StateBackend() };
  const { url } = await drive(t, (request) => ruled(user(request)), {
    webdav: { keepIn },
    client: user,
  });
  await locked(url, "/alice/a.txt", { user: "alice" });
  assert.equal((await dav(url, "MKCOL", "/alice/empty", { user: "alice" })).status, 201);
  const refused = [
    ["PUT", "/alice/a.txt", { body: "x" }],
    ["DELETE", "/alice/a.txt", {}],
    ["PROPPATCH", "/alice/a.txt", { body: setBody("x") }],
    ["LOCK", "/alice/a.txt", { body: lockBody() }],
    ["LOCK", "/alice", { body: lockBody() }],
    ["LOCK", "/", { body: lockBody() }],
    ["MKCOL", "/alice/x", {}],
    ["PROPFIND", "/alice/empty", { headers: { depth: "0" } }],
    ["COPY", "/bob/b.txt", { headers: { destination: "/alice/b.txt" } }],
  ];
  for (const [method, path, init] of refused) {
    const { status } = await dav(url, method, path, { ...init, user: "bob" });
    assert.ok([403, 404].includes(status), `${method} ${path}: ${status}`);
  }
  for (const path of ["/", "/alice"]) {
    const answer = await dav(url, "PROPFIND", path, { user: "bob", headers: { depth: "1" } });
    assert.ok(!(await answer.text()).includes("empty"), path);
  }
});

test("a storage of one's own is served, too", async (t) => {
  const files = new Map();
  const backend = new CustomBackend(
    {
      get: (path) => files.get(path),
      put: (path, file) => void files.set(path, file),
      delete: (path) => files.delete(path),
      list: (prefix) => [...files.keys()].filter((path) => path.startsWith(prefix)),
    },
    { writeMode: "overwrite" },
  );
  const { url } = await drive(t, backend);
  assert.equal((await dav(url, "PUT", "/a.txt", { body: "one" })).status, 201);
  assert.equal(await (await dav(url, "GET", "/a.txt")).text(), "one");
});

test("what is known has a bound", async (t) => {
  const { url } = await drive(t, state({ "/a.txt": "one" }));
  const statuses = [];
  for (let n = 0; n < 8; n++) {
    const body = setBody("x".repeat(200_000), `p${n}`);
    statuses.push((await dav(url, "PROPPATCH", "/a.txt", { body })).status);
  }
  assert.deepEqual(statuses, [207, 207, 207, 207, 207, 507, 507, 507]);
  // What frees room is always possible.
  const body = `<D:propertyupdate xmlns:D="DAV:"><D:remove><D:prop><p0 xmlns="urn:x"/></D:prop></D:remove></D:propertyupdate>`;
  assert.equal((await dav(url, "PROPPATCH", "/a.txt", { body })).status, 207);
  const again = await dav(url, "PROPPATCH", "/a.txt", { body: setBody("x".repeat(200_000)) });
  assert.equal(again.status, 207);
});

test("wrong options are refused", async () => {
  const { serveFiles } = await import("./lib.mjs");
  const of =
    (webdav, more = {}) =>
    () =>
      serveFiles(() => state(), { webdav, ...more });
  const client = () => "ann";
  assert.throws(of("yes"), /option "webdav" must be true, or/);
  assert.throws(of({ keepin: 1 }), /keepin/);
  assert.throws(of({ keepIn: {} }), /with a backend/);
  assert.throws(of({ keepIn: { backend: state() } }), /"client"/);
  assert.throws(of({ keepIn: { backend: state(), path: "x" } }, { client }), /path/);
  assert.throws(of({ keepIn: { backend: state(), key: "short" } }, { client }), /16 bytes/);
});
