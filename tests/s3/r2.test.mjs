// R2Backend on a binding that fails: a call whose answer is lost is not repeated over what others
// did since, and an exception of the binding is the cause of the error. The binding is in memory,
// with the methods and the conditions of the real one; tests in workerd use the real one.

import assert from "node:assert/strict";
import test from "node:test";
import { good, kitbag } from "./lib.mjs";

const retry = { attempts: 3, baseMs: 1, maxMs: 2, timeoutMs: 500 };

/** A binding in memory; `fault(method)` may throw, before or after the call is executed. */
class Binding {
  objects = new Map();
  calls = [];
  #versions = 0;
  fault = () => ({});

  async #call(method, run) {
    this.calls.push(method);
    const { before, after } = this.fault(method);
    if (before) throw before;
    const result = run();
    if (after) throw after;
    return result;
  }

  head(key) {
    return this.#call("head", () => this.objects.get(key) ?? null);
  }

  get(key) {
    return this.#call("get", () => {
      const object = this.objects.get(key);
      if (object === undefined) return null;
      return { ...object, body: {}, arrayBuffer: async () => object.bytes.slice().buffer };
    });
  }

  put(key, bytes, { onlyIf, customMetadata, httpMetadata } = {}) {
    return this.#call("put", () => {
      const found = this.objects.get(key);
      const match = onlyIf?.get("if-match");
      if (onlyIf?.get("if-none-match") === "*" && found) return null;
      if (typeof match === "string" && `"${found?.etag}"` !== match) return null;
      return this.store(key, bytes, customMetadata, httpMetadata);
    });
  }

  store(key, bytes, customMetadata, httpMetadata = {}) {
    this.#versions += 1;
    const etag = `tag${this.#versions}`;
    const uploaded = new Date(0);
    const size = bytes.length;
    const object = { key, size, etag, uploaded, bytes, customMetadata, httpMetadata };
    this.objects.set(key, object);
    return object;
  }

  delete(keys) {
    return this.#call("delete", () => {
      for (const key of [keys].flat()) this.objects.delete(key);
    });
  }

  list({ prefix = "" }) {
    return this.#call("list", () => ({
      objects: [...this.objects.values()].filter(({ key }) => key.startsWith(prefix)),
      delimitedPrefixes: [],
      truncated: false,
    }));
  }

  text(key) {
    const object = this.objects.get(key);
    return object && new TextDecoder().decode(object.bytes);
  }
}

const lost = () => new Error("put: Network connection lost. (10001)");
const text = (string) => new TextEncoder().encode(string);

/** The first call of that method is executed and its answer lost; then another client acts. */
function lose(binding, method, other) {
  let first = true;
  let waiting = false;
  binding.fault = (called) => {
    if (waiting) other();
    waiting = false;
    if (called !== method || !first) return {};
    first = false;
    waiting = true;
    return { after: lost() };
  };
}

function started(options = {}) {
  const binding = new Binding();
  return { binding, r2: new kitbag.R2Backend({ bucket: binding, retry, ...options }) };
}

/** Another instance over the same objects, whose calls never fail. */
function another(binding) {
  const calm = new Binding();
  calm.objects = binding.objects;
  calm.store = binding.store.bind(binding);
  return new kitbag.R2Backend({ bucket: calm });
}

for (const [name, change] of [
  ["upload", (r2) => r2.uploadFiles([["/a.txt", text("ours")]]).then(([one]) => one)],
  ["overwrite", (r2) => r2.write("/a.txt", "ours")],
  ["edit", (r2) => r2.edit("/a.txt", "start", "ours")],
]) {
  test(`${name}: a lost answer of R2 is found out`, async () => {
    const { binding, r2 } = started({ writeMode: "overwrite" });
    good(await r2.write("/a.txt", "start"));
    lose(binding, "put", () => {});
    assert.ok(!(await change(r2)).error);
    assert.equal(binding.text("a.txt"), "ours");
    assert.equal(binding.calls.filter((call) => call === "put").length, 2, "nothing is put again");
  });

  test(`${name}: what others did after a lost answer of R2 stays, and the outcome is unknown`, async () => {
    for (const other of [
      (binding) => binding.store("a.txt", text("theirs")),
      (binding) => binding.objects.delete("a.txt"),
    ]) {
      const { binding, r2 } = started({ writeMode: "overwrite" });
      good(await r2.write("/a.txt", "start"));
      lose(binding, "put", () => other(binding));
      const answer = await change(r2);
      assert.equal(answer.code, "unavailable");
      assert.match(answer.message ?? answer.error, /not known/);
      assert.notEqual(binding.text("a.txt"), "ours");
    }
  });
}

test("an edit of another client after a lost answer of R2 stays", async () => {
  const { binding, r2 } = started({ writeMode: "overwrite" });
  good(await r2.write("/a.txt", "start"));
  const others = another(binding);
  let failed = false;
  binding.fault = (called) => {
    if (called !== "put" || failed) return {};
    failed = true;
    return { after: lost() };
  };
  // Before the backend looks what became of its put, another client edits the text.
  const head = binding.head.bind(binding);
  let edited = false;
  binding.head = async (key) => {
    if (failed && !edited) {
      edited = true;
      good(await others.edit("/a.txt", "ours", "ours and theirs"));
    }
    return head(key);
  };
  good(await r2.write("/a.txt", "ours"));
  assert.equal(binding.text("a.txt"), "ours and theirs");
});

test("an exception of the binding is the cause of the error", async () => {
  for (const [method, run] of [
    ["get", (r2) => r2.read("/a.txt")],
    ["put", (r2) => r2.edit("/a.txt", "start", "ours")],
    ["put", (r2) => r2.write("/new.txt", "ours")],
    ["list", (r2) => r2.ls("/")],
    ["delete", (r2) => r2.delete("/a.txt")],
  ]) {
    const { binding, r2 } = started({ cache: false });
    good(await r2.write("/a.txt", "start"));
    const exception = new Error(`${method}: secret of the binding (10043)`);
    binding.fault = (called) => (called === method ? { before: exception } : {});
    const answer = await run(r2);
    assert.equal(answer.code, "unavailable", method);
    assert.equal(answer.cause, exception, method);
    assert.match(answer.error, /10043/, method);
    assert.doesNotMatch(answer.error, /secret/, method);
  }
});
