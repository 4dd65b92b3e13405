// Many requests, and what is left of them: no socket, timer or listener.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import test from "node:test";
import { HttpBackend, StateBackend, served, serveFiles } from "./lib.mjs";

const REQUESTS = 10_000;

/** What keeps the process alive, by kind. */
function alive() {
  const counts = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

test(`${REQUESTS} requests leave no handle, listener or timer`, async () => {
  const backend = new StateBackend({ files: { "/a.txt": "one" }, writeMode: "overwrite" });
  const before = alive();
  const serve = serveFiles(() => backend, { maxParallel: 100 });
  // A signal of the whole process, as some servers have it.
  const { signal } = new AbortController();
  let asked = 0;
  const fetch = (url, init) => {
    asked += 1;
    const request = new Request(url, {
      method: init.method,
      headers: init.headers,
      body: init.body,
    });
    Object.defineProperty(request, "signal", { value: signal });
    return serve(request);
  };
  const files = new HttpBackend({ url: "http://files.test", fetch });
  const calls = [
    (n) => files.read("/a.txt", 0, n),
    (n) => files.write(`/d/${n % 50}.txt`, String(n)),
    () => files.grep("o", "/"),
    () => files.glob("**"),
    () => files.ls("/d"),
    () => files.read("/missing"),
    (n) => files.append("/a.txt", n % 100 ? "" : "x"),
  ];
  for (let n = 0; asked < REQUESTS; n += 50) {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => calls[(n + at) % calls.length](n + at)),
    );
    for (const { error, code } of answers) assert.ok(!error || code === "not_found", error);
  }
  assert.equal(getEventListeners(signal, "abort").length, 0);
  for (const [kind, count] of Object.entries(alive())) {
    assert.ok(count <= (before[kind] ?? 0), `${count} of ${kind}`);
  }
});

test("a change that is given up before its answer keeps no process alive", async () => {
  const serve = serveFiles(() => new StateBackend());
  const before = alive().Timeout ?? 0;
  const giveUp = new AbortController();
  const fetch = (url, init) => {
    if (init.method === "GET") return serve(new Request(url, init));
    setImmediate(() => giveUp.abort());
    return new Promise(() => {});
  };
  const files = new HttpBackend({ url: "http://files.test", fetch });
  const { error } = await files.write("/a.txt", "one", { signal: giveUp.signal });
  assert.match(error, /./);
  assert.ok(giveUp.signal.aborted);
  assert.equal(alive().Timeout ?? 0, before);
});

test("what is left of large bodies and answers keeps no process alive", async (t) => {
  const size = 3 << 20;
  const backend = new StateBackend({ files: { "/big.bin": new Uint8Array(size) } });
  const before = alive().Timeout ?? 0;
  const serve = serveFiles(() => backend);
  const put = async (path, headers = {}, bytes = size) => {
    const init = { method: "PUT", body: new Uint8Array(bytes), duplex: "half" };
    const sized = { "x-kitbag": "1", "x-kitbag-size": String(size), ...headers };
    const answer = await serve(
      new Request(`http://files.test${path}`, { ...init, headers: sized }),
    );
    await answer.text();
    return answer.status;
  };
  const first = await serve(
    new Request("http://files.test/none", { headers: { "x-kitbag": "1" } }),
  );
  const once = { "idempotency-key": `${first.headers.get("kitbag-ticket")}.abcdefgh12` };
  // Stored, repeated, shorter than it said.
  assert.equal(await put("/one.bin"), 204);
  assert.equal(await put("/two.bin", once), 204);
  assert.equal(await put("/two.bin", once), 204);
  assert.equal(await put("/short.bin", {}, size - 1), 400);
  // An answer that nobody reads to its end.
  const answer = await serve(new Request("http://files.test/big.bin"));
  await answer.body.getReader().read();
  // Nor one that tells of changes.
  backend.watch = () => () => {};
  const told = await serve(new Request("http://files.test/?watch=/"));
  assert.equal(told.headers.get("content-type"), "text/event-stream");
  const heard = told.body.getReader();
  t.after(() => heard.cancel());
  await heard.read();
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(alive().Timeout ?? 0, before);
});

test("clients that go away give their places back", async (t) => {
  const backend = new StateBackend({
    files: { "/a.txt": "one\n".repeat(1000) },
    writeMode: "overwrite",
  });
  const held = new CustomHold(backend);
  const most = 8;
  const { url } = await served(t, () => held.backend, { maxParallel: most });
  const files = new HttpBackend({ url });
  await files.ls("/");
  for (let round = 0; round < 5; round++) {
    held.close();
    const controller = new AbortController();
    const calls = Array.from({ length: most }, () =>
      files.read("/a.txt", 0, 10, { signal: controller.signal }),
    );
    await held.reached(most);
    controller.abort();
    for (const { code } of await Promise.all(calls)) assert.equal(code, "timeout");
    await held.empty();
    held.open();
  }
  const all = await Promise.all(Array.from({ length: most }, () => files.read("/a.txt", 0, 1)));
  for (const { content } of all) assert.equal(content, "one");
});

test("a server's event without end is given up", async (t) => {
  let sent = 0;
  let connections = 0;
  const piece = new TextEncoder().encode("x".repeat(1 << 18));
  const endless = () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          if (sent > 64 << 20) return controller.close();
          sent += piece.length;
          controller.enqueue(piece);
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  const files = new HttpBackend({
    url: "http://files.test",
    watch: true,
    fetch: async () => {
      connections += 1;
      return connections === 1 ? endless() : new Response(null, { status: 501 });
    },
  });
  t.after(() => files.dispose());
  const heard = await new Promise((resolve) => {
    const stop = files.watch("/", ({ rescan }) => {
      stop();
      resolve(rescan);
    });
  });
  assert.equal(heard, true);
  assert.ok(sent < 8 << 20, `${sent} bytes were taken`);
});

/** A backend whose reads wait while it is closed, until their signal aborts. */
class CustomHold {
  constructor(inner) {
    this.closed = false;
    this.waiting = 0;
    this.backend = new Proxy(inner, {
      get: (target, name) => {
        const value = Reflect.get(target, name);
        if (name !== "read") return typeof value === "function" ? value.bind(target) : value;
        return async (path, offset, limit, options) => {
          if (this.closed) {
            this.waiting += 1;
            await new Promise((resolve) => options.signal.addEventListener("abort", resolve));
            this.waiting -= 1;
            return { error: "given up", code: "timeout" };
          }
          return target.read(path, offset, limit);
        };
      },
    });
  }
  close() {
    this.closed = true;
  }
  open() {
    this.closed = false;
  }
  async until(is) {
    while (!is()) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  reached(count) {
    return this.until(() => this.waiting === count);
  }
  empty() {
    return this.until(() => this.waiting === 0);
  }
}
