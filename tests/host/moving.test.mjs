// Moves and copies in a folder: the content does not pass through the process, nothing is replaced that
// was made meanwhile, and no acknowledged change of another writer is lost.

import assert from "node:assert/strict";
import fs from "node:fs";
import promises from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { kitbag, withFolder } from "./lib.mjs";

const { FilesystemBackend, withPolicy } = kitbag;
const PINNED = process.platform === "linux";

/** Counts calls of the host's file system, and lets something happen before the first of one kind. */
async function watched(use) {
  const { open, link, rename, copyFile } = promises;
  const seen = { reads: 0, writes: 0, link: 0, rename: 0, copyFile: 0, before: {} };
  const before = async (name, args) => {
    const act = seen.before[name];
    delete seen.before[name];
    await act?.(...args);
    seen[name] += 1;
  };
  promises.open = async (path, ...more) => {
    const handle = await open(path, ...more);
    const count = (name, what) => {
      const own = handle[name];
      handle[name] = (...args) => {
        // Claims are small files with the id of a process.
        if (!String(path).includes(".~kitbag-c-")) seen[what] += 1;
        return own.apply(handle, args);
      };
    };
    count("read", "reads");
    count("writeFile", "writes");
    return handle;
  };
  const patched = { link, rename, copyFile };
  for (const [name, own] of Object.entries(patched)) {
    promises[name] = async (...args) => {
      await before(name, args);
      return own(...args);
    };
  }
  try {
    return await use(seen);
  } finally {
    Object.assign(promises, { open, ...patched });
  }
}

const inFolder = (use) => withFolder((rootDir) => watched((seen) => use(rootDir, seen)));
const good = (answer) => {
  assert.equal(answer.error ?? undefined, undefined, JSON.stringify(answer));
  return answer;
};
const put = (rootDir, name, text) => {
  const path = join(rootDir, name);
  fs.mkdirSync(join(path, ".."), { recursive: true });
  fs.writeFileSync(path, text);
};
const text = (rootDir, name) => fs.readFileSync(join(rootDir, name), "utf8");

test("a file is moved by a second name and copied by the system, without reading it", () =>
  inFolder(async (rootDir, seen) => {
    const backend = new FilesystemBackend({ rootDir });
    put(rootDir, "a.txt", "text");
    fs.chmodSync(join(rootDir, "a.txt"), 0o640);
    const { ino } = fs.statSync(join(rootDir, "a.txt"));
    good(await backend.move("/a.txt", "/new/b.md"));
    assert.equal(fs.statSync(join(rootDir, "new/b.md")).ino, ino);
    good(await backend.copy("/new/b.md", "/c.txt"));
    assert.equal(fs.statSync(join(rootDir, "c.txt")).mode & 0o777, PINNED ? 0o640 : 0o644);
    assert.equal(text(rootDir, "c.txt"), "text");
    assert.deepEqual(fs.readdirSync(rootDir).sort(), ["c.txt", "new"]);
    assert.deepEqual([seen.reads, seen.writes], PINNED ? [0, 0] : [3, 1]);
  }));

test("with overwrite one rename replaces a file, and a copy keeps its permissions", () =>
  inFolder(async (rootDir, seen) => {
    const backend = new FilesystemBackend({ rootDir });
    for (const name of ["a.txt", "b.txt", "c.txt"]) put(rootDir, name, name);
    fs.chmodSync(join(rootDir, "b.txt"), 0o600);
    good(await backend.copy("/a.txt", "/b.txt", { overwrite: true }));
    assert.equal(fs.statSync(join(rootDir, "b.txt")).mode & 0o777, 0o600);
    good(await backend.move("/a.txt", "/c.txt", { overwrite: true }));
    assert.deepEqual([text(rootDir, "b.txt"), text(rootDir, "c.txt")], ["a.txt", "a.txt"]);
    assert.deepEqual(fs.readdirSync(rootDir).sort(), ["b.txt", "c.txt"]);
    assert.equal(seen.rename, 2);
    if (PINNED) assert.deepEqual([seen.reads, seen.writes], [0, 0]);
  }));

test("two names of one file become one", () =>
  inFolder(async (rootDir) => {
    const backend = new FilesystemBackend({ rootDir });
    put(rootDir, "a.txt", "text");
    fs.linkSync(join(rootDir, "a.txt"), join(rootDir, "b.txt"));
    good(await backend.move("/a.txt", "/b.txt", { overwrite: true }));
    assert.deepEqual(fs.readdirSync(rootDir), ["b.txt"]);
  }));

test("a directory is moved by one rename, with links and empty directories", () =>
  inFolder(async (rootDir, seen) => {
    const backend = new FilesystemBackend({ rootDir });
    for (let at = 0; at < 50; at++) put(rootDir, `d/e/${at}.txt`, "text");
    fs.mkdirSync(join(rootDir, "d/empty"));
    fs.symlinkSync("e/0.txt", join(rootDir, "d/link"));
    good(await backend.move("/d", "/x/y"));
    assert.deepEqual([seen.rename, seen.link, seen.reads], [1, 0, 0]);
    assert.deepEqual(fs.readdirSync(join(rootDir, "x/y")).sort(), ["e", "empty", "link"]);
    assert.deepEqual(fs.readdirSync(rootDir), ["x"]);
  }));

