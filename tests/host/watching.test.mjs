// watch on a folder and on a tree of backends: every change is told, or a rescan is asked for.

import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { listening } from "../lib/listening.mjs";
import { kitbag, withFolder } from "./lib.mjs";

const { CompositeBackend, FilesystemBackend, LocalShellBackend, StateBackend } = kitbag;

const watchedFolder = (use) =>
  withFolder(async (rootDir) => {
    const backend = new FilesystemBackend({ rootDir });
    try {
      await use(rootDir, backend);
    } finally {
      backend.dispose();
    }
  });

test("changes of kitbag and of others are told, and kitbag's own files are not", () =>
  watchedFolder(async (rootDir, backend) => {
    fs.mkdirSync(join(rootDir, "d/e"), { recursive: true });
    fs.writeFileSync(join(rootDir, "d/e/old.txt"), "old");
    assert.equal(backend.capability.watch, true);
    const { seen, stop, until } = listening(backend);
    await backend.write("/a.txt", "one");
    await backend.edit("/d/e/old.txt", "old", "new");
    fs.writeFileSync(join(rootDir, "d/theirs.txt"), "x");
    await until(() =>
      ["/a.txt", "/d/e/old.txt", "/d/theirs.txt"].every((at) => seen.paths.has(at)),
    );
    await backend.move("/a.txt", "/b.txt");
    await backend.delete("/d/theirs.txt");
    await until(() => seen.paths.has("/b.txt"));
    assert.ok([...seen.paths].every((path) => !path.includes("kitbag-")));
    stop();
    const { calls } = seen;
    const again = listening(backend);
    await backend.write("/c.txt", "c");
    await again.until((now) => now.paths.has("/c.txt"));
    assert.equal(seen.calls, calls);
    again.stop();
  }));

test("files in directories that are made or moved in are told", () =>
  withFolder((outside) =>
    watchedFolder(async (rootDir, backend) => {
      fs.mkdirSync(join(outside, "tree/deep"), { recursive: true });
      fs.writeFileSync(join(outside, "tree/deep/in.txt"), "x");
      const { seen, until, stop } = listening(backend);
      for (let at = 0; at < 20; at++) {
        fs.mkdirSync(join(rootDir, `n${at}/m`), { recursive: true });
        fs.writeFileSync(join(rootDir, `n${at}/m/f.txt`), "x");
      }
      fs.renameSync(join(outside, "tree"), join(rootDir, "tree"));
      const wanted = Array.from({ length: 20 }, (_, at) => `/n${at}/m/f.txt`);
      await until(() => [...wanted, "/tree/deep/in.txt"].every((path) => seen.paths.has(path)));
      // They are watched from then on.
      seen.paths.clear();
      fs.writeFileSync(join(rootDir, "tree/deep/in.txt"), "y");
      fs.writeFileSync(join(rootDir, "n7/m/f.txt"), "y");
      await until(() => seen.paths.has("/tree/deep/in.txt") && seen.paths.has("/n7/m/f.txt"));
      stop();
    }),
  ));

test("a directory that goes away, and a flood of changes, ask for a rescan", () =>
  watchedFolder(async (rootDir, backend) => {
    fs.mkdirSync(join(rootDir, "d/e"), { recursive: true });
    fs.writeFileSync(join(rootDir, "d/e/a.txt"), "x");
    const { seen, until, stop } = listening(backend);
    fs.renameSync(join(rootDir, "d"), join(rootDir, "n"));
    await until(() => seen.rescans > 0);
    const before = seen.rescans;
    for (let at = 0; at < 1_500; at++) fs.writeFileSync(join(rootDir, `${at}.txt`), "x");
    await until(() => seen.rescans > before);
    seen.paths.clear();
    fs.writeFileSync(join(rootDir, "last.txt"), "x");
    await until(() => seen.paths.has("/last.txt") || seen.rescans > before + 1);
    stop();
  }));

