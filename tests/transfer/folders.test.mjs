// Copies between folders: links to directories inside the tree, permissions, a target inside its
// source; and signals of copies with many files.

import assert from "node:assert/strict";
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  compareTrees,
  contents,
  copyTree,
  FilesystemBackend,
  fromTar,
  fromZip,
  memory,
  mirror,
  toTar,
  toZip,
  withPolicy,
} from "./lib.mjs";

async function inFolder(run) {
  const root = fs.mkdtempSync(join(tmpdir(), "kitbag-folders-"));
  try {
    await run(root);
  } finally {
    fs.rmSync(root, { recursive: true, force: true });
  }
}

/** Files by path; a text that begins with `->` is a link, and a path with `/` at its end a directory. */
function plant(root, tree) {
  fs.mkdirSync(root, { recursive: true });
  for (const [path, content] of Object.entries(tree)) {
    const at = join(root, path);
    fs.mkdirSync(path.endsWith("/") ? at : join(at, ".."), { recursive: true });
    if (path.endsWith("/")) continue;
    if (content.startsWith("->")) fs.symlinkSync(content.slice(2), at);
    else fs.writeFileSync(at, content);
  }
  return new FilesystemBackend({ rootDir: root });
}

/** What is planted, the files that a copy has, how many empty directories, and links not followed. */
const TREES = {
  "a link to a directory": [
    { "lib/a.txt": "a", link: "->lib" },
    ["lib/a.txt", "link/a.txt"],
    0,
    [],
  ],
  "a link deep in a directory without files": [
    { "lib/a.txt": "a", "x/y/link": "->../../lib" },
    ["lib/a.txt", "x/y/link/a.txt"],
    0,
    [],
  ],
  "a link to a link": [
    { "lib/a.txt": "a", one: "->lib", two: "->one" },
    ["lib/a.txt", "one/a.txt", "two/a.txt"],
    0,
    [],
  ],
  "a link in a linked directory": [
    { "lib/a.txt": "a", "other/link": "->../lib", link: "->other" },
    ["lib/a.txt", "link/link/a.txt", "other/link/a.txt"],
    0,
    [],
  ],
  "a link to an empty directory": [
    { "lib/a.txt": "a", "empty/": "", link: "->empty" },
    ["lib/a.txt"],
    2,
    [],
  ],
  "a link to a directory in a linked one": [
    { "lib/deep/a.txt": "a", link: "->lib/deep" },
    ["lib/deep/a.txt", "link/a.txt"],
    0,
    [],
  ],
  "a link to itself above": [
    { "lib/a.txt": "a", "lib/loop": "->." },
    ["lib/a.txt"],
    0,
    ["/lib/loop/"],
  ],
  "a link to the root": [{ "a.txt": "a", "d/loop": "->.." }, ["a.txt"], 0, ["/d/loop/"]],
  "two links to one another's directories": [
    { "one/a.txt": "a", "two/b.txt": "b", "one/l": "->../two", "two/l": "->../one" },
    ["one/a.txt", "one/l/b.txt", "two/b.txt", "two/l/a.txt"],
    0,
    ["/one/l/l/", "/two/l/l/"],
  ],
  "a loop of empty directories": [{ "d/loop": "->.", "a.txt": "a" }, ["a.txt"], 0, ["/d/loop/"]],
  "a link out of the tree": [{ "a.txt": "a", out: "->/usr" }, ["a.txt"], 0, []],
  "a link to nothing": [{ "a.txt": "a", none: "->gone" }, ["a.txt"], 0, []],
  "a linked file": [{ "a.txt": "a", "b.txt": "->a.txt" }, ["a.txt", "b.txt"], 0, []],
};

for (const [what, [tree, names, empty, links]] of Object.entries(TREES)) {
  test(`${what}: copies, comparisons and archives have its files`, () =>
    inFolder(async (root) => {
      const source = plant(join(root, "source"), tree);
      const target = memory();
      const result = await copyTree(source, target);
      assert.deepEqual(
        Object.keys(contents(target)).sort(),
        names.map((name) => `/${name}`),
      );
      assert.equal(result.emptyDirectories, empty);
      assert.deepEqual(
        result.failures.map(({ path }) => path),
        links,
      );
      assert.equal(result.error === undefined, links.length === 0, result.error);
      const equal = await compareTrees(source, target);
      assert.deepEqual([equal.error, equal.equal], [undefined, names.length]);
      const lacking = await compareTrees(source, memory());
      assert.deepEqual(lacking.onlyFirst, names);
      for (const [pack, unpack] of [
        [toTar, fromTar],
        [toZip, fromZip],
      ]) {
        const unpacked = memory();
        assert.equal((await unpack(pack(source), unpacked)).error, undefined);
        assert.deepEqual(contents(unpacked), contents(target));
      }
    }));
}