test("a directory is not moved over a file or a directory that was made meanwhile", () =>
  inFolder(async (rootDir, seen) => {
    const backend = new FilesystemBackend({ rootDir });
    put(rootDir, "d/a.txt", "a");
    seen.before.rename = () => put(rootDir, "to", "theirs");
    assert.ok((await backend.move("/d", "/to")).error);
    assert.equal(text(rootDir, "to"), "theirs");
    fs.rmSync(join(rootDir, "to"));
    seen.before.rename = () => put(rootDir, "to/a.txt", "theirs");
    assert.equal((await backend.move("/d", "/to")).code, "already_exists");
    assert.deepEqual([text(rootDir, "to/a.txt"), text(rootDir, "d/a.txt")], ["theirs", "a"]);
  }));

for (const operation of ["move", "copy"]) {
  test(`a file that was made meanwhile is not replaced by a ${operation}`, () =>
    inFolder(async (rootDir, seen) => {
      const backend = new FilesystemBackend({ rootDir });
      put(rootDir, "a.txt", "ours");
      seen.before.link = () => put(rootDir, "b.txt", "theirs");
      assert.equal((await backend[operation]("/a.txt", "/b.txt")).code, "already_exists");
      assert.deepEqual([text(rootDir, "a.txt"), text(rootDir, "b.txt")], ["ours", "theirs"]);
      assert.deepEqual(fs.readdirSync(rootDir).sort(), ["a.txt", "b.txt"]);
    }));
}

test("a link to a file is followed, and never out of the folder", () =>
  withFolder((outside) =>
    inFolder(async (rootDir) => {
      const backend = new FilesystemBackend({ rootDir });
      put(rootDir, "real.txt", "text");
      put(outside, "secret.txt", "secret");
      fs.symlinkSync("real.txt", join(rootDir, "link.txt"));
      fs.symlinkSync(join(outside, "secret.txt"), join(rootDir, "out.txt"));
      good(await backend.copy("/link.txt", "/copy.txt"));
      good(await backend.move("/link.txt", "/moved.txt"));
      assert.ok(fs.lstatSync(join(rootDir, "moved.txt")).isFile());
      assert.ok(fs.existsSync(join(rootDir, "real.txt")));
      for (const operation of ["move", "copy"]) {
        assert.ok((await backend[operation]("/out.txt", "/secret.txt")).error);
      }
      assert.ok(!fs.existsSync(join(rootDir, "secret.txt")));
    }),
  ));

test("a source that becomes a link out of the folder while it is copied gives nothing away", () =>
  withFolder((outside) =>
    inFolder(async (rootDir, seen) => {
      const backend = new FilesystemBackend({ rootDir });
      put(rootDir, "a.txt", "text");
      put(outside, "secret.txt", "secret");
      const swap = () => {
        fs.rmSync(join(rootDir, "a.txt"));
        fs.symlinkSync(join(outside, "secret.txt"), join(rootDir, "a.txt"));
      };
      if (PINNED) seen.before.copyFile = swap;
      else swap();
      await backend.copy("/a.txt", "/b.txt");
      const got = fs.existsSync(join(rootDir, "b.txt")) ? text(rootDir, "b.txt") : "";
      assert.ok(!got.includes("secret"));
    }),
  ));

test("rules about paths hold for a directory that is renamed", () =>
  inFolder(async (rootDir, seen) => {
    put(rootDir, "d/a.txt", "a");
    put(rootDir, "d/private/key.txt", "k");
    const permissions = [
      { operations: ["read", "write"], paths: ["/**/private/**"], mode: "deny" },
    ];
    const backend = withPolicy(new FilesystemBackend({ rootDir }), { permissions });
    assert.equal((await backend.move("/d", "/e")).code, "permission_denied");
    assert.equal(seen.rename, 0);
    assert.ok(fs.existsSync(join(rootDir, "d/private/key.txt")));
  }));

test("appends to a file that is moved to and fro are all kept", () =>
  inFolder(async (rootDir) => {
    put(rootDir, "a.txt", "");
    const appending = async (line) => {
      const backend = new FilesystemBackend({ rootDir });
      for (let done = 0, at = 0; done < 20; at++) {
        const answer = await backend.append(at % 2 === 0 ? "/a.txt" : "/b.txt", `${line}\n`);
        if (answer.error === undefined) done += 1;
        else assert.match(answer.code, /^(not_found|conflict)$/);
      }
    };
    const moving = async () => {
      const backend = new FilesystemBackend({ rootDir });
      for (let at = 0; at < 20; at++) {
        good(await backend.move(...(at % 2 === 0 ? ["/a.txt", "/b.txt"] : ["/b.txt", "/a.txt"])));
      }
    };
    await Promise.all([appending("x"), appending("y"), moving()]);
    const lines = text(rootDir, "a.txt").trim().split("\n").sort();
    assert.deepEqual(lines, [...Array(20).fill("x"), ...Array(20).fill("y")]);
    assert.deepEqual(fs.readdirSync(rootDir), ["a.txt"]);
  }));
