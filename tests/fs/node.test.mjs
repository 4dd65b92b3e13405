// The oracle is Node: random programs of 40 calls run on a backend and on `node:fs` in an empty folder.
// Every answer is the same, every error (code, number, system call, paths, message), and in the end every
// file. A failure prints the seed, and the program up to the call that differs; `KITBAG_FS_SEED=7
// KITBAG_FS_SEEDS=1` runs it again.

import assert from "node:assert/strict";
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createFs } from "../../pkg/dist/fs.js";
import { FilesystemBackend, StateBackend } from "../lib/kitbag.mjs";
import { contents, isLeftOut, program, runner, written } from "./random.mjs";

const CALLS = 40;
process.umask(0o022);

function folder() {
  const root = fs.mkdtempSync(join(tmpdir(), "kitbag-fs-"));
  return { root, remove: () => fs.rmSync(root, { recursive: true }) };
}

async function compared(seed, backend, form) {
  const { root, remove } = folder();
  try {
    const ours = createFs(backend);
    const calls = program(seed, CALLS);
    const [mine, nodes] = [runner(ours, "", form), runner(fs, root, form)];
    for (const [at, call] of calls.entries()) {
      if (isLeftOut(call, fs, root)) continue;
      const [got, wanted] = [await mine.step(call), await nodes.step(call)];
      // With a callback, an open file that cannot be read is read without an error.
      if (call.name === "fReadFile" && form === "callbacks" && got.error) continue;
      const so = `seed ${seed}, ${form}:\n${written(calls.slice(0, at + 1))}\n`;
      assert.deepEqual(got, wanted, so);
    }
    await mine.end();
    await nodes.end();
    const so = `seed ${seed}, ${form}: the files in the end`;
    assert.deepEqual(await contents(ours, ""), await contents(fs, root), so);
  } finally {
    remove();
  }
}

const first = Number(process.env.KITBAG_FS_SEED ?? 1);
const count = Number(process.env.KITBAG_FS_SEEDS ?? 200);

for (const form of ["promises", "callbacks", "atOnce"]) {
  test(`${count} programs answer as Node does, over memory, ${form}`, async () => {
    for (let seed = first; seed < first + count; seed++) {
      await compared(seed, new StateBackend({ files: {} }), form);
    }
  });
}

for (const form of ["promises", "callbacks"]) {
  test(`${count / 2} programs answer as Node does, over a folder, ${form}`, async () => {
    for (let seed = first; seed < first + count / 2; seed++) {
      const { root, remove } = folder();
      try {
        await compared(seed, new FilesystemBackend({ rootDir: root }), form);
      } finally {
        remove();
      }
    }
  });
}
