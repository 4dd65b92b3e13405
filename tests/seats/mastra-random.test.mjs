// Mastra's own file system in a folder is the oracle: random programs have the same results, errors and
// files over a backend.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LocalFilesystem } from "@mastra/core/workspace";
import { workspaceFilesystem } from "kitbag/mastra";
import { BACKENDS, dice, folder } from "./lib.mjs";

const NAMES = [
  "a",
  "b.txt",
  "dir",
  "dir/c.md",
  "dir/sub",
  "dir/sub/d.txt",
  ".hidden/e",
  "new/f/g.ts",
];
const TEXTS = ["", "one\n", "two\r\nthree", "é😀"];

/** One random call: its name and arguments. */
function step(roll) {
  const path = () => NAMES[roll(NAMES.length)];
  const maybe = () => [undefined, true, false][roll(3)];
  const text = () => TEXTS[roll(TEXTS.length)];
  const calls = [
    () => ["writeFile", path(), text(), { overwrite: maybe(), recursive: maybe() }],
    () => ["writeFile", path(), text()],
    () => ["appendFile", path(), text()],
    () => ["readFile", path(), { encoding: "utf-8" }],
    () => ["deleteFile", path(), { force: maybe() }],
    () => ["copyFile", path(), path(), { overwrite: maybe(), recursive: maybe() }],
    () => ["moveFile", path(), path(), { overwrite: maybe() }],
    () => ["mkdir", path(), { recursive: maybe() }],
    () => ["rmdir", path(), { recursive: maybe(), force: maybe() }],
    () => [
      "readdir",
      path(),
      { recursive: maybe(), extension: [undefined, ".txt", ["md", "ts"]][roll(3)] },
    ],
    () => ["readdir", ".", { recursive: true, maxDepth: [undefined, 0, 1][roll(3)] }],
    () => ["exists", path()],
    () => ["stat", path()],
  ];
  return calls[roll(calls.length)]();
}

const byName = (one, other) => (one.name < other.name ? -1 : 1);

/** The result of a call, as far as it can be the same. */
async function outcome(files, [name, ...args]) {
  try {
    const value = await files[name](...args);
    if (name === "readdir") {
      return value.map(({ name: shown, type, size }) => ({ name: shown, type, size })).sort(byName);
    }
    if (name !== "stat") return value;
    const { type, size, path, name: shown } = value;
    return { type, size: type === "file" ? size : 0, path: path.replace(/^\//, ""), name: shown };
  } catch (error) {
    // Mastra lets some errors of Node through as they are.
    const own =
      error.constructor === Error ? error.code : `${error.constructor.name} ${error.code}`;
    return `failed: ${own}`;
  }
}

const SEEDS = Number(process.env.KITBAG_SEATS_SEEDS ?? 40);
/** Files in a folder are made durable, which takes time. */
const most = (name) => (name === "folder" ? Math.ceil(SEEDS / 8) : SEEDS);

for (const [name, make] of Object.entries(BACKENDS)) {
  test(`${name}: ${most(name)} random programs as Mastra's own file system answers them`, async (t) => {
    let errors = 0;
    for (let seed = 1; seed <= most(name); seed++) {
      const roll = dice(seed);
      const own = new LocalFilesystem({ basePath: folder(t) });
      const ours = workspaceFilesystem(await make(t));
      const done = [];
      for (let at = 0; at < 25; at++) {
        const call = step(roll);
        done.push(call);
        const wanted = await outcome(own, call);
        const got = await outcome(ours, call);
        const failed = /^failed: /.test(wanted);
        // Mastra makes the directories of a move before it fails.
        const loose = failed && (call[0] === "moveFile" || /^failed: \w+$/.test(wanted));
        // Below a file there is nothing.
        if (failed && call[0] === "exists") assert.equal(got, false);
        else if (loose) assert.match(String(got), /^failed: /, JSON.stringify(done));
        else assert.deepEqual(got, wanted, `seed ${seed}: ${JSON.stringify(done)}`);
        if (failed) errors += 1;
        if (failed && call[0] === "moveFile") break;
      }
    }
    assert.ok(errors > most(name), "the programs reach errors");
  });
}
