// What a policy and a router add to a call: no entry into WebAssembly and no way out of it. Every
// function that goes in or out of any instance is counted, the primary's and the chunks' alike.

import assert from "node:assert/strict";
import { test } from "node:test";

let counts = new Map();

function counted(direction, name, call) {
  return (...args) => {
    const key = `${direction} ${name}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return call(...args);
  };
}

const { Instance } = WebAssembly;
let instances = 0;
WebAssembly.Instance = class {
  constructor(module, imports) {
    instances += 1;
    const outward = {};
    for (const [from, names] of Object.entries(imports)) {
      const entries = Object.entries(names).map(([name, value]) => [
        name,
        typeof value === "function" ? counted("out", name, value) : value,
      ]);
      outward[from] = Object.fromEntries(entries);
    }
    const { exports } = new Instance(module, outward);
    const entries = Object.entries(exports).map(([name, value]) => [
      name,
      typeof value === "function" ? counted("in", name, value) : value,
    ]);
    this.exports = Object.fromEntries(entries);
  }
};
// Only what is imported after this is counted.
const { CompositeBackend, CustomBackend, StateBackend, withPolicy } = await import(
  "../lib/kitbag.mjs"
);

const TEXT = "one\ntwo\nthree\n";

/** A storage that answers as a real one does: later. */
class Slow {
  files = new Map();
  async get(path) {
    return this.files.get(path) ?? null;
  }
  async list(prefix) {
    return [...this.files.values()].filter(({ path }) => path.startsWith(prefix));
  }
  async put(path, file) {
    this.files.set(path, { ...file, path });
    return {};
  }
  async delete(path) {
    return this.files.delete(path);
  }
}

const permissions = [
  { operations: ["read", "write"], paths: ["/never/**"], mode: "deny" },
  { operations: ["write"], paths: ["/**/*.lock"], mode: "deny" },
];

/** Operations, beneath a directory. */
const OPERATIONS = {
  read: (backend, at) => backend.read(`${at}/a.txt`),
  grep: (backend, at) => backend.grep("two", at || "/"),
  // There and back, so that each time is like the first.
  edit: async (backend, at) => {
    await backend.edit(`${at}/a.txt`, "two", "TWO");
    return backend.edit(`${at}/a.txt`, "TWO", "two");
  },
};

/** What one more call takes, in numbers by name. */
async function crossings(operation, backend, at) {
  for (let n = 0; n < 3; n++) {
    const answer = await operation(backend, at);
    assert.equal(answer.error, undefined);
  }
  counts = new Map();
  await operation(backend, at);
  // A StateBackend that is asked directly answers at once, by another entry.
  const starts = counts.get("in call_now");
  if (starts !== undefined) {
    counts.delete("in call_now");
    counts.set("in call_start", starts);
  }
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Rules and mounts over two backends; what is bare is asked for its own files. */
const STORAGES = {
  StateBackend: () => new StateBackend(),
  CustomBackend: () => new CustomBackend(new Slow()),
};

for (const [storage, make] of Object.entries(STORAGES)) {
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    test(`${name} over ${storage} crosses no more often behind a policy and a router`, async () => {
      const bare = make();
      await bare.write("/a.txt", TEXT);
      const alone = await crossings(operation, bare, "");
      assert.ok(alone["in call_start"] > 0);
      // The other backend of a router asks nobody, not even for a running graph.
      const other = new StateBackend({ scope: "instance" });
      const asDefault = new CompositeBackend(bare, { "/other/": other });
      const asMount = new CompositeBackend(other, { "/m/": bare });
      const ways = [
        [withPolicy(bare, { permissions }), ""],
        [asDefault, ""],
        [asMount, "/m"],
        [withPolicy(asDefault, { permissions }), ""],
        [withPolicy(asMount, { permissions }), "/m"],
        [withPolicy(new CompositeBackend(asMount, { "/x/": asDefault }), { permissions }), "/m"],
      ];
      for (const [backend, at] of ways) {
        assert.deepEqual(await crossings(operation, backend, at), alone);
      }
    });
  }
}

test("a router mounts, a policy guards and a storage answers in instances of one memory", () => {
  // One of each chunk that was used and the primary; in a build that is not cut the primary alone.
  assert.ok(instances === 1 || instances >= 4, String(instances));
});
