// Trees with more files than a function can have arguments.

import assert from "node:assert/strict";
import { test } from "node:test";
import { compareTrees, copyTree, FilesystemBackend, memory } from "./lib.mjs";

/** More than any engine takes as arguments of one call. */
const MANY = 130_000;
const names = (prefix) => Array.from({ length: MANY }, (_, at) => `${prefix}${at}`);
const real = new FilesystemBackend({ rootDir: "/" }).capability;

/** A folder as `kitbag/transfer` sees one: `below` says what is in a directory, `files` what a listing finds. */
function folder({ below = () => [], files = () => [], links }) {
  const info = (path) => ({ path, size: 0, modified_at: "2026-01-01T00:00:00.000Z" });
  return {
    capability: real,
    ls: async (path) => ({ files: below(path).map((one) => ({ path: one, is_dir: true })) }),
    glob: async (_, path) => ({ files: files(path).map(info) }),
    read: async () => ({ content: "" }),
    readRaw: async () => ({ data: { content: new Uint8Array() } }),
    write: async (path) => ({ path }),
    edit: async (path) => ({ path }),
    grep: async () => ({ matches: [] }),
    downloadFiles: async (paths) =>
      paths.map((path) => ({ path, content: new Uint8Array(), error: null })),
    uploadFiles: async (all) => all.map(([path]) => ({ path, error: null })),
    ...(links && { [Symbol.for("kitbag.disk")]: { real: async (path) => `/real${path}` } }),
  };
}

test("compareTrees names all files of one tree", async () => {
  const full = folder({ files: (path) => (path === "/" ? names("/f") : []) });
  const second = await compareTrees(memory(), full);
  assert.deepEqual([second.error, second.onlySecond.length], [undefined, MANY]);
  const some = await compareTrees(memory({ "/f5": "" }), full);
  assert.deepEqual([some.equal, some.onlySecond.length], [1, MANY - 1]);
  assert.ok(!some.onlySecond.includes("f5"));
  const first = await compareTrees(full, memory());
  assert.deepEqual([first.error, first.onlyFirst.length], [undefined, MANY]);
});

test("very many empty directories are counted", async () => {
  const source = folder({ below: (path) => (path === "/" ? names("/d") : []) });
  source.glob = async (_, path) => ({
    files:
      path === "/" ? [{ path: "/file", size: 0, modified_at: "2026-01-01T00:00:00.000Z" }] : [],
  });
  const copied = await copyTree(source, memory());
  assert.deepEqual([copied.error, copied.emptyDirectories], [undefined, MANY]);
});

test("very many files behind a link to a directory are compared", async () => {
  const source = folder({
    below: (path) => (path === "/" ? ["/link"] : []),
    files: (path) => (path === "/link" ? names("/link/f") : []),
    links: true,
  });
  const { error, onlyFirst } = await compareTrees(source, memory());
  assert.deepEqual([error, onlyFirst.length], [undefined, MANY]);
});
