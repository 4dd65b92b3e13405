// Files that file managers keep for themselves stay in the process of a server with WebDAV. One that is moved or copied
// to another name, and a file that gets such a name, is never lost.

import assert from "node:assert/strict";
import test from "node:test";
import { FilesystemBackend, folder, StateBackend, served, withPolicy } from "./lib.mjs";

const BACKENDS = {
  memory: () => new StateBackend({ writeMode: "overwrite" }),
  disk: (t) => new FilesystemBackend({ rootDir: folder(t), writeMode: "overwrite" }),
};

/** A drive over files; `sent` is the status of a request, and `read` what is at a path. */
async function drive(t, files, make = BACKENDS.memory, rules) {
  const inner = make(t);
  const all = Object.entries(files).map(([path, text]) => [path, new TextEncoder().encode(text)]);
  await inner.uploadFiles(all);
  const { url } = await served(t, () => (rules ? withPolicy(inner, rules) : inner), {
    webdav: true,
  });
  const sent = async (method, path, headers = {}, body = undefined) =>
    (await fetch(`${url}${path}`, { method, headers, body })).status;
  const read = async (path) => {
    const answer = await fetch(`${url}${path}`);
    return answer.ok ? answer.text() : answer.status;
  };
  const names = async () => (await inner.glob("**")).files.map(({ path }) => path).sort();
  return { sent, read, names };
}

for (const [name, make] of Object.entries(BACKENDS)) {
  test(`${name}: what is kept becomes a file under another name`, async (t) => {
    const { sent, read, names } = await drive(t, { "/d/a.txt": "a" }, make);
    assert.equal(await sent("PUT", "/d/desktop.ini", {}, "kept"), 201);
    assert.deepEqual(await names(), ["/d/a.txt"]);
    assert.equal(await sent("COPY", "/d/desktop.ini", { destination: "/d/b.ini" }), 201);
    assert.equal(await sent("MOVE", "/d/desktop.ini", { destination: "/d/c.ini" }), 201);
    assert.deepEqual(await names(), ["/d/a.txt", "/d/b.ini", "/d/c.ini"]);
    assert.equal(await read("/d/b.ini"), "kept");
    assert.equal(await read("/d/c.ini"), "kept");
    assert.equal(await read("/d/desktop.ini"), 404);
    await sent("PUT", "/d/._a", {}, "over");
    const over = { destination: "/d/a.txt" };
    assert.equal(await sent("COPY", "/d/._a", { ...over, overwrite: "F" }), 412);
    assert.equal(await read("/d/a.txt"), "a");
    assert.equal(await sent("MOVE", "/d/._a", over), 204);
    assert.equal(await read("/d/a.txt"), "over");
    await sent("PUT", "/._d", {}, "no directory");
    assert.equal(await sent("MOVE", "/._d", { destination: "/none/d" }), 409);
    assert.equal(await sent("COPY", "/._d", { destination: "/d" }), 204);
    assert.equal(await read("/d"), "no directory");
    assert.deepEqual(await names(), ["/d"]);
  });

  test(`${name}: a file under such a name stays a file`, async (t) => {
    const { sent, read, names } = await drive(t, { "/a.txt": "a", "/b.txt": "b" }, make);
    await sent("PUT", "/Thumbs.db", {}, "kept");
    const to = { destination: "/Thumbs.db" };
    assert.equal(await sent("MOVE", "/a.txt", { ...to, overwrite: "F" }), 412);
    assert.equal(await sent("MOVE", "/a.txt", to), 204);
    assert.equal(await read("/Thumbs.db"), "a");
    assert.deepEqual(await names(), ["/Thumbs.db", "/b.txt"]);
    await sent("PUT", "/._x", {}, "kept");
    assert.equal(await sent("MOVE", "/._x", { ...to, overwrite: "F" }), 412);
    assert.equal(await sent("MOVE", "/._x", to), 204);
    assert.equal(await read("/Thumbs.db"), "kept");
    assert.equal(await read("/._x"), 404);
    assert.equal(await sent("MOVE", "/b.txt", { destination: "/._b" }), 201);
    assert.equal(await read("/._b"), "b");
    await sent("PUT", "/._y", {}, "y");
    assert.equal(await sent("MOVE", "/._y", { destination: "/._z" }), 201);
    assert.equal(await read("/._z"), "y");
    assert.deepEqual(await names(), ["/._b", "/Thumbs.db"]);
  });

  test(`${name}: what is kept goes with its directory`, async (t) => {
    const { sent, read } = await drive(t, { "/d/a.txt": "a", "/e/b.txt": "b" }, make);
    await sent("PUT", "/d/._a.txt", {}, "of a");
    await sent("PUT", "/e/._b.txt", {}, "of b");
    assert.equal(await sent("COPY", "/d", { destination: "/f" }), 201);
    assert.equal(await sent("MOVE", "/d", { destination: "/e" }), 204);
    assert.equal(await read("/f/._a.txt"), "of a");
    assert.equal(await read("/e/._a.txt"), "of a");
    assert.equal(await read("/e/._b.txt"), 404);
    assert.equal(await read("/d/._a.txt"), 404);
    assert.equal(await sent("DELETE", "/e"), 204);
    assert.equal(await read("/e/._a.txt"), 404);
    assert.equal(await read("/f/._a.txt"), "of a");
  });
}

test("a rule against writing holds for what was kept, which is not lost", async (t) => {
  const rules = { permissions: [{ operations: ["write"], paths: ["/ro/**"], mode: "deny" }] };
  const { sent, read, names } = await drive(t, { "/ro/r.txt": "r" }, undefined, rules);
  assert.equal(await sent("PUT", "/ro/._x", {}, "kept"), 201);
  for (const method of ["COPY", "MOVE"]) {
    for (const destination of ["/ro/new", "/ro/r.txt"]) {
      assert.equal(await sent(method, "/ro/._x", { destination }), 403, destination);
    }
  }
  assert.equal(await read("/ro/._x"), "kept");
  assert.equal(await read("/ro/r.txt"), "r");
  assert.deepEqual(await names(), ["/ro/r.txt"]);
});

test("a directory may have such a name", async (t) => {
  const { sent, read, names } = await drive(t, {});
  assert.equal(await sent("MKCOL", "/._d"), 201);
  assert.equal(await sent("PUT", "/._d/a.txt", {}, "a"), 201);
  assert.equal(await sent("PUT", "/._d/desktop.ini", {}, "kept"), 201);
  assert.equal(await sent("MOVE", "/._d", { destination: "/e" }), 201);
  assert.equal(await read("/e/desktop.ini"), "kept");
  assert.deepEqual(await names(), ["/e/a.txt"]);
});

test("an empty directory stays when something is kept in it", async (t) => {
  const { sent, names } = await drive(t, {});
  const body = `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>`;
  for (const keep of [
    () => sent("PUT", "/e/._a", {}, "kept"),
    () => sent("LOCK", "/e/._b", {}, body),
    () => sent("COPY", "/e/._a", { destination: "/e/._c" }),
  ]) {
    await sent("MKCOL", "/e");
    assert.equal(await keep(), 201);
    assert.equal(await sent("PROPFIND", "/e", { depth: "0" }), 207);
  }
  assert.equal(await sent("PUT", "/e/a.txt", {}, "a"), 201);
  assert.deepEqual(await names(), ["/e/a.txt"]);
});

test("what a client of our own sends is a file under any name", async (t) => {
  const { sent, names } = await drive(t, {});
  assert.equal(await sent("PUT", "/d/._a", { "x-kitbag": "1" }, "a"), 201);
  assert.deepEqual(await names(), ["/d/._a"]);
});
