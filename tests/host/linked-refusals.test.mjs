// Under rules about paths a link is refused, and the refusal does not say where it leads: the same words for a
// place that the asker may read, and for one that is hidden.

import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { kitbag, withFolder } from "./lib.mjs";

const { createFileTools, FilesystemBackend, withPolicy } = kitbag;

const SECRET = "hidden words";
const TARGETS = ["open", "secret", "outside"];
const REFUSED = /leads (out of the root )?through a symbolic link/;

/** Every way to ask for a path, and its answer as a text. */
const WAYS = {
  read: (files, path) => files.read(path),
  readRaw: (files, path) => files.readRaw(path),
  edit: (files, path) => files.edit(path, SECRET, "x"),
  append: (files, path) => files.append(path, "x"),
  grep: (files, path) => files.grep(SECRET, path),
  downloadFiles: (files, path) => files.downloadFiles([path]),
  copy: (files, path) => files.copy(path, "/copied"),
  read_file: (files, path) =>
    createFileTools(files).call("read_file", { file_path: path }, { callId: "c" }),
};

/** A folder with links to places in it and beside it, behind a rule that hides one of them. */
const withLinks = (run) =>
  withFolder(async (folder) => {
    const root = fs.realpathSync(folder);
    const rootDir = join(root, "work");
    const places = { open: "work/open", secret: "work/secret", outside: "beside" };
    for (const [name, place] of Object.entries(places)) {
      fs.mkdirSync(join(root, place), { recursive: true });
      fs.writeFileSync(join(root, place, "key.txt"), SECRET);
      fs.symlinkSync(join(root, place), join(rootDir, `to-${name}`));
      fs.symlinkSync(join(root, place, "key.txt"), join(rootDir, `file-${name}`));
    }
    const hidden = { operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" };
    const inner = new FilesystemBackend({ rootDir });
    await run({ files: withPolicy(inner, { permissions: [hidden] }), inner, root });
  });

for (const [way, ask] of Object.entries(WAYS)) {
  test(`${way}: the refusal of a link tells nothing of the place where it leads`, () =>
    withLinks(async ({ files, root }) => {
      for (const form of [(name) => `/file-${name}`, (name) => `/to-${name}/key.txt`]) {
        const said = {};
        for (const name of TARGETS) {
          const path = form(name);
          const answer = JSON.stringify(await ask(files, path));
          assert.match(answer, REFUSED, path);
          // Only the path that was asked for is named.
          const rest = answer.replaceAll(path, "LINK");
          for (const word of [SECRET, root, "secret", "beside", "key.txt", "resolves"]) {
            assert.ok(!rest.includes(word), `${path}: ${rest} names ${word}`);
          }
          said[name] = rest;
        }
        assert.equal(said.secret, said.open);
      }
    }));
}

test("without rules the same links inside of the folder lead where they lead", () =>
  withLinks(async ({ inner }) => {
    for (const name of ["open", "secret"]) {
      for (const path of [`/file-${name}`, `/to-${name}/key.txt`]) {
        assert.equal((await inner.read(path)).content, SECRET, path);
      }
    }
    assert.equal((await inner.read("/to-outside/key.txt")).code, "permission_denied");
  }));
