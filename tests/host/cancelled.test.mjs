// A change that was cancelled while the host was making it: the host may still make it, but never
// over a newer change that was acknowledged. Each storage answers when the test lets it.

import assert from "node:assert/strict";
import test from "node:test";
import { CHANGES, codeOf, Gate, textOf, turns } from "./gate.mjs";
import { kitbag } from "./lib.mjs";

const { CustomBackend, StoreBackend, withPolicy } = kitbag;

const STORAGES = {
  "CustomBackend without compare-and-swap": (gate, files) => custom(gate, files, {}),
  "CustomBackend with compare-and-swap": (gate, files) =>
    custom(gate, files, { create: "storage", update: "storage" }),
  StoreBackend: (gate, files) => {
    const item = (key) => {
      const value = files.get(key);
      return value && { value, key, namespace: ["files"] };
    };
    const store = {
      get: async (_, key) => item(key) ?? null,
      put: (_, key, value) => gate.pass(() => void files.set(key, value)),
      delete: (_, key) => gate.pass(() => void files.delete(key)),
      search: async (_, { offset = 0 } = {}) => [...files.keys()].slice(offset).map(item),
    };
    return new StoreBackend({ store, namespace: ["files"], writeMode: "overwrite" });
  },
};

function custom(gate, files, capability) {
  let version = 0;
  const storage = {
    capability,
    get: async (path) => files.get(path) ?? null,
    list: async (prefix) =>
      [...files]
        .filter(([path]) => path.startsWith(prefix))
        .map(([path, { content }]) => ({ path, size: content.length })),
    put: (path, { content }, condition) =>
      gate.pass(() => {
        const now = files.get(path);
        if (condition.mode === "create" && now) return false;
        if (condition.mode === "update" && now?.version !== condition.version) return false;
        version += 1;
        files.set(path, { content, version });
        return { version };
      }),
    delete: (path) => gate.pass(() => files.delete(path)),
  };
  return new CustomBackend(storage, { writeMode: "overwrite" });
}

