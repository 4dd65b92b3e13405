// Eight processes at one file: no edit is lost, one of eight creators wins, and what a process
// that died left behind holds nobody up.

import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { kitbag, root, run, withFolder } from "./lib.mjs";

const PROCESSES = 8;

async function race(kind, edits) {
  await withFolder(async (dir) => {
    fs.writeFileSync(join(dir, "count.txt"), "END");
    const children = Array.from({ length: PROCESSES }, (_, n) =>
      fork(join(root, "tests/host/race-worker.mjs"), [kind, dir, String(n), String(edits)]),
    );
    await Promise.all(children.map((child) => once(child, "message")));
    const answers = children.map((child) => once(child, "message"));
    for (const child of children) child.send("go");
    const results = (await Promise.all(answers)).map(([message]) => message);
    assert.equal(results.filter((result) => result.made).length, 1, "one creator wins");
    for (const { made, code } of results) if (!made) assert.equal(code, "already_exists");
    const text = fs.readFileSync(join(dir, "count.txt"), "utf8");
    const lost = [];
    for (let p = 0; p < PROCESSES; p++) {
      for (let n = 0; n < edits; n++) {
        const told = results[p].refused.some((line) => line.startsWith(`${n}:`));
        if (!text.includes(`<${p}.${n}>`) && !told) lost.push(`${p}.${n}`);
      }
    }
    assert.deepEqual(lost, [], "an edit that was answered with success is gone");
    assert.deepEqual(
      results.flatMap((result) => result.refused),
      [],
      "edits were given up",
    );
    const left = fs.readdirSync(dir).filter((name) => name.startsWith(".~kitbag-"));
    assert.deepEqual(left, [], "something was left behind");
    assert.match(fs.readFileSync(join(dir, "made.txt"), "utf8"), /^by \d$/);
  });
}

test("FilesystemBackend: 8 processes, 50 edits each, 8 creators", () => race("disk", 50));

test("SandboxBackend: 8 processes, 5 edits each, 8 creators", () => race("sandbox", 5));

/** A process id that is no process's any more. */
async function deadPid() {
  const child = fork("/dev/null");
  await once(child, "exit");
  return child.pid;
}

test("a claim left behind by a process that died holds nobody up", () =>
  withFolder(async (rootDir) => {
    const it = new kitbag.FilesystemBackend({ rootDir });
    await it.write("/a.txt", "one");
    // The claim's name is made by a writer that we stop in the middle: its rename never comes.
    const promises = await import("node:fs/promises");
    let claimed;
    const stopping = {
      ...promises.default,
      constants: fs.constants,
      open: (path, flags, mode) => {
        if (flags === "wx" && path.includes("kitbag-c-")) claimed = path;
        return promises.default.open(path, flags, mode);
      },
      rename: () => Promise.reject(Object.assign(new Error("stopped"), { code: "EIO" })),
    };
    const other = new kitbag.FilesystemBackend({ rootDir, fs: stopping });
    assert.ok((await other.edit("/a.txt", "one", "two")).error);
    assert.ok(claimed);
    fs.writeFileSync(claimed, `${await deadPid()} ${hostname()}`);
    const answer = await it.edit("/a.txt", "one", "three");
    assert.equal(answer.error, undefined);
    assert.equal(fs.readFileSync(join(rootDir, "a.txt"), "utf8"), "three");
    assert.deepEqual(fs.readdirSync(rootDir), ["a.txt"]);
    // A living one's claim is respected: the edit is given up, and nothing is overwritten.
    assert.ok((await other.edit("/a.txt", "three", "x")).error);
    fs.writeFileSync(claimed, `${process.ppid} ${hostname()}`);
    const held = await it.edit("/a.txt", "three", "four");
    assert.equal(held.code, "conflict");
    assert.equal(fs.readFileSync(join(rootDir, "a.txt"), "utf8"), "three");
  }));

test("a change on disk since the read is noticed", () =>
  withFolder(async (rootDir) => {
    const path = join(rootDir, "a.txt");
    fs.writeFileSync(path, "one two");
    const promises = await import("node:fs/promises");
    let meddled = false;
    const meddling = {
      ...promises.default,
      constants: fs.constants,
      // Somebody else writes in place, after kitbag has read and before it exchanges.
      open: (file, flags, mode) => {
        if (flags === "wx" && !meddled) {
          meddled = true;
          fs.writeFileSync(path, "one two and more");
        }
        return promises.default.open(file, flags, mode);
      },
    };
    const it = new kitbag.FilesystemBackend({ rootDir, fs: meddling });
    const answer = await it.edit("/a.txt", "one", "1");
    assert.equal(answer.error, undefined);
    assert.ok(meddled);
    assert.equal(fs.readFileSync(path, "utf8"), "1 two and more");
  }));

