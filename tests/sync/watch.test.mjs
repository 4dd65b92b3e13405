// `sync.watch`: runs follow each other, later after failures, not while the host is offline, until it is ended.

import assert from "node:assert/strict";
import { test } from "node:test";
import { contents, kept, kitbag, put, sync } from "./lib.mjs";

const { CustomBackend, StateBackend, adaptBackendProtocol } = kitbag;
const state = () => new StateBackend({ files: {} });

/** Results in the order in which they came, and who waits for the next one. */
function results() {
  const all = [];
  let heard = () => {};
  const next = async (count) => {
    while (all.length < count) await new Promise((resolve) => (heard = resolve));
    return all[count - 1];
  };
  const onResult = (result) => {
    all.push({ ...result, at: performance.now() });
    heard();
  };
  return { all, next, onResult };
}

test("changes of both sides go across until it is ended", async () => {
  const [a, b] = [state(), state()];
  const { all, next, onResult } = results();
  const stop = sync.watch(a, b, { ...kept(a), everyMs: 100, onResult });
  await next(1);
  await put(a, { "/a.txt": "of a" });
  while (!(await contents(b))["/a.txt"]) await next(all.length + 1);
  await put(b, { "/b.txt": "of b" });
  while (!(await contents(a))["/b.txt"]) await next(all.length + 1);
  await stop();
  const ended = all.length;
  await put(a, { "/late.txt": "late" });
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(all.length, ended);
  assert.equal((await contents(b))["/late.txt"], undefined);
  assert.ok(all.every(({ error }) => error === undefined));
});

/** A side that can be switched off. */
function flaky(inner) {
  const side = { off: false, calls: 0 };
  const backend = new Proxy(adaptBackendProtocol(inner), {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args) => {
        side.calls += 1;
        if (side.off) return Promise.resolve({ error: "the line is down", code: "unavailable" });
        return value.apply(target, args);
      };
    },
  });
  return { side, backend };
}

test("it comes back later and later while a side does not answer, and goes on then", async () => {
  const a = state();
  const inner = state();
  const { side, backend } = flaky(inner);
  const { all, next, onResult } = results();
  const stop = sync.watch(a, backend, { ...kept(a), everyMs: 100, onResult });
  try {
    assert.equal((await next(1)).error, undefined);
    side.off = true;
    await put(a, { "/a.txt": "of a" });
    const first = all.length + 1;
    while ((await next(all.length + 1)).error === undefined);
    const failed = all.length;
    await next(failed + 3);
    const pauses = [1, 2, 3].map((n) => all[failed - 1 + n].at - all[failed - 2 + n].at);
    assert.ok(first <= failed && pauses[2] > pauses[0] * 1.8, `pauses of ${pauses}`);
    assert.ok(all.slice(failed - 1).every(({ code }) => code === "unavailable"));
    side.off = false;
    await next(all.length + 1);
    assert.equal((await contents(inner))["/a.txt"], "of a");
  } finally {
    await stop();
  }
});

test("it ends at once amid a pause, and breaks off a run", async () => {
  const [a, b] = [state(), state()];
  const { next, onResult } = results();
  const stop = sync.watch(a, b, { ...kept(a), everyMs: 60_000, onResult });
  await next(1);
  const began = performance.now();
  await stop();
  assert.ok(performance.now() - began < 5_000);

  const never = () => new Promise(() => {});
  const silent = new CustomBackend({ get: never, put: never, delete: never, list: never });
  const other = results();
  const end = sync.watch(a, silent, { ...kept(a), onResult: other.onResult });
  await new Promise((resolve) => setTimeout(resolve, 50));
  await end();
  assert.equal(other.all.length, 0, "a run that was broken off tells nothing");
});

test("a pause that is longer than any timer is no short one", async () => {
  const [a, b] = [state(), state()];
  const { all, next, onResult } = results();
  const stop = sync.watch(a, b, { ...kept(a), everyMs: 2 ** 31, onResult });
  await next(1);
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(all.length, 1);
  await stop();
});

test("a browser that is offline waits until it says that it is not", async () => {
  const host = new EventTarget();
  const saved = ["navigator", "addEventListener", "removeEventListener"].map((name) => [
    name,
    Object.getOwnPropertyDescriptor(globalThis, name),
  ]);
  const navigator = { onLine: false };
  for (const [name, value] of Object.entries({
    navigator,
    addEventListener: host.addEventListener.bind(host),
    removeEventListener: host.removeEventListener.bind(host),
  })) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  const [a, b] = [state(), state()];
  const { all, next, onResult } = results();
  try {
    const stop = sync.watch(a, b, { ...kept(a), everyMs: 100, onResult });
    await new Promise((resolve) => setTimeout(resolve, 250));
    assert.equal(all.length, 0);
    navigator.onLine = true;
    host.dispatchEvent(new Event("online"));
    assert.equal((await next(1)).error, undefined);
    await stop();
  } finally {
    for (const [name, own] of saved) {
      if (own) Object.defineProperty(globalThis, name, own);
      else delete globalThis[name];
    }
  }
});

test("wrong options are thrown, or told once", async () => {
  const [a, b] = [state(), state()];
  const watch = (more) => () => sync.watch(a, b, { ...kept(a), ...more });
  assert.throws(watch({ everyMs: 99 }), /"everyMs" must be at least 100, not 99/);
  assert.throws(watch({ everyMs: "5" }), /"everyMs" must be a whole number/);
  assert.throws(watch({ onResult: 1 }), /"onResult" must be a function/);
  assert.throws(watch({ dryRun: true }), /"dryRun" must be left out/);
  assert.throws(watch({ signal: AbortSignal.timeout(1) }), /"signal" must be left out/);
  const { all, next, onResult } = results();
  const stop = sync.watch(a, b, { ...kept(a), names: "x", everyMs: 100, onResult });
  assert.match((await next(1)).error, /"names"/);
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(all.length, 1, "it would fail again");
  await stop();
});