test("more than 10,000 links to directories are too many", () =>
  inFolder(async (root) => {
    const tree = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`${at}`, "->lib"]));
    const result = await copyTree(plant(root, { "lib/a.txt": "a", ...tree }), memory());
    assert.match(result.error ?? "none", /more than 10000 links to directories/);
    assert.equal(result.code, "too_large");
  }));

test("where nobody can say where a link leads, it is a failure and no empty directory", () =>
  inFolder(async (root) => {
    const folder = plant(root, { "lib/a.txt": "a", link: "->lib" });
    // The same methods, but no longer kitbag's own object.
    const source = Object.assign(Object.create(folder), { ls: (...args) => folder.ls(...args) });
    const named = ["glob", "read", "readRaw", "grep", "write", "edit", "downloadFiles", "delete"];
    for (const name of named) source[name] = (...args) => folder[name](...args);
    Object.defineProperty(source, "capability", { get: () => folder.capability });
    const target = memory();
    const result = await copyTree(source, target);
    assert.deepEqual(Object.keys(contents(target)), ["/lib/a.txt"]);
    assert.equal(result.emptyDirectories, 0);
    assert.deepEqual(
      result.failures.map(({ path, code }) => [path, code]),
      [["/link/", "unsupported"]],
    );
    assert.match((await compareTrees(source, target)).error, /^\/link\/: It is a link/);
    await assert.rejects(new Response(toTar(source)).arrayBuffer(), /link to a directory/);
  }));

const MODES = { "run.sh": 0o755, secret: 0o600, "read-only": 0o444, "d/all": 0o777, plain: 0o644 };
const modes = (root) =>
  Object.fromEntries(
    Object.keys(MODES).map((name) => [name, fs.statSync(join(root, name)).mode & 0o777]),
  );

test("permissions are copied between folders, also by a copy that goes on", () =>
  inFolder(async (root) => {
    const [from, to] = [join(root, "from"), join(root, "to")];
    const source = plant(from, Object.fromEntries(Object.keys(MODES).map((name) => [name, name])));
    for (const [name, mode] of Object.entries(MODES)) fs.chmodSync(join(from, name), mode);
    const target = new FilesystemBackend({ rootDir: to });
    assert.equal((await copyTree(source, target)).error, undefined);
    assert.deepEqual(modes(to), MODES);
    // As if the first copy had ended between content and permissions.
    for (const name of Object.keys(MODES)) fs.chmodSync(join(to, name), 0o664);
    for (const compare of ["content", "time"]) {
      const again = await copyTree(source, target, { compare });
      assert.deepEqual([again.copied, again.equal], [0, 5]);
      assert.deepEqual(modes(to), MODES);
      for (const name of Object.keys(MODES)) fs.chmodSync(join(to, name), 0o664);
    }
    fs.writeFileSync(join(to, "run.sh"), "other");
    const skipped = await copyTree(source, target, { onConflict: "skip" });
    assert.equal(skipped.skipped, 1);
    assert.equal(modes(to)["run.sh"], 0o664);
    await copyTree(source, target, { onConflict: "overwrite" });
    assert.deepEqual(modes(to), MODES);
  }));

test("a folder under rules gets files with its usual permissions", () =>
  inFolder(async (root) => {
    const source = plant(join(root, "from"), { "run.sh": "x" });
    fs.chmodSync(join(root, "from/run.sh"), 0o777);
    const target = withPolicy(new FilesystemBackend({ rootDir: join(root, "to") }), {});
    assert.equal((await copyTree(source, target)).error, undefined);
    assert.equal(fs.statSync(join(root, "to/run.sh")).mode & 0o111, 0);
  }));