for (const [name, make] of Object.entries(STORAGES)) {
  async function begin() {
    const gate = new Gate();
    gate.open = true;
    const files = new Map();
    const backend = make(gate, files);
    assert.equal((await backend.write("/d/a.txt", "old")).error, undefined);
    gate.open = false;
    return { gate, backend, files };
  }

  for (const [first, [change]] of Object.entries(CHANGES)) {
    for (const later of ["write", "upload", "delete"]) {
      test(`${name}: a cancelled ${first} never lands over a later ${later}`, async () => {
        const { gate, backend } = await begin();
        const abort = new AbortController();
        const cancelled = change(backend, "cancelled", { signal: abort.signal });
        await gate.begun(1);
        await turns();
        const begun = gate.waiting.length;
        abort.abort();
        assert.equal(codeOf(await cancelled), "timeout");
        const [next, leaves] = CHANGES[later];
        let answer;
        const acknowledged = next(backend, "newer").then((said) => {
          answer = said;
        });
        await turns();
        // A host may make changes in another order than they began: the last one first.
        gate.open = true;
        for (const one of gate.waiting.toReversed()) one.make();
        assert.equal(answer, undefined, "the later change waits for the cancelled one");
        assert.equal(gate.waiting.length, begun, "the later change was not begun");
        await acknowledged;
        if (leaves === "gone") {
          assert.ok([undefined, "not_found"].includes(answer.code), JSON.stringify(answer));
          assert.equal(await textOf(backend, "/d/a.txt"), undefined);
        } else {
          assert.equal(codeOf(answer), null);
          assert.equal(await textOf(backend, "/d/a.txt"), "newer");
        }
      });
    }
  }

  test(`${name}: a change that was cancelled before it began closes nothing`, async () => {
    const { gate, backend } = await begin();
    gate.open = true;
    const answer = await backend.write("/d/a.txt", "x", { signal: AbortSignal.abort() });
    assert.equal(answer.code, "timeout");
    assert.equal((await backend.write("/d/a.txt", "newer")).error, undefined);
    assert.equal(await textOf(backend, "/d/a.txt"), "newer");
  });

  test(`${name}: a signal that aborts after the answer closes nothing`, async () => {
    const { gate, backend } = await begin();
    gate.open = true;
    const abort = new AbortController();
    await backend.write("/d/a.txt", "first", { signal: abort.signal });
    abort.abort();
    assert.equal((await backend.write("/d/a.txt", "newer")).error, undefined);
  });

  test(`${name}: a change whose timeoutMs is over never lands over a later one`, async () => {
    const { gate, backend } = await begin();
    const late = await backend.write("/d/a.txt", "late", { timeoutMs: 5 });
    assert.equal(late.code, "timeout");
    const next = backend.write("/d/a.txt", "newer");
    await turns();
    gate.open = true;
    for (const one of gate.waiting.toReversed()) one.make();
    assert.equal((await next).error, undefined);
    assert.equal(await textOf(backend, "/d/a.txt"), "newer");
  });

  test(`${name}: the path opens again when a cancelled put is rejected`, async () => {
    const { gate, backend } = await begin();
    assert.equal((await backend.write("/d/a.txt", "x", { timeoutMs: 5 })).code, "timeout");
    const next = backend.write("/d/a.txt", "newer");
    await turns();
    gate.open = true;
    for (const one of gate.waiting) one.fail(new Error("refused"));
    assert.equal((await next).error, undefined);
    assert.equal(await textOf(backend, "/d/a.txt"), "newer");
  });

  test(`${name}: a later write ends at its own timeoutMs if the cancelled put hangs`, async () => {
    const { gate, backend } = await begin();
    assert.equal((await backend.write("/d/a.txt", "x", { timeoutMs: 5 })).code, "timeout");
    const answer = await backend.write("/d/a.txt", "newer", { timeoutMs: 5 });
    assert.equal(answer.code, "timeout");
    assert.equal(gate.waiting.length, 1, "the later put was not begun");
  });

  test(`${name}: without timeoutMs a later write is told that the cancelled put hangs`, async (t) => {
    const { gate, backend } = await begin();
    assert.equal((await backend.write("/d/a.txt", "x", { timeoutMs: 5 })).code, "timeout");
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const next = backend.write("/d/a.txt", "newer");
    await turns();
    t.mock.timers.tick(31_000);
    const answer = await next;
    assert.equal(answer.code, "unavailable");
    assert.match(answer.error, /'\/d\/a\.txt' was given up/);
    assert.equal(gate.waiting.length, 1, "the later put was not begun");
  });

  test(`${name}: other paths stay open while a cancelled put hangs`, async () => {
    const { gate, backend } = await begin();
    assert.equal((await backend.write("/d/a.txt", "x", { timeoutMs: 5 })).code, "timeout");
    gate.open = true;
    assert.equal((await backend.write("/d/b.txt", "beside")).error, undefined);
    assert.equal((await backend.edit("/d/b.txt", "beside", "edited")).error, undefined);
    assert.equal(await textOf(backend, "/d/a.txt"), "old");
  });

  test(`${name}: cancelled writes never exceed a quota`, async () => {
    const gate = new Gate();
    const files = new Map();
    const guarded = withPolicy(make(gate, files), { quota: { maxBytes: 1000 } });
    for (let at = 0; at < 4; at++) {
      const abort = new AbortController();
      const cancelled = guarded.write(`/${at}.txt`, "x".repeat(900), { signal: abort.signal });
      if (at === 0) await gate.begun(1);
      await turns();
      abort.abort();
      assert.equal((await cancelled).code, "timeout");
    }
    const last = guarded.write("/last.txt", "x".repeat(900));
    await turns();
    gate.open = true;
    for (const one of gate.waiting) one.make();
    assert.equal((await last).code, "quota_exceeded");
    const sizes = (await guarded.glob("**")).files.map((file) => file.size);
    assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= 1000, `${sizes}`);
  });

  test(`${name}: a directory's delete beside writes never exceeds a quota`, async () => {
    const gate = new Gate();
    gate.open = true;
    const files = new Map();
    const guarded = withPolicy(make(gate, files), { quota: { maxBytes: 1000 } });
    await guarded.write("/d/a.txt", "x".repeat(500));
    await guarded.write("/e.txt", "x".repeat(500));
    gate.open = false;
    // An overwrite of a counted file reserves nothing, and the delete takes the file away first.
    const gone = guarded.delete("/d");
    await gate.begun(1);
    const over = guarded.write("/d/a.txt", "y".repeat(500));
    await turns();
    gate.waiting[0].make();
    await gone;
    await gate.begun(2);
    const more = guarded.write("/f.txt", "z".repeat(500));
    await turns();
    gate.open = true;
    for (const one of gate.waiting) one.make();
    await Promise.all([over, more]);
    const sizes = (await guarded.glob("**")).files.map((file) => file.size);
    assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= 1000, `${sizes}`);
  });
}
