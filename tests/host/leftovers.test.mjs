// What killed processes left in a folder: the next change in that directory removes it, whichever
// change it is; what another process may still need stays; and nothing of it is ever shown.

import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { kitbag, withFolder } from "./lib.mjs";

const { FilesystemBackend } = kitbag;
const bytes = (text) => new TextEncoder().encode(text);
const OLD = new Date(Date.now() - 3_600_000);

const CHANGES = {
  write: (b, dir) => b.write(`${dir}/new.txt`, "new"),
  "write over a file": (b, dir) => b.write(`${dir}/a.txt`, "new"),
  edit: (b, dir) => b.edit(`${dir}/a.txt`, "one", "two"),
  upload: (b, dir) => b.uploadFiles([[`${dir}/a.txt`, bytes("new")]]),
  "upload of several": (b, dir) =>
    b.uploadFiles([
      [`${dir}/a.txt`, bytes("new")],
      [`${dir}/b.txt`, bytes("new")],
    ]),
};

const LEFT = {
  "a half written file": [[".~kitbag-t-1-1-abc", "half written"]],
  "a claim of another machine": [[".~kitbag-c-0123-1-2-3-0", "999999999 elsewhere"]],
  "claims of several attempts": [
    [".~kitbag-c-0123-1-2-3-0", "999999999 elsewhere"],
    [".~kitbag-c-0123-1-2-3-1", "999999999 elsewhere"],
  ],
};

test("thousands of claims of killed processes do not keep a file from being changed", () =>
  withFolder(async (rootDir) => {
    const file = join(rootDir, "a.txt");
    fs.writeFileSync(file, "one");
    const { ino, size, mtimeNs } = fs.statSync(file, { bigint: true });
    // Whose name it is: that of the claim of another change.
    const backend = new FilesystemBackend({ rootDir, writeMode: "overwrite" });
    const names = [];
    const watcher = fs.watch(rootDir, (_, name) => names.push(name));
    assert.equal((await backend.edit("/a.txt", "one", "two")).error, undefined);
    while (!names.some((name) => name?.startsWith(".~kitbag-c-"))) await delay(5);
    watcher.close();
    const hash = /^\.~kitbag-c-(\w+)-/.exec(
      names.find((name) => name.startsWith(".~kitbag-c-")),
    )[1];
    assert.ok(names.includes(`.~kitbag-c-${hash}-${ino}-${size}-${mtimeNs}-0`), names.join());
    const now = fs.statSync(file, { bigint: true });
    const base = join(rootDir, `.~kitbag-c-${hash}-${now.ino}-${now.size}-${now.mtimeNs}`);
    for (let at = 0; at < 3_000; at++) {
      fs.writeFileSync(`${base}-${at}`, "999999999 elsewhere\n");
      fs.utimesSync(`${base}-${at}`, OLD, OLD);
    }
    assert.equal((await backend.edit("/a.txt", "two", "three")).error, undefined);
    assert.equal(fs.readFileSync(file, "utf8"), "three");
    assert.deepEqual(fs.readdirSync(rootDir), ["a.txt"]);
  }));

for (const [change, make] of Object.entries(CHANGES)) {
  for (const [what, files] of Object.entries(LEFT)) {
    for (const dir of ["", "/d"]) {
      const where = dir === "" ? "the root" : "a directory";
      test(`${what} in ${where} is removed by the next ${change}`, () =>
        withFolder(async (rootDir) => {
          const at = join(rootDir, dir);
          fs.mkdirSync(at, { recursive: true });
          fs.writeFileSync(join(at, "a.txt"), "one");
          for (const [name, text] of files) {
            fs.writeFileSync(join(at, name), text);
            fs.utimesSync(join(at, name), OLD, OLD);
          }
          const young = ".~kitbag-t-1-2-def";
          fs.writeFileSync(join(at, young), "being written");
          const backend = new FilesystemBackend({ rootDir, writeMode: "overwrite" });
          const shown = JSON.stringify([
            await backend.ls(dir || "/"),
            await backend.glob("**"),
            await backend.grep("written"),
          ]);
          assert.doesNotMatch(shown, /kitbag-/);
          const answer = [await make(backend, dir)].flat()[0];
          assert.equal(answer.error ?? null, null);
          const left = fs.readdirSync(at).filter((name) => name.startsWith(".~"));
          assert.deepEqual(left, [young]);
        }));
    }
  }
}
