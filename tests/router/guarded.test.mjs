// An object of ours whose methods were replaced, in whatever way, is called through these methods
// by routers, policies, tools and stores of policies. Only an untouched object is used directly.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CompositeBackend,
  createFileTools,
  PolicyBackend,
  StateBackend,
  withPolicy,
} from "../lib/kitbag.mjs";

const files = () => new StateBackend({ files: { "/a.txt": "needle" } });

const OBJECTS = {
  "a policy": () => withPolicy(files(), { readOnly: false }),
  "a router": () => new CompositeBackend(files(), { "/m/": new StateBackend() }),
  "a StateBackend": files,
};

/** Answers of the guard, by method. */
const REFUSAL = { error: "guarded", code: "permission_denied" };
const batch = (items) =>
  items.map((item) => ({ path: [item].flat()[0], ...REFUSAL, content: null }));
const guards = {
  uploadFiles: async (items) => batch(items),
  downloadFiles: async (items) => batch(items),
};
const guardOf = (name) => guards[name] ?? (async () => REFUSAL);

/** Ways to put a guard in the place of a method. Each returns the guarded object. */
const WAYS = {
  assigned: (object, name, guard) => Object.assign(object, { [name]: guard }),
  "assigned and frozen": (object, name, guard) =>
    Object.freeze(Object.assign(object, { [name]: guard })),
  "assigned and sealed": (object, name, guard) =>
    Object.seal(Object.assign(object, { [name]: guard })),
  "assigned, not extensible": (object, name, guard) =>
    Object.preventExtensions(Object.assign(object, { [name]: guard })),
  "defined, fixed": (object, name, value) => Object.defineProperty(object, name, { value }),
  "defined, configurable": (object, name, value) =>
    Object.defineProperty(object, name, { value, configurable: true }),
  "defined, writable": (object, name, value) =>
    Object.defineProperty(object, name, { value, writable: true }),
  "defined, enumerable and fixed": (object, name, value) =>
    Object.defineProperty(object, name, { value, enumerable: true }),
  "defined and frozen": (object, name, value) =>
    Object.freeze(Object.defineProperty(object, name, { value, configurable: true })),
  "a fixed getter": (object, name, guard) =>
    Object.defineProperty(object, name, { get: () => guard }),
  "a configurable getter": (object, name, guard) =>
    Object.defineProperty(object, name, { get: () => guard, configurable: true }),
  "a getter, frozen": (object, name, guard) =>
    Object.freeze(Object.defineProperty(object, name, { get: () => guard, configurable: true })),
  "Reflect.defineProperty": (object, name, value) => {
    Reflect.defineProperty(object, name, { value });
    return object;
  },
  "another prototype": (object, name, guard) =>
    Object.setPrototypeOf(
      object,
      Object.create(Object.getPrototypeOf(object), { [name]: { value: guard } }),
    ),
  "a class in between": (object, name, guard) => {
    class Between extends object.constructor {}
    Between.prototype[name] = guard;
    return Object.setPrototypeOf(object, Between.prototype);
  },
  "a proxy": (object, name, guard) =>
    new Proxy(object, {
      get(target, key) {
        if (key === name) return guard;
        const value = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    }),
  "a proxy of a frozen object": (object, name, guard) =>
    new Proxy(Object.freeze(object), {
      get(target, key) {
        if (key === name) return guard;
        const value = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    }),
};

const CALLS = {
  ls: (backend) => backend.ls("/"),
  read: (backend) => backend.read("/a.txt"),
  readRaw: (backend) => backend.readRaw("/a.txt"),
  grep: (backend) => backend.grep("needle"),
  glob: (backend) => backend.glob("*"),
  write: (backend) => backend.write("/new.txt", "x"),
  edit: (backend) => backend.edit("/a.txt", "needle", "x"),
  delete: (backend) => backend.delete("/a.txt"),
  uploadFiles: (backend) => backend.uploadFiles([["/new.txt", new Uint8Array(1)]]),
  downloadFiles: (backend) => backend.downloadFiles(["/a.txt"]),
  move: (backend) => backend.move("/a.txt", "/b.txt"),
  copy: (backend) => backend.copy("/a.txt", "/b.txt"),
  append: (backend) => backend.append("/a.txt", "x"),
};

const USERS = {
  "a policy": (backend) => withPolicy(backend, {}),
  "a policy in a policy": (backend) => withPolicy(withPolicy(backend, {}), {}),
  "a router": (backend) => new CompositeBackend(backend, {}),
  "a router with mounts": (backend) =>
    new CompositeBackend(backend, { "/elsewhere/": new StateBackend() }),
};

for (const [what, make] of Object.entries(OBJECTS)) {
  for (const [way, put] of Object.entries(WAYS)) {
    test(`${what} with a method ${way} is called through it`, async () => {
      for (const [name, call] of Object.entries(CALLS)) {
        for (const [user, use] of Object.entries(USERS)) {
          let calls = 0;
          const guard = (...args) => {
            calls += 1;
            return guardOf(name)(...args);
          };
          const guarded = put(make(), name, guard);
          const [answer] = [await call(use(guarded))].flat();
          assert.ok(answer.error, `${name} through ${user} did not meet the guard`);
          assert.ok(calls > 0, `${name} through ${user}`);
        }
      }
    });
  }
}

test("a mount with a frozen guard is called through it", async () => {
  for (const [way, put] of Object.entries(WAYS)) {
    const guarded = put(withPolicy(files(), {}), "read", async () => REFUSAL);
    const router = new CompositeBackend(new StateBackend(), { "/m/": guarded });
    assert.equal((await router.read("/m/a.txt")).code, "permission_denied", way);
  }
});

test("tools call a guard that was put in place in whatever way", async () => {
  for (const [way, put] of Object.entries(WAYS)) {
    const guarded = put(withPolicy(files(), {}), "write", async () => REFUSAL);
    const tools = createFileTools(guarded);
    await tools.call("write_file", { file_path: "/new.txt", content: "x" });
    assert.equal((await guarded.downloadFiles(["/new.txt"]))[0].error, "file_not_found", way);
  }
});

test("a method that was patched on a class is called", async () => {
  for (const how of ["value", "get"]) {
    const original = Object.getOwnPropertyDescriptor(PolicyBackend.prototype, "write");
    const guard = async () => REFUSAL;
    Object.defineProperty(PolicyBackend.prototype, "write", {
      ...(how === "value" ? { value: guard } : { get: () => guard }),
      configurable: true,
    });
    try {
      const outer = new CompositeBackend(withPolicy(files(), {}), {});
      assert.equal((await outer.write("/new.txt", "x")).error, "guarded");
    } finally {
      if (original) Object.defineProperty(PolicyBackend.prototype, "write", original);
      else delete PolicyBackend.prototype.write;
    }
  }
});

test("a getter on a class that shows the original once does not get past the check", async () => {
  const base = Object.getPrototypeOf(PolicyBackend.prototype);
  const { write } = base;
  let asked = 0;
  const guard = async () => REFUSAL;
  Object.defineProperty(PolicyBackend.prototype, "write", {
    get() {
      asked += 1;
      return asked === 1 ? write : guard;
    },
    configurable: true,
  });
  try {
    const outer = new CompositeBackend(withPolicy(files(), {}), {});
    await outer.write("/other.txt", "x");
    assert.equal((await outer.write("/new.txt", "x")).error, "guarded");
  } finally {
    delete PolicyBackend.prototype.write;
  }
});

test("a replaced capability is the one that a router asks for", () => {
  for (const define of [
    (object, value) => Object.defineProperty(object, "capability", { value }),
    (object, value) => Object.defineProperty(object, "capability", { get: () => value }),
  ]) {
    const backend = define(files(), { ...files().capability, notes: ["a replaced capability"] });
    const outer = new CompositeBackend(backend, {});
    assert.deepEqual(outer.capability.notes, ["a replaced capability"]);
  }
});
