// A page of Chromium lends OPFS, IndexedDB and memory to a server of Node with `ws`, and to a Worker.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { WebSocketServer } from "ws";
import { borrowFiles } from "../../pkg/dist/lend.js";
import { createFileTools } from "../../pkg/dist/node.js";
import { at } from "../../scripts/lib/paths.mjs";
import { launch } from "../browser/lib/browsers.mjs";
import { serving } from "../clients/lib.mjs";
import { pageScript, workerModules } from "../lib/bundle.mjs";
import { startWorker } from "../lib/workerd.mjs";

let server;
let sockets;
let browser;
let page;

before(async () => {
  const source = readFileSync(at("tests/lend/page.mjs"), "utf8");
  const script = await pageScript(source, at("pkg"), {
    alias: { "kitbag/lend": at("pkg/dist/lend.js"), kitbag: at("pkg/dist/browser.js") },
  });
  server = await serving(() => null, { "/page.js": script });
  sockets = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(sockets, "listening");
  browser = await launch("chromium");
  page = await browser.page(`${server.origin}/pages/blank.html`);
});
after(async () => {
  await browser?.close();
  sockets?.close();
  await server?.close();
});

const call = (name, argument) => page.call("/page.js", name, argument);

/** A tree of the page, as a backend here. */
async function borrowed(kind, confirms = false) {
  const connected = once(sockets, "connection");
  const url = `ws://127.0.0.1:${sockets.address().port}`;
  const lending = call("lend", { kind, url, confirms });
  const [socket] = await connected;
  const files = borrowFiles(socket);
  await lending;
  return { files, socket };
}

for (const kind of ["opfs", "indexeddb", "state"]) {
  test(`${kind}: reads, changes and searches of the server are those of the page`, async () => {
    const { files, socket } = await borrowed(kind);
    assert.equal((await files.read("/notes.md")).content, "needle\n");
    assert.equal((await files.edit("/notes.md", "needle", "thread")).error, undefined);
    assert.equal(await call("content", { kind, path: "/notes.md" }), "thread\n");
    const { matches } = await files.grep("thread");
    assert.deepEqual(
      matches.map(({ path }) => path),
      ["/notes.md"],
    );
    assert.equal(
      (await files.write("/notes.md", "lost", { ifAbsent: true })).error !== undefined,
      true,
    );
    const bytes = randomBytes(5 << 20);
    const [stored] = await files.uploadFiles([["/large.bin", bytes]]);
    assert.equal(stored.error, null);
    const { data } = await files.readRaw("/large.bin");
    assert.ok(bytes.equals(data.content));
    const many = await Promise.all(
      Array.from({ length: 40 }, (_, n) => files.write(`/many/${n}.md`, `${n}`)),
    );
    assert.ok(many.every(({ error }) => error === undefined));
    assert.equal((await files.ls("/many")).files.length, 40);
    // The page's rules.
    for (const answer of [
      await files.read("/secret/key.txt"),
      await files.write("/secret/new.txt", "x"),
      await files.copy("/secret/key.txt", "/open.txt"),
    ]) {
      assert.ok(answer.error);
      assert.doesNotMatch(JSON.stringify(answer), /5ECRET/);
    }
    assert.deepEqual((await files.grep("5ECRET")).matches, []);
    socket.close();
    await once(socket, "close");
    assert.equal((await files.read("/notes.md")).code, "unavailable");
  });
}

test("a person at the page is asked before an agent of the server changes a file", async () => {
  const { files, socket } = await borrowed("opfs", true);
  const tools = createFileTools(files);
  const write = (content) => tools.call("write_file", { file_path: "/plan.md", content });
  await call("answers", { answer: false });
  const refused = await write("no\n");
  assert.equal(refused.isError, true);
  await call("answers", { answer: true });
  const stored = await write("yes\n");
  assert.equal(stored.isError, false, stored.content[0].text);
  assert.deepEqual(await call("answers", { answer: false }), ["/plan.md"]);
  assert.equal(await call("content", { kind: "opfs", path: "/plan.md" }), "yes\n");
  socket.close();
});

const WORKER = `
  import { borrowFiles } from "kitbag/lend";
  import { createFileTools } from "kitbag";
  export default {
    async fetch(request) {
      if (request.headers.get("upgrade") !== "websocket") return new Response(null, { status: 426 });
      const [theirs, socket] = Object.values(new WebSocketPair());
      socket.accept();
      const files = borrowFiles(socket);
      const work = async () => {
        const tools = createFileTools(files);
        const found = await tools.call("grep", { pattern: "needle" });
        const hidden = await tools.call("read_file", { file_path: "/secret/key.txt" });
        const text = [found.content[0].text, hidden.content[0].text, "x".repeat(3 << 20)].join("\\n");
        await tools.call("write_file", { file_path: "/report.md", content: text });
      };
      socket.addEventListener("message", ({ data }) => data === "begin" && work().then(
        () => socket.send("done"),
        (error) => socket.send(String(error)),
      ));
      return new Response(null, { status: 101, webSocket: theirs });
    },
  };
`;

test("a Worker borrows a page's files", async () => {
  const modules = await workerModules(WORKER, at("tests/lend"), {
    alias: { "kitbag/lend": at("pkg/dist/lend.js"), kitbag: at("pkg/dist/workerd.js") },
  });
  const worker = await startWorker(modules);
  try {
    const url = String(worker.url).replace("http", "ws");
    assert.equal(await call("worked", { url }), "done");
    const report = await call("content", { kind: "state", path: "/report.md" });
    assert.match(report, /\/notes\.md/);
    assert.doesNotMatch(report, /5ECRET/);
    assert.ok(report.includes("x".repeat(1000)));
  } finally {
    await worker.stop();
  }
});