test("a target inside its source is refused, however it is named", () =>
  inFolder(async (root) => {
    const source = plant(join(root, "a"), { "x.txt": "x", "b/y.txt": "y" });
    fs.symlinkSync(join(root, "a/b"), join(root, "elsewhere"));
    const folder = (rootDir) => new FilesystemBackend({ rootDir });
    for (const [target, options] of [
      [folder(join(root, "a/b")), {}],
      [folder(join(root, "a/new/deep")), {}],
      [folder(join(root, "elsewhere")), {}],
      [folder(join(root, "elsewhere/new")), {}],
      [folder(join(root, "a")), { to: "/copy" }],
      [folder(root), { to: "/a/b" }],
      [source, { to: "/copy" }],
      [source, { from: "/b", to: "/b/c" }],
      [folder(`${root}/a/../a/b`), {}],
    ]) {
      const result = await copyTree(source, target, options);
      assert.equal(result.code, "invalid_argument", JSON.stringify(options));
      assert.match(result.error, /is inside the source/);
    }
    assert.deepEqual(fs.readdirSync(join(root, "a")).sort(), ["b", "x.txt"]);
    const same = memory({ "/a/x": "x" });
    assert.equal((await copyTree(same, same, { from: "/a", to: "/a/b" })).code, "invalid_argument");
    for (const [from, target] of [
      [source, folder(join(root, "ab"))],
      [folder(join(root, "a/b")), folder(join(root, "a"))],
      [same, memory()],
    ])
      assert.equal((await copyTree(from, target)).error, undefined);
    assert.equal((await copyTree(same, same, { from: "/a", to: "/ab" })).error, undefined);
  }));

/** Runs something with a signal that counts its listeners, and hears the host's warnings. */
async function watched(run) {
  const controller = new AbortController();
  const { signal } = controller;
  let [now, most] = [0, 0];
  const [add, remove] = [signal.addEventListener, signal.removeEventListener];
  signal.addEventListener = (...args) => {
    most = Math.max(most, ++now);
    return add.apply(signal, args);
  };
  signal.removeEventListener = (...args) => {
    now -= 1;
    return remove.apply(signal, args);
  };
  const warnings = [];
  const warned = (warning) => warnings.push(warning.message);
  process.on("warning", warned);
  try {
    await run(signal, controller);
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off("warning", warned);
  }
  return { now, most, warnings };
}

const many = () =>
  Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${at}.txt`, `file ${at}`]));
const SIGNALS = {
  copyTree: (source, target, signal) => copyTree(source, target, { signal }),
  "copyTree, again": async (source, target, signal) => {
    await copyTree(source, target, { signal });
    return copyTree(source, target, { signal });
  },
  compareTrees: (source, target, signal) => compareTrees(source, target, { signal }),
  tar: (source, target, signal) => fromTar(toTar(source, { signal }), target, { signal }),
  zip: (source, target, signal) => fromZip(toZip(source, { signal }), target, { signal }),
  "forty reads": async (source, _target, signal) => {
    await Promise.all(
      Array.from({ length: 40 }, (_, at) => source.read(`/f${at}.txt`, 0, 1, { signal })),
    );
    return {};
  },
  "copyTree of a part": (source, target, signal) =>
    copyTree(source, target, { to: "/part", compare: "time", signal }),
  "copyTree under rules": (source, target, signal) => {
    const rules = { quota: { maxFiles: 1_000 }, inspect: () => {} };
    return copyTree(withPolicy(source, rules), withPolicy(target, rules), { signal });
  },
  "copyTree from a memory": (_source, target, signal) =>
    copyTree(memory(many()), target, { signal }),
  mirror: (source, target, signal) => mirror(source, target, { to: "/work" }).send({ signal }),
  "forty writes": async (_source, target, signal) => {
    await Promise.all(
      Array.from({ length: 40 }, (_, at) => target.write(`/w${at}.txt`, "w", { signal })),
    );
    return {};
  },
  "forty searches": async (source, _target, signal) => {
    await Promise.all(
      Array.from({ length: 40 }, () => source.grep("file", "/", null, null, { signal })),
    );
    return {};
  },
};
for (const [what, run] of Object.entries(SIGNALS)) {
  test(`${what}: one listener at most, and none at the end`, () =>
    inFolder(async (root) => {
      const source = plant(join(root, "from"), many());
      const target = new FilesystemBackend({ rootDir: join(root, "to") });
      const seen = await watched(async (signal) => {
        const { error } = await run(source, target, signal);
        assert.equal(error, undefined);
      });
      assert.deepEqual(seen.warnings, []);
      // The host's own streams may add one for a while.
      assert.ok(seen.most <= 2, `${seen.most}`);
      assert.equal(seen.now, 0);
    }));
}

test("a signal still ends every call that it belongs to", () =>
  inFolder(async (root) => {
    const source = plant(root, many());
    const seen = await watched(async (signal, controller) => {
      const calls = Array.from({ length: 40 }, () =>
        source.grep("file", "/", null, null, { signal, regex: true }),
      );
      controller.abort();
      for (const answer of await Promise.all(calls)) assert.equal(answer.code, "timeout");
      assert.equal((await source.ls("/", { signal })).code, "timeout");
    });
    assert.deepEqual([seen.now, seen.most], [0, 1]);
  }));
