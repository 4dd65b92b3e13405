// Storages and backends that list files without sizes, or with sizes that are none: a quota reads
// such files to count them, and `ls` does not claim that they are empty.

import assert from "node:assert/strict";
import test from "node:test";
import { kitbag } from "./lib.mjs";

const { CompositeBackend, CustomBackend, StateBackend, withPolicy } = kitbag;
const bytes = (text) => new TextEncoder().encode(text);

/** A storage over a map, which lists what `row` makes of each file. */
function storage(row) {
  const files = new Map([
    ["/a.txt", bytes("x".repeat(60))],
    ["/d/b.txt", bytes("y".repeat(30))],
  ]);
  return {
    files,
    reads: new Set(),
    get(path) {
      this.reads.add(path);
      return files.has(path) ? { content: files.get(path) } : null;
    },
    list: (prefix) =>
      [...files].filter(([path]) => path.startsWith(prefix)).map(([path, body]) => row(path, body)),
    put: (path, file) => void files.set(path, file.content),
    delete: (path) => files.delete(path),
  };
}

/** A backend of the protocol whose `glob` and `ls` tell what `size` makes of each file. */
function foreign(size) {
  const state = new StateBackend({
    files: { "/a.txt": "x".repeat(60), "/d/b.txt": "y".repeat(30) },
    writeMode: "overwrite",
  });
  const changed = (answer) => ({
    ...answer,
    files: answer.files?.map((file) => (file.is_dir ? file : size(file))),
  });
  const pass =
    (name) =>
    (...args) =>
      state[name](...args);
  return {
    ls: (path) => changed(state.ls(path)),
    glob: (pattern, path) => changed(state.glob(pattern, path)),
    ...Object.fromEntries(
      ["read", "readRaw", "grep", "write", "edit", "delete", "uploadFiles", "downloadFiles"].map(
        (name) => [name, pass(name)],
      ),
    ),
  };
}

const without = ({ size: _, ...file }) => file;
const custom = (row) => new CustomBackend(storage(row), { writeMode: "overwrite" });

const SUBJECTS = {
  "a storage that lists paths only": () => custom((path) => path),
  "a storage that lists objects without size": () => custom((path) => ({ path })),
  "a storage that lists size: null": () => custom((path) => ({ path, size: null })),
  "a storage that lists size: NaN": () => custom((path) => ({ path, size: Number.NaN })),
  "a storage that lists size: -1": () => custom((path) => ({ path, size: -1 })),
  "a storage that lists a size in words": () => custom((path) => ({ path, size: "60" })),
  "a storage that lists half a byte": () => custom((path) => ({ path, size: 0.5 })),
  "a storage that lists size: Infinity": () => custom((path) => ({ path, size: 1 / 0 })),
  "a storage that knows some sizes": () =>
    custom((path, body) => (path === "/a.txt" ? path : { path, size: body.length })),
  "a backend without sizes": () => foreign(without),
  "a backend with size: NaN": () => foreign((file) => ({ ...file, size: Number.NaN })),
  "a backend with size: -1": () => foreign((file) => ({ ...file, size: -1 })),
  "a backend with size: Infinity": () => foreign((file) => ({ ...file, size: 1 / 0 })),
  "a backend with a size in words": () => foreign((file) => ({ ...file, size: "60" })),
  "a router over two such storages": () =>
    new CompositeBackend(
      custom((path) => path),
      { "/m/": foreign(without) },
    ),
};

for (const [name, make] of Object.entries(SUBJECTS)) {
  test(`${name}: a quota counts what is there`, async () => {
    const inner = make();
    const held = name.startsWith("a router") ? 180 : 90;
    const backend = withPolicy(inner, { quota: { maxBytes: held + 10 } });
    const late = await backend.write("/c.txt", "z".repeat(11));
    assert.match(late.error ?? "", /quota/i, JSON.stringify(late));
    const fits = await backend.write("/c.txt", "z".repeat(10));
    assert.equal(fits.error, undefined);
    const more = await backend.write("/e.txt", "z");
    assert.ok(more.error);
    assert.equal((await backend.delete("/a.txt")).error, undefined);
    assert.equal((await backend.write("/e.txt", "z".repeat(60))).error, undefined);
    assert.ok((await backend.write("/f.txt", "z")).error);
  });

  test(`${name}: a listing claims no size that nobody told`, async () => {
    const router = new CompositeBackend(make(), {});
    const { files } = await router.ls("/");
    const file = files.find(({ path }) => path === "/a.txt");
    assert.ok(file.size === undefined || file.size === 60, JSON.stringify(file));
  });
}

test("a file that cannot be read for the count is an error that names it", async () => {
  const broken = storage((path) => path);
  broken.get = (path) => {
    throw new Error(`disk of ${path} is gone`);
  };
  const backend = withPolicy(new CustomBackend(broken), { quota: { maxBytes: 1_000 } });
  const answer = await backend.write("/c.txt", "z");
  assert.match(answer.error, /quota could not be counted.*size of '\/a.txt'/);
  assert.equal(broken.files.has("/c.txt"), false);
});

test("a file that is deleted while the quota reads is not counted", async () => {
  const moving = storage((path) => path);
  const get = moving.get;
  moving.get = function (path) {
    if (path === "/a.txt") this.files.delete(path);
    return get.call(this, path);
  };
  const backend = withPolicy(new CustomBackend(moving), { quota: { maxBytes: 40 } });
  assert.equal((await backend.write("/c.txt", "z".repeat(10))).error, undefined);
  assert.ok((await backend.write("/e.txt", "z")).error);
});

test("sizes that are listed are believed, and nothing is read", async () => {
  const told = storage((path, body) => ({ path, size: body.length }));
  const backend = withPolicy(new CustomBackend(told), { quota: { maxBytes: 100 } });
  assert.equal((await backend.write("/c.txt", "z".repeat(10))).error, undefined);
  assert.ok(!told.reads.has("/a.txt"));
});