test("a tree tells what its mounts show, under their names", () =>
  watchedFolder(async (rootDir, backend) =>
    withFolder(async (other) => {
      const inner = new FilesystemBackend({ rootDir: other });
      const tree = new CompositeBackend(backend, { "/m/": inner });
      assert.equal(tree.capability.watch, true);
      const { seen, until, stop } = listening(tree);
      fs.mkdirSync(join(rootDir, "m"));
      fs.writeFileSync(join(rootDir, "m/hidden.txt"), "x");
      await tree.write("/m/a.txt", "x");
      await tree.write("/b.txt", "x");
      await until(() => seen.paths.has("/m/a.txt") && seen.paths.has("/b.txt"));
      assert.ok(!seen.paths.has("/m/hidden.txt") && !seen.paths.has("/a.txt"));
      stop();
      inner.dispose();
      const part = listening(tree, "/m/d");
      await tree.write("/b2.txt", "x");
      await tree.write("/m/d2.txt", "x");
      await tree.write("/m/d/a.txt", "x");
      await part.has("/m/d/a.txt");
      assert.deepEqual([...part.seen.paths], ["/m/d/a.txt"]);
      part.stop();
      const partly = new CompositeBackend(new StateBackend(), { "/m/": backend });
      assert.deepEqual([typeof partly.watch, partly.capability.watch], ["function", undefined]);
      assert.equal(new CompositeBackend(new StateBackend(), {}).watch, undefined);
    }),
  ));

test("a path limits what is told, and the same callback may listen twice", () =>
  watchedFolder(async (rootDir, backend) => {
    const calls = [];
    const hear = ({ paths }) => calls.push(...paths);
    const stops = [backend.watch("/d/", hear), backend.watch("d", hear)];
    const { has, stop } = listening(backend);
    fs.writeFileSync(join(rootDir, "d2.txt"), "x");
    await backend.write("/d/e/a.txt", "x");
    await has("/d2.txt", "/d/e/a.txt");
    assert.deepEqual([...new Set(calls)], ["/d/e/a.txt"]);
    assert.ok(calls.length >= 2);
    stops[0]();
    calls.length = 0;
    await backend.write("/d/e/b.txt", "x");
    await has("/d/e/b.txt");
    assert.ok(calls.includes("/d/e/b.txt"));
    stops[1]();
    stop();
    assert.throws(() => backend.watch("/d"), TypeError);
  }));

test("without virtualMode paths are the host's, and other hosts' file systems are not watched", () =>
  withFolder(async (rootDir) => {
    const backend = new LocalShellBackend({ rootDir, virtualMode: false });
    const { seen, until } = listening(backend);
    const path = `${fs.realpathSync(rootDir)}/a.txt`;
    await backend.write(path, "x");
    await until(() => seen.paths.has(path));
    backend.dispose();
    const lent = new FilesystemBackend({ rootDir, fs: fs.promises });
    assert.deepEqual([lent.watch, lent.capability.watch], [undefined, undefined]);
    assert.throws(() => new FilesystemBackend({ rootDir }).watch(), TypeError);
  }));

test("a listener that throws keeps no other from hearing of a change", () =>
  watchedFolder(async (rootDir, backend) => {
    const errors = [];
    process.setUncaughtExceptionCaptureCallback((error) => errors.push(error.message));
    try {
      const stop = backend.watch(() => {
        throw new Error("theirs");
      });
      const { has, stop: end } = listening(backend);
      fs.writeFileSync(join(rootDir, "a.txt"), "x");
      await has("/a.txt");
      fs.writeFileSync(join(rootDir, "b.txt"), "x");
      await has("/b.txt");
      stop();
      end();
    } finally {
      process.setUncaughtExceptionCaptureCallback(null);
    }
    assert.ok(errors.length >= 2);
    assert.ok(errors.every((message) => message === "theirs"));
  }));
