// Deleting mounts over folders: a folder refuses its root as a path, and an empty one is there all the
// same.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  CompositeBackend,
  FilesystemBackend,
  LocalShellBackend,
  StateBackend,
  withPolicy,
} from "../lib/kitbag.mjs";

async function inFolder(run) {
  const root = mkdtempSync(join(tmpdir(), "kitbag-mounts-"));
  try {
    await run(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const MOUNTED = {
  "a folder": (rootDir) => new FilesystemBackend({ rootDir }),
  "a shell's folder": (rootDir) => new LocalShellBackend({ rootDir }),
  "a folder under rules": (rootDir) => withPolicy(new FilesystemBackend({ rootDir }), {}),
  "a folder in a router": (rootDir) =>
    new CompositeBackend(new FilesystemBackend({ rootDir }), { "/deeper/": new StateBackend() }),
};
const CONTENTS = {
  nothing: [],
  "an empty directory": ["empty/"],
  files: ["a.txt", "b.txt"],
  "a tree": ["a.txt", "d/e/f.txt", "d/empty/"],
};

for (const [what, make] of Object.entries(MOUNTED)) {
  for (const [content, names] of Object.entries(CONTENTS)) {
    for (const path of ["/work/m", "/work"]) {
      test(`${path} is deleted above ${what} with ${content}`, () =>
        inFolder(async (root) => {
          for (const name of names) {
            mkdirSync(join(root, name, name.endsWith("/") ? "." : ".."), { recursive: true });
            if (!name.endsWith("/")) writeFileSync(join(root, name), "text");
          }
          const router = new CompositeBackend(new StateBackend(), { "/work/m/": make(root) });
          const answer = await router.delete(path);
          assert.equal(answer.error, undefined);
          assert.deepEqual(readdirSync(root), []);
          assert.ok(existsSync(root));
          assert.equal((await router.write("/work/m/new.txt", "x")).error, undefined);
        }));
    }
  }
}

test("files of the default backend and of every mount below are deleted with it", () =>
  inFolder(async (root) => {
    for (const name of ["one", "two"]) {
      mkdirSync(join(root, name));
      writeFileSync(join(root, name, "a.txt"), "text");
    }
    const folder = (name) => new FilesystemBackend({ rootDir: join(root, name) });
    const files = { "/work/own.txt": "own", "/other.txt": "other" };
    const router = new CompositeBackend(new StateBackend({ scope: "instance", files }), {
      "/work/one/": folder("one"),
      "/work/deep/two/": folder("two"),
    });
    assert.equal((await router.delete("/work")).error, undefined);
    const left = (await router.glob("**")).files.map((file) => file.path);
    assert.deepEqual(left, ["/other.txt"]);
  }));

test("a mount of a memory without files is nothing to delete, as before", async () => {
  const router = new CompositeBackend(new StateBackend(), { "/m/": new StateBackend() });
  assert.equal((await router.delete("/m")).code, "not_found");
});

test("a folder that cannot be emptied is an error that names the mount", () =>
  inFolder(async (root) => {
    const fs = await import("node:fs/promises");
    writeFileSync(join(root, "a.txt"), "text");
    const refused = async () => {
      throw Object.assign(new Error("denied"), { code: "EACCES" });
    };
    const folder = new FilesystemBackend({ rootDir: root, fs: { ...fs.default, unlink: refused } });
    const router = new CompositeBackend(new StateBackend(), { "/work/m/": folder });
    const answer = await router.delete("/work");
    assert.equal(answer.code, "permission_denied");
    assert.match(answer.error, /\/work\/m\//);
    const left = readdirSync(root).filter((name) => !name.startsWith(".~"));
    assert.deepEqual(left, ["a.txt"]);
  }));
