// What many backends, tool sets, watches and aborted calls leave behind: nothing. Counted in
// WebAssembly (backends, buffers, tasks, permits, bytes of memory) and in the host (listeners,
// timers, ports, heap).

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { after, before, describe, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  CompositeBackend,
  ContextHubBackend,
  CustomBackend,
  createFileTools,
  HttpBackend,
  IndexedDbBackend,
  OpfsBackend,
  R2Backend,
  S3Backend,
  SandboxBackend,
  StateBackend,
  StoreBackend,
  withPolicy,
} from "../../.cache/pkg-testing/dist/node.js";
import { inUse } from "../../.cache/pkg-testing/dist/testing.js";
import { MapBucket, MapHub, MapStorage, MapStore } from "../chunks/doubles.mjs";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");
const MANY = 10_000;
const MIB = 2 ** 20;

/** Collects garbage until `done`, or as often as may be needed. */
async function collected(done) {
  for (let round = 0; round < 50 && !done(); round++) {
    gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const counts = () => {
  const { memory: _, ...rest } = inUse();
  return rest;
};

const MAKE = {
  StateBackend: () => new StateBackend({ files: { "/a.txt": "a" } }),
  CustomBackend: () => new CustomBackend(new MapStorage()),
  StoreBackend: () => new StoreBackend({ store: new MapStore(), namespace: ["n"] }),
  R2Backend: () => new R2Backend({ bucket: new MapBucket() }),
  CompositeBackend: () => new CompositeBackend(new StateBackend(), { "/m/": new StateBackend() }),
  "a policy": () => withPolicy(new StateBackend(), { quota: { maxBytes: 1_000 } }),
  IndexedDbBackend: () => new IndexedDbBackend({ database: "leaks" }),
  OpfsBackend: () => new OpfsBackend(),
};

describe("dispose", () => {
  for (const [name, make] of Object.entries(MAKE)) {
    test(`${name}: it frees the backend at once, twice is once, and calls are refused`, async () => {
      const backend = make();
      const before = counts().backends;
      backend.dispose();
      assert.equal(counts().backends, before - 1);
      backend.dispose();
      assert.equal(counts().backends, before - 1);
      for (const answer of [
        await backend.ls("/"),
        await backend.read("/a.txt"),
        await backend.write("/b.txt", "b"),
        await backend.grep("a"),
        (await backend.uploadFiles([["/a", new Uint8Array(1)]]))[0],
        (await backend.downloadFiles(["/a"]))[0],
      ]) {
        assert.ok(answer.error, JSON.stringify(answer));
        if (answer.code) assert.equal(answer.code, "unavailable");
      }
    });

    test(`${name}: a block with "using" disposes of it`, () => {
      const backend = make();
      const before = counts().backends;
      backend[Symbol.dispose]();
      assert.equal(counts().backends, before - 1);
    });
  }

  test("a router and a policy go on with what they were made of", async () => {
    const state = new StateBackend({ files: { "/a.txt": "a" } });
    const router = new CompositeBackend(new StateBackend(), { "/m/": state });
    const guarded = withPolicy(state, { readOnly: true });
    state.dispose();
    assert.equal((await router.read("/m/a.txt")).content, "a");
    assert.equal((await guarded.read("/a.txt")).content, "a");
  });

  test("a call that is running when its backend is disposed of ends as usual", async () => {
    const backend = new CustomBackend(new MapStorage());
    const writing = backend.write("/a.txt", "a");
    backend.dispose();
    assert.equal((await writing).error, undefined);
  });
});

describe(`${MANY} of them`, () => {
  test("backends that are disposed of: nothing is held, and memory does not grow", () => {
    const body = "x".repeat(10_000);
    const round = () => {
      const backend = new StateBackend({ files: { "/a.txt": body } });
      backend.grep("x");
      backend.dispose();
    };
    round();
    const before = inUse();
    for (let n = 0; n < MANY; n++) round();
    assert.deepEqual(inUse(), before);
  });

  test("backends that nobody refers to any more are collected", async () => {
    const before = counts().backends;
    for (let n = 0; n < MANY; n++) {
      MAKE.StateBackend();
      // What one backend holds may be released between two rounds.
      if (n % 500 === 499) await collected(() => counts().backends - before < 100);
    }
    await collected(() => counts().backends <= before + 5);
    assert.ok(counts().backends <= before + 5, `${counts().backends - before} are left`);
  });

  test("routers, policies and tool sets are collected with what they hold", async () => {
    const round = () => {
      const state = new StateBackend();
      const guarded = withPolicy(new CompositeBackend(state, {}), { audit: () => undefined });
      createFileTools(guarded, { policy: { readOnly: true } });
    };
    round();
    const before = inUse();
    for (let n = 0; n < MANY / 4; n++) {
      round();
      if (n % 250 === 249) await collected(() => counts().backends - before.backends < 100);
    }
    await collected(() => counts().backends <= before.backends + 20);
    assert.ok(counts().backends <= before.backends + 20, `${counts().backends} are left`);
    assert.ok(inUse().memory - before.memory < 16 * MIB, `${inUse().memory - before.memory}`);
  });

  test("watches: no port and no watcher stays", async () => {
    const ports = () =>
      process.getActiveResourcesInfo().filter((name) => /MessagePort/.test(name)).length;
    const before = ports();
    for (const backend of [new OpfsBackend(), new IndexedDbBackend({ database: "leaks" })]) {
      for (let n = 0; n < MANY; n++) backend.watch(() => undefined)();
      const last = backend.watch(() => undefined);
      backend.dispose();
      last();
    }
    for (let n = 0; n < 200; n++) {
      const backend = new OpfsBackend();
      backend.watch(() => undefined);
      backend.dispose();
    }
    await collected(() => ports() <= before);
    assert.ok(ports() <= before, `${ports()} ports`);
  });

  test("aborted and timed-out searches: no task, listener, timer or permit stays", async () => {
    const timers = () =>
      process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const hanging = () => new Promise(() => undefined);
    const backend = new CustomBackend({
      get: hanging,
      list: hanging,
      put: hanging,
      delete: hanging,
    });
    const guarded = withPolicy(backend, { rateLimit: { operations: 1_000_000, perMs: 60_000 } });
    const kept = new AbortController();
    const [before, running] = [counts(), timers()];
    for (let n = 0; n < MANY / 100; n++) {
      const abort = new AbortController();
      const calls = Array.from({ length: 50 }, () =>
        guarded.grep("a", "/", null, null, { signal: abort.signal, timeoutMs: 60_000 }),
      );
      const late = Array.from({ length: 50 }, () =>
        guarded.grep("a", "/", null, null, { signal: kept.signal, timeoutMs: 1 }),
      );
      abort.abort();
      for (const { code } of await Promise.all([...calls, ...late])) assert.equal(code, "timeout");
      assert.equal(getEventListeners(abort.signal, "abort").length, 0);
    }
    assert.equal(getEventListeners(kept.signal, "abort").length, 0);
    // Backends of other tests may have been collected meanwhile.
    const { backends, ...rest } = counts();
    assert.ok(backends <= before.backends, `${backends} backends`);
    assert.deepEqual({ ...rest, backends: before.backends }, before);
    assert.ok(timers() <= running, `${timers()} timers`);
  });

  test("cancelled commands of a sandbox that ignores its signal keep no timer for long", async () => {
    const timers = () =>
      process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const backend = new SandboxBackend({ id: "box", execute: () => new Promise(() => undefined) });
    const before = timers();
    for (const call of [
      () => backend.read("/a.txt", 0, 1, { timeoutMs: 1 }),
      () => backend.grep("a", "/", null, null, { timeoutMs: 1 }),
      () => backend.write("/a.txt", "a", { timeoutMs: 1 }),
      () => backend.execute("sleep", { signal: AbortSignal.timeout(1) }),
    ]) {
      await call();
    }
    // The host has one second to end a command.
    const until = performance.now() + 10_000;
    while (timers() > before && performance.now() < until) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(timers() <= before, `${timers() - before} timers`);
  });

  test("calls leave nothing on the heap of the host", async () => {
    const backend = withPolicy(MAKE.StateBackend(), { readOnly: true });
    const signal = new AbortController().signal;
    const work = async (times) => {
      for (let n = 0; n < times; n++) {
        await backend.read("/a.txt", 0, 1, { signal });
        await backend.grep("a", "/", null, 1, { signal, timeoutMs: 1_000 });
      }
      await collected(() => false);
      return process.memoryUsage().heapUsed;
    };
    const before = await work(1_000);
    const after = await work(MANY);
    assert.ok(after - before < 8 * MIB, `${(after - before) / MIB} MiB`);
    assert.equal(getEventListeners(signal, "abort").length, 0);
  });
});

describe(`${MANY} calls that ask a host`, () => {
  // What a server answers is not what is counted here.
  const fetched = globalThis.fetch;
  before(() => {
    globalThis.fetch = async () => new Response("", { status: 404 });
  });
  after(() => {
    globalThis.fetch = fetched;
  });
  const credentials = { accessKeyId: "a", secretAccessKey: "s" };
  const ASKED = {
    CustomBackend: MAKE.CustomBackend,
    StoreBackend: MAKE.StoreBackend,
    R2Backend: MAKE.R2Backend,
    S3Backend: () =>
      new S3Backend({ endpoint: "https://s3.test", region: "auto", bucket: "b", credentials }),
    HttpBackend: () => new HttpBackend({ url: "https://files.test/" }),
    ContextHubBackend: () => new ContextHubBackend("a/b", { client: new MapHub() }),
    SandboxBackend: () =>
      new SandboxBackend({ id: "box", execute: async () => ({ output: "", exitCode: 0 }) }),
  };
  for (const [name, make] of Object.entries(ASKED)) {
    test(`${name}: they leave nothing in WebAssembly's memory or on the heap of the host`, async () => {
      const backend = make();
      const signal = new AbortController().signal;
      const work = async (times) => {
        for (let n = 0; n < times; n += 4) {
          await backend.read("/a.txt", 0, 1, { signal });
          await backend.ls("/", { timeoutMs: 1_000 });
          await backend.grep("a", "/", null, 1, { signal, timeoutMs: 1_000 });
          await backend.edit("/none.txt", "a", "b", false, { timeoutMs: 1_000 });
        }
        await collected(() => false);
        return { heap: process.memoryUsage().heapUsed, memory: inUse().memory };
      };
      const first = await work(MANY / 4);
      const last = await work(MANY);
      assert.ok(last.heap - first.heap < 2 * MIB, `${(last.heap - first.heap) / MIB} MiB`);
      assert.ok(last.memory - first.memory < MIB, `${last.memory - first.memory} bytes`);
    });
  }
});

describe("the memory of a large answer is used again", () => {
  const body = `${"line of text ".repeat(8)}\n`.repeat(100_000);
  const large = new StateBackend({ files: { "/a.txt": body }, writeMode: "overwrite" });
  const CALLS = {
    read: () => large.read("/a.txt", 0, 1e9),
    readRaw: () => large.readRaw("/a.txt"),
    grep: () => large.grep("line"),
    "grep with context": () => large.grep("line", "/", null, null, { before: 9, after: 9 }),
    "grep by an expression": () => large.grep("l.ne", "/", null, null, { regex: true }),
    downloadFiles: () => large.downloadFiles(["/a.txt"]),
    write: () => large.write("/b.txt", body),
    edit: () => large.edit("/b.txt", "text", "TEXT", true),
    "edit back": () => large.edit("/b.txt", "TEXT", "text", true),
    snapshot: () => large.snapshot(),
  };
  for (const [name, call] of Object.entries(CALLS)) {
    test(`${name}: ten take no more memory than two`, () => {
      call();
      call();
      const before = inUse().memory;
      for (let n = 0; n < 10; n++) call();
      assert.equal(inUse().memory, before);
    });
  }
});