/** The host's calls, with something done to a file whenever it was opened to be read. */
async function afterOpen(name, act) {
  const { default: promises } = await import("node:fs/promises");
  return {
    ...promises,
    constants: fs.constants,
    open: async (file, flags, mode) => {
      const handle = await promises.open(file, flags, mode);
      if (flags !== "wx" && file.endsWith(`/${name}`)) act(file);
      return handle;
    },
  };
}

test("a file that others replace while it is opened is read as it is then", () =>
  withFolder(async (rootDir) => {
    const path = join(rootDir, "a.txt");
    fs.writeFileSync(path, "0");
    let times = 0;
    const replacing = await afterOpen("a.txt", () => {
      if (times === 5) return;
      times += 1;
      fs.writeFileSync(`${path}.new`, String(times));
      fs.renameSync(`${path}.new`, path);
    });
    const it = new kitbag.FilesystemBackend({ rootDir, fs: replacing });
    assert.equal((await it.read("/a.txt")).content, "5");
    times = 0;
    assert.equal((await it.append("/a.txt", "!")).error, undefined);
    assert.equal(fs.readFileSync(path, "utf8"), "5!");
  }));

for (const [what, swap] of [
  ["a link out of the folder", (path, secret) => fs.symlinkSync(secret, path)],
  ["another file each time", (path) => fs.writeFileSync(path, "other")],
]) {
  test(`a file that becomes ${what} whenever it is opened is refused`, () =>
    withFolder((outside) =>
      withFolder(async (rootDir) => {
        const secret = join(outside, "secret");
        fs.writeFileSync(secret, "secret");
        const path = join(rootDir, "a.txt");
        fs.writeFileSync(path, "0");
        let kept = 0;
        const swapping = await afterOpen("a.txt", () => {
          // The one before is kept, so that its number is not used again.
          fs.renameSync(path, join(rootDir, `kept-${kept++}`));
          swap(path, secret);
        });
        const it = new kitbag.FilesystemBackend({ rootDir, fs: swapping });
        const { error, code, content } = await it.read("/a.txt");
        assert.equal(content, undefined);
        assert.equal(code, "permission_denied", error);
      }),
    ));
}

test("a file that disappears while it is opened is not there", () =>
  withFolder(async (rootDir) => {
    const path = join(rootDir, "a.txt");
    fs.writeFileSync(path, "0");
    const removing = await afterOpen("a.txt", () => fs.rmSync(path, { force: true }));
    const it = new kitbag.FilesystemBackend({ rootDir, fs: removing });
    assert.equal((await it.read("/a.txt")).code, "not_found");
  }));

test("a failed edit leaves the old content whole", () =>
  withFolder(async (rootDir) => {
    const promises = await import("node:fs/promises");
    fs.writeFileSync(join(rootDir, "a.txt"), "old");
    const full = {
      ...promises.default,
      constants: fs.constants,
      open: async (file, flags, mode) => {
        const handle = await promises.default.open(file, flags, mode);
        if (flags === "wx" && file.includes("kitbag-t-")) {
          handle.writeFile = () =>
            Promise.reject(Object.assign(new Error("full"), { code: "ENOSPC" }));
        }
        return handle;
      },
    };
    const it = new kitbag.FilesystemBackend({ rootDir, fs: full });
    assert.equal((await it.edit("/a.txt", "old", "new")).code, "quota_exceeded");
    assert.equal((await it.write("/b.txt", "new")).code, "quota_exceeded");
    assert.deepEqual(fs.readdirSync(rootDir), ["a.txt"]);
    assert.equal(fs.readFileSync(join(rootDir, "a.txt"), "utf8"), "old");
  }));

test("the mode of a file survives an edit", () =>
  withFolder(async (rootDir) => {
    for (const it of [
      new kitbag.FilesystemBackend({ rootDir }),
      new kitbag.SandboxBackend({ id: "s", execute: run("/bin/sh"), rootDir }),
    ]) {
      const path = join(rootDir, "run.sh");
      fs.writeFileSync(path, "echo one");
      fs.chmodSync(path, 0o755);
      assert.equal((await it.edit("/run.sh", "one", "two")).error, undefined);
      assert.equal(fs.statSync(path).mode & 0o777, 0o755);
    }
  }));
