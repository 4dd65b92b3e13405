// watch over rules: nobody hears of what the rules hide, not even that something has changed there.

import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { listening } from "../lib/listening.mjs";
import { kitbag, withFolder } from "./lib.mjs";

const { CompositeBackend, FilesystemBackend, StateBackend, withPolicy } = kitbag;

const deny = (...paths) => ({ permissions: [{ operations: ["read"], paths, mode: "deny" }] });

/** What happens in the hidden part, in a folder of which `/secret` is hidden. */
const CHANGES = {
  "a file is written": (at) => fs.writeFileSync(at("secret/a.txt"), "2"),
  "a file is made": (at) => fs.writeFileSync(at("secret/new.txt"), "1"),
  "a file is deleted": (at) => fs.rmSync(at("secret/a.txt")),
  "a file is renamed": (at) => fs.renameSync(at("secret/a.txt"), at("secret/b.txt")),
  "a directory is made": (at) => fs.mkdirSync(at("secret/more/and/more"), { recursive: true }),
  "a directory is deleted": (at) => fs.rmSync(at("secret/deep"), { recursive: true }),
  "a directory is renamed": (at) => fs.renameSync(at("secret/deep"), at("secret/other")),
  "all of it is deleted": (at) => fs.rmSync(at("secret"), { recursive: true }),
  "all of it is made again": (at) => {
    fs.rmSync(at("secret"), { recursive: true });
    fs.mkdirSync(at("secret/deep"), { recursive: true });
    fs.writeFileSync(at("secret/deep/c.txt"), "3");
  },
};

async function watched(use) {
  await withFolder(async (rootDir) => {
    const at = (name) => join(rootDir, name);
    fs.mkdirSync(at("secret/deep"), { recursive: true });
    fs.mkdirSync(at("open"));
    fs.writeFileSync(at("secret/a.txt"), "1");
    fs.writeFileSync(at("secret/deep/c.txt"), "1");
    const backend = new FilesystemBackend({ rootDir });
    try {
      await use({ at, backend, rootDir });
    } finally {
      backend.dispose();
    }
  });
}

/** Watches through `guarded` while the hidden part changes, then something that is shown. */
async function hears(guarded, at, change, path) {
  const { seen, stop, has } = listening(guarded, path);
  change(at);
  fs.writeFileSync(at("open/mark.txt"), "x");
  await has("/open/mark.txt");
  stop();
  assert.deepEqual([...seen.paths], ["/open/mark.txt"]);
  assert.equal(seen.rescans, 0);
}

for (const [name, change] of Object.entries(CHANGES)) {
  test(`nothing is told where ${name}`, () =>
    watched(async ({ at, backend }) => {
      await hears(withPolicy(backend, deny("/secret/**")), at, change);
    }));
}

test("a watcher of a hidden path hears nothing", () =>
  watched(async ({ at, backend }) => {
    const guarded = withPolicy(backend, deny("/secret/**"));
    const hidden = listening(guarded, "/secret");
    const file = listening(guarded, "/secret/a.txt");
    const { stop, has } = listening(guarded);
    CHANGES["all of it is made again"](at);
    fs.writeFileSync(at("open/mark.txt"), "x");
    await has("/open/mark.txt");
    assert.deepEqual([hidden.seen.calls, file.seen.calls], [0, 0]);
    for (const end of [hidden.stop, file.stop, stop]) end();
  }));

test("what is hidden by default, by a pattern and by two policies is not told", () =>
  watched(async ({ at, backend }) => {
    const open = { operations: ["read"], paths: ["/open/**"], mode: "allow" };
    for (const guarded of [
      withPolicy(backend, { permissions: [open], defaultMode: "deny" }),
      withPolicy(backend, deny("/sec*/**")),
      withPolicy(withPolicy(backend, deny("/secret/deep/**")), deny("/secret/**")),
      withPolicy(withPolicy(backend, deny("/secret/**")), { audit() {} }),
    ]) {
      const before = listening(guarded);
      fs.writeFileSync(at("open/mark.txt"), "x");
      await before.has("/open/mark.txt");
      before.stop();
      await hears(guarded, at, CHANGES["a file is written"]);
    }
  }));

test("mounts tell nothing of what rules hide, within and around them", () =>
  watched(async ({ at, backend }) => {
    const change = CHANGES["a directory is deleted"];
    const mounted = withPolicy(
      new CompositeBackend(new StateBackend(), { "/disk/": backend }),
      deny("/disk/secret/**"),
    );
    const { seen, stop, has } = listening(mounted);
    change(at);
    fs.writeFileSync(at("open/mark.txt"), "x");
    await has("/disk/open/mark.txt");
    stop();
    assert.deepEqual([[...seen.paths], seen.rescans], [["/disk/open/mark.txt"], 0]);
  }));

test("what is shown is told by its path, and a directory that went away by a rescan", () =>
  watched(async ({ at, backend }) => {
    fs.mkdirSync(at("open/sub"));
    fs.writeFileSync(at("open/sub/x"), "x");
    const guarded = withPolicy(backend, deny("/secret/**"));
    const { seen, stop, has, begun } = listening(guarded);
    fs.writeFileSync(at("open/sub/x"), "y");
    await has("/open/sub/x");
    assert.equal(seen.rescans, 0);
    fs.rmSync(at("open/sub"), { recursive: true });
    await begun();
    stop();
  }));
