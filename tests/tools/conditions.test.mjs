// The conditions that kitbag's own backends take beyond the protocol, and that the adapters' changes
// rest on: they hold over every wrapper and for every kind of file.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CompositeBackend, CustomBackend, StateBackend, withPolicy } from "kitbag";

const bytes = (...values) => Uint8Array.from(values);
const text = (value) => new TextEncoder().encode(value);

/** A storage without conditions of its own: calls of one backend take turns. */
function turns(seeds) {
  const files = new Map(Object.entries(seeds).map(([path, content]) => [path, { content }]));
  return new CustomBackend({
    get: async (path) => files.get(path),
    put: async (path, { content }) => {
      files.set(path, { content: content.slice() });
    },
    delete: async (path) => files.delete(path),
    list: async (prefix) => [...files.keys()].filter((path) => path.startsWith(prefix)),
  });
}

const state = (seeds, options) => {
  const backend = new StateBackend(options);
  backend.uploadFiles(Object.entries(seeds));
  return backend;
};

class Subclass extends StateBackend {
  readRaw(path) {
    return super.readRaw(path);
  }
}

const BACKENDS = [
  ["StateBackend", (seeds) => state(seeds)],
  ["StateBackend that overwrites", (seeds) => state(seeds, { writeMode: "overwrite" })],
  ["CustomBackend whose calls take turns", turns],
  [
    "a policy with every rule",
    (seeds) =>
      withPolicy(state(seeds), {
        permissions: [{ operations: ["read", "write"], paths: ["/**"], mode: "allow" }],
        quota: { maxBytes: 1_000_000 },
        inspect: () => undefined,
        hooks: { before: () => undefined },
        audit: () => undefined,
      }),
  ],
  [
    "a composite",
    (seeds) => new CompositeBackend(new StateBackend(), { "/m/": state(cut(seeds)) }),
  ],
  [
    "a composite over a subclass",
    (seeds) => {
      const backend = new Subclass();
      backend.uploadFiles(Object.entries(cut(seeds)));
      return new CompositeBackend(new StateBackend(), { "/m/": backend });
    },
  ],
];

const cut = (seeds) =>
  Object.fromEntries(Object.entries(seeds).map(([path, body]) => [path.slice(2), body]));

const BODIES = [
  ["text", text("one\ntwo\n")],
  ["nothing", bytes()],
  ["bytes", bytes(0, 255, 254)],
];

for (const [name, open] of BACKENDS) {
  const read = async (backend, path) => {
    const [{ content }] = await backend.downloadFiles([path]);
    return content && [...content];
  };
  for (const [what, body] of BODIES) {
    for (const path of ["/m/f.txt", "/m/f.png"]) {
      test(`${name}: edit by bytes replaces exactly a file of ${what} at ${path}`, async () => {
        const backend = open({ [path]: body });
        const stale = await backend.edit(path, bytes(...body, 1), bytes(9));
        assert.equal(stale.code, "conflict");
        assert.deepEqual(await read(backend, path), [...body]);
        const edited = await backend.edit(path, body, bytes(0, 128));
        assert.equal(edited.error, undefined);
        assert.deepEqual(await read(backend, path), [0, 128]);
        const gone = await backend.edit("/m/none", body, bytes(9));
        assert.equal(gone.code, "not_found");
      });

      test(`${name}: delete with unchanged takes exactly a file of ${what} at ${path}`, async () => {
        const backend = open({ [path]: body, "/m/d/x": text("x") });
        const stale = await backend.delete(path, { unchanged: bytes(...body, 1) });
        assert.equal(stale.code, "conflict");
        assert.deepEqual(await read(backend, path), [...body]);
        assert.equal((await backend.delete(path, { unchanged: body })).error, undefined);
        assert.equal(await read(backend, path), null);
        assert.equal((await backend.delete(path, { unchanged: body })).code, "not_found");
        assert.equal((await backend.delete("/m/d", { unchanged: body })).code, "not_found");
        assert.deepEqual(await read(backend, "/m/d/x"), [120]);
      });

      test(`${name}: write with ifAbsent makes a file of ${what} at ${path}, once`, async () => {
        const backend = open({});
        const options = { ifAbsent: true };
        assert.equal((await backend.write(path, body, options)).error, undefined);
        assert.equal((await backend.write(path, bytes(9), options)).code, "already_exists");
        assert.deepEqual(await read(backend, path), [...body]);
      });
    }
  }

  test(`${name}: of ten deletes and edits of one state at once, one is made`, async () => {
    const backend = open({ "/m/f": text("a") });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        at % 2 === 0
          ? backend.delete("/m/f", { unchanged: text("a") })
          : backend.edit("/m/f", text("a"), bytes(at)),
      ),
    );
    assert.equal(answers.filter(({ error }) => error === undefined).length, 1);
  });

  test(`${name}: conditions of the wrong kind are refused`, async () => {
    const backend = open({ "/m/f": text("a") });
    const asked = [
      backend.delete("/m/f", { unchanged: "a" }),
      backend.edit("/m/f", bytes(97), "b"),
      backend.edit("/m/f", "a", bytes(98)),
      backend.write("/m/g", "text", { ifAbsent: true }),
      backend.write("/m/g", bytes(1), { ifAbsent: 1 }),
    ];
    for (const answer of await Promise.all(asked)) assert.equal(answer.code, "invalid_argument");
    assert.deepEqual(await read(backend, "/m/f"), [97]);
  });
}
