// What the first line of a request and its header `Host` say to the listener for Node's own server: which file is meant
// follows from the first line alone.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import test from "node:test";
import { answerTo, StateBackend, serveFiles } from "./lib.mjs";

const FILES = { "/a.txt": "above", "/d/a.txt": "inside", "/d/x.txt": "x" };

/** A listener over some files, and what it answers to a first line and a host. */
async function listener(t, options = {}) {
  const files = new StateBackend({ files: FILES });
  const seen = [];
  const backendOf = ({ url }) => {
    seen.push(url);
    return files;
  };
  const made = createServer(serveFiles(backendOf, options).listener);
  made.listen(0, "127.0.0.1");
  await once(made, "listening");
  t.after(() => {
    made.close();
    made.closeAllConnections();
  });
  const { port } = made.address();
  const asked = async (line, host, more = "") => {
    const given = host === undefined ? "" : `Host: ${host}\r\n`;
    const version = host === undefined ? "1.0" : "1.1";
    const text = `${line} HTTP/${version}\r\n${given}x-kitbag: 1\r\n${more}Connection: close\r\n\r\n`;
    const answer = await answerTo(port, text);
    const [head, body = ""] = answer.split("\r\n\r\n");
    return { status: Number(head.split(" ")[1]), head, body };
  };
  return { asked, files, seen, port };
}

test("a host is never a part of the path", async (t) => {
  const { asked, files } = await listener(t);
  assert.equal((await asked("GET /d/a.txt", "")).body, "inside");
  assert.equal((await asked("GET /a.txt", undefined)).body, "above");
  for (const host of ["x/d", "x\\d", "x?", "x#", "u@x", "u:p@x", "x y", "[::1", "x:y"]) {
    const { status, head, body } = await asked("DELETE /a.txt", host);
    assert.equal(status, 400, host);
    assert.match(head, /content-type: application\/json/i);
    assert.deepEqual(JSON.parse(body), {
      error: "The host of the request is none",
      code: "invalid_argument",
    });
  }
  assert.equal((await asked("DELETE /d/a.txt", "")).status, 204);
  assert.deepEqual(
    files.glob("**").files.map(({ path }) => path),
    ["/a.txt", "/d/x.txt"],
  );
});

for (const host of ["x", "x:80", "x:", "[::1]:8080", "127.0.0.1", "A.example"]) {
  test(`${host} is a host`, async (t) => {
    const { asked } = await listener(t);
    assert.equal((await asked("GET /d/a.txt", host)).body, "inside");
  });
}

for (const path of [
  ...["/d\\x.txt", "/d/../a.txt", "/d/%2e%2e/a.txt", "/d/.%2E/a.txt", "/./a.txt", "/d/%2e/x.txt"],
  ...["/d/..", "/d/..?watch=/", "/\\a.txt", "\\a.txt", "/d/\u00fc.txt", "//a.txt", "/d//a.txt"],
  ...["http://x/d\\x.txt", "http://x/d/../a.txt", "http://x\\d/a.txt", "a.txt", "http:///a.txt"],
]) {
  test(`${path} is refused`, async (t) => {
    const { asked } = await listener(t);
    const { status, body } = await asked(`GET ${path}`, "x");
    assert.equal(status, 400);
    // The parser of Node refuses some by itself.
    if (body !== "") assert.match(JSON.parse(body).code, /^invalid_(path|argument)$/);
  });
}

test("an address may be whole, and its host counts", async (t) => {
  const { asked, seen, port } = await listener(t, { hosts: ["files.example"] });
  assert.equal((await asked("GET http://files.example/d/a.txt", "other.example")).body, "inside");
  assert.equal((await asked("GET HTTPS://files.example/a.txt", "files.example")).body, "above");
  assert.equal((await asked("GET http://files.example", "files.example")).status, 200);
  assert.equal((await asked("GET http://other.example/a.txt", "files.example")).status, 421);
  assert.equal((await asked("GET http://u:p@files.example/a.txt", "files.example")).status, 400);
  assert.deepEqual(seen, [
    ...["http://files.example/d/a.txt", "http://files.example/a.txt", "http://files.example/"],
  ]);
  for (const host of ["", undefined, `127.0.0.1:${port}`, "files.example:1"]) {
    assert.equal((await asked("GET /a.txt", host)).status, 421, host);
  }
  assert.equal((await asked("GET /a.txt", "Files.Example")).body, "above");
});
