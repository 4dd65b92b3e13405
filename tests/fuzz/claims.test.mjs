// Whatever somebody puts in the place of a claim (`ts/disk/claims.ts`, the locks of `script.rs`), a file can be
// changed, and no change beside another one is lost. Fresh claims of a living process are not in it: those
// hold, as they must.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { kitbag, run, withFolder } from "../host/lib.mjs";

const { FilesystemBackend, SandboxBackend } = kitbag;
const TIMES = Number(process.env.KITBAG_FUZZ ?? 1);
const CHANGES = 5_000 * TIMES;
const FILES = 20;
/** A change may take so long, also on a busy machine. */
const PATIENCE_MS = 20_000;

function dice(seed) {
  let state = seed;
  return (sides) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
}

/** The name of the claims of a file in a folder, as it is now. */
function inFolder(dir, name) {
  let [low, high] = [0x811c9dc5, 0x1000193];
  for (const letter of name) {
    const code = letter.charCodeAt(0);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b) ^ (low >>> 7);
  }
  const hash = [low, high].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
  const { ino, size, mtimeNs } = fs.statSync(join(dir, name), { bigint: true });
  return join(dir, `.~kitbag-c-${hash}-${ino}-${size}-${mtimeNs}`);
}

/** The same in a sandbox. */
function inSandbox(dir, name) {
  const sum = (bytes) => createHash("sha256").update(bytes).digest("hex");
  const hash = sum(name).slice(0, 16);
  return join(dir, `.~kitbag-c-${hash}-${sum(fs.readFileSync(join(dir, name)))}`);
}

const old = (at, body, mode = 0o644) => {
  fs.writeFileSync(at, body, { mode });
  fs.utimesSync(at, 1_000_000, 1_000_000 + Math.random());
};

/** What a claim says, with some bytes changed, added or cut off. */
function damaged(roll) {
  const said = Buffer.from(`${process.pid} ${hostname()}\n`);
  for (let times = roll(4); times > 0; times--) said[roll(said.length)] = roll(256);
  const end = roll(said.length + 1);
  return roll(2) === 0 ? said.subarray(0, end) : Buffer.concat([said, said.subarray(end)]);
}

/** What is put in the place of a claim. */
const JUNK = {
  "an empty directory": (at) => fs.mkdirSync(at),
  "a directory": (at) => fs.mkdirSync(join(at, "in", "it"), { recursive: true }),
  "a link to nothing": (at) => fs.symlinkSync("nowhere", at),
  "a link to a file": (at) => fs.symlinkSync("f0", at),
  "a link to a directory": (at) => fs.symlinkSync(".", at),
  "a link to itself": (at) => fs.symlinkSync(at, at),
  "a link out of the root": (at) => fs.symlinkSync("/etc/hostname", at),
  "an old file that may not be read": (at) => old(at, "x", 0o000),
  "an old empty file": (at) => old(at, ""),
  "an old claim of this process": (at) => old(at, `${process.pid} ${hostname()}\n`),
  "an old claim of the first process": (at) => old(at, `1 ${hostname()}\n`),
  "an old claim of another machine": (at) => old(at, "77 elsewhere\n"),
  "an old file of many bytes": (at) => old(at, Buffer.alloc(100_000, "9")),
  "a claim of a process that is gone": (at) => fs.writeFileSync(at, `4194304 ${hostname()}\n`),
  "a damaged claim": (at, roll) => old(at, damaged(roll)),
  "a damaged claim again": (at, roll) => old(at, damaged(roll)),
};

/** What is put in the place of a lock of a sandbox, besides. */
const LOCKS = {
  "a link that is no number": (at) => fs.symlinkSync("-1", at),
  "a link to a name in /proc": (at) => fs.symlinkSync("self", at),
  "a link with a command": (at) => fs.symlinkSync("1; touch pwned", at),
  "a process that is gone": (at) => fs.symlinkSync("4194304", at),
};

/** Changes of files among junk, each by one writer or by two at once. */
async function changed(dir, make, nameOf, junk, changes) {
  const roll = dice(changes);
  const writers = [make(), make()];
  const kinds = Object.entries(junk);
  const expected = new Map();
  for (let file = 0; file < FILES; file++) {
    fs.writeFileSync(join(dir, `f${file}`), "");
    expected.set(`f${file}`, new Set());
  }
  for (let change = 0; change < changes; ) {
    const name = `f${roll(FILES)}`;
    const lines = expected.get(name);
    const planted = [];
    for (let generation = 0; generation <= roll(3); generation++) {
      const [what, plant] = kinds[roll(kinds.length)];
      planted.push(what);
      const at = `${nameOf(dir, name)}-${generation}`;
      if (!fs.lstatSync(at, { throwIfNoEntry: false })) plant(at, roll);
    }
    const both = roll(4) === 0 ? [0, 1] : [roll(2)];
    const begun = performance.now();
    const answers = await Promise.all(
      both.map(async (writer, at) => {
        const line = `line ${change + at}`;
        return [line, await writers[writer].append(`/${name}`, `${line}\n`)];
      }),
    );
    change += both.length;
    const took = performance.now() - begun;
    const says = `${name}, ${planted.join(", ")}: ${JSON.stringify(answers)}`;
    assert.ok(took < PATIENCE_MS, `${took} ms for ${says}`);
    for (const [line, { error }] of answers) {
      assert.equal(error, undefined, says);
      lines.add(line);
    }
    const held = fs.readFileSync(join(dir, name), "utf8").split("\n").slice(0, -1);
    assert.deepEqual(new Set(held), lines, says);
    assert.equal(held.length, lines.size, says);
    if (lines.size > 30) {
      fs.writeFileSync(join(dir, name), "");
      lines.clear();
    }
  }
  assert.ok(!fs.existsSync(join(dir, "pwned")));
}

test(`${CHANGES} changes of files in a folder, with open directories`, () =>
  withFolder((dir) =>
    changed(dir, () => new FilesystemBackend({ rootDir: dir }), inFolder, JUNK, CHANGES),
  ));

test(`${CHANGES} changes of files in a folder, with a file system of its own`, () =>
  withFolder((dir) =>
    changed(
      dir,
      () => new FilesystemBackend({ rootDir: dir, fs: { ...fs.promises } }),
      inFolder,
      JUNK,
      CHANGES,
    ),
  ));

test("changes of files in a sandbox", () =>
  withFolder((dir) => {
    const make = () => new SandboxBackend({ id: "s", execute: run("/bin/sh"), rootDir: dir });
    return changed(dir, make, inSandbox, { ...JUNK, ...LOCKS }, 24 * TIMES);
  }));

test("a pipe in the place of a claim holds up nobody", () =>
  withFolder(async (dir) => {
    for (const options of [{}, { fs: { ...fs.promises } }]) {
      fs.writeFileSync(join(dir, "a"), "one\n");
      execFileSync("mkfifo", [`${inFolder(dir, "a")}-0`]);
      const files = new FilesystemBackend({ rootDir: dir, ...options });
      assert.equal((await files.append("/a", "two\n")).error, undefined);
      assert.equal(fs.readFileSync(join(dir, "a"), "utf8"), "one\ntwo\n");
    }
  }));
