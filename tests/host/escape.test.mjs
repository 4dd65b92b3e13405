// Attempts to get out of a FilesystemBackend's folder, or to make it hang: by names, by links as
// file and as parent, by links that another process swaps in, by pipes and devices. None reads or
// writes outside, and each is answered within seconds.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import fsPromises from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { kitbag, withFolder } from "./lib.mjs";

const SECRET = "the-secret-outside";

/** A root with traps in it, and a secret beside it. */
async function withTraps(use) {
  await withFolder(async (base) => {
    const root = join(base, "root");
    const outside = join(base, "outside");
    fs.mkdirSync(join(root, "sub/deep"), { recursive: true });
    fs.mkdirSync(join(outside, "dir"), { recursive: true });
    fs.writeFileSync(join(outside, "secret.txt"), SECRET);
    fs.writeFileSync(join(outside, "dir/more.txt"), SECRET);
    fs.writeFileSync(join(root, "inside.txt"), "inside");
    const link = (to, name) => fs.symlinkSync(to, join(root, name));
    link(join(outside, "secret.txt"), "file-link.txt");
    link("../outside/secret.txt", "relative-link.txt");
    link(outside, "dir-link");
    link("../../outside", "sub/up-link");
    link("file-link.txt", "link-to-link.txt");
    link("dir-link/dir", "through-link");
    link(join(outside, "new.txt"), "dangling.txt");
    link(join(outside, "new-dir"), "dangling-dir");
    link("/etc/passwd", "passwd.txt");
    link("/proc/self/root", "proc-root");
    link("/proc/self/environ", "environ.txt");
    link("/dev/zero", "zero.txt");
    link(".", "loop");
    link("self-loop", "self-loop");
    execFileSync("mkfifo", [join(root, "fifo.txt")]);
    link("fifo.txt", "fifo-link.txt");
    fs.symlinkSync(root, join(base, "root-prefix-link"));
    fs.mkdirSync(join(base, "root-sibling"));
    fs.writeFileSync(join(base, "root-sibling/x.txt"), SECRET);
    link("../root-sibling", "sibling-link");
    const before = snapshot(outside);
    await use(root);
    assert.deepEqual(snapshot(outside), before, "something outside was changed");
  });
}

function snapshot(dir) {
  return fs
    .readdirSync(dir, { recursive: true })
    .map(String)
    .sort()
    .map((name) => {
      const stats = fs.lstatSync(join(dir, name));
      return [
        name,
        stats.mtimeMs,
        stats.ino,
        stats.isFile() && fs.readFileSync(join(dir, name), "utf8"),
      ];
    });
}

async function soon(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("it hangs")), 8000);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function leaks(answer) {
  return /the-secret-outside|root:x:0:0/.test(
    JSON.stringify(answer, (_, value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value,
    ),
  );
}

const BAD_NAMES = [
  "../outside/secret.txt",
  "/../outside/secret.txt",
  "/sub/../../outside/secret.txt",
  "..",
  "/..",
  "/sub/..",
  "/sub/../..",
  "~",
  "~/secret.txt",
  "/~/x",
  "/..\0/x",
  "a\0b",
  "..\\outside\\secret.txt",
  "C:\\secret.txt",
  "C:/secret.txt",
  "\\\\host\\share",
  "/a\nb",
  "/./../outside/secret.txt",
  "//../outside/secret.txt",
  "/sub/deep/../../../outside/secret.txt",
];
const LINKED_FILES = [
  "/file-link.txt",
  "/relative-link.txt",
  "/link-to-link.txt",
  "/passwd.txt",
  "/environ.txt",
  "/dir-link/secret.txt",
  "/dir-link/dir/more.txt",
  "/sub/up-link/secret.txt",
  "/through-link/more.txt",
  "/proc-root/etc/passwd",
  "/sibling-link/x.txt",
  "/zero.txt",
  "/loop/loop/loop/dir-link/secret.txt",
  "/self-loop",
  "/self-loop/x",
  "/fifo.txt",
  "/fifo-link.txt",
];
const LINKED_PLACES = [
  "/dir-link/new.txt",
  "/sub/up-link/new.txt",
  "/through-link/new.txt",
  "/dangling.txt",
  "/dangling-dir/new.txt",
  "/proc-root/tmp/kitbag-escape.txt",
  "/sibling-link/new.txt",
  "/loop/dir-link/new.txt",
  "/dir-link/made/deep/new.txt",
];

for (const [name, make] of [
  ["held directories", (rootDir) => new kitbag.FilesystemBackend({ rootDir })],
  ["compared paths", (rootDir) => new kitbag.FilesystemBackend({ rootDir, fs: fsPromises })],
]) {
  test(`no name leads out (${name})`, () =>
    withTraps(async (root) => {
      const it = make(root);
      let attempts = 0;
      for (const bad of BAD_NAMES) {
        const bytes = new TextEncoder().encode("x");
        for (const answer of [
          await soon(it.read(bad)),
          await soon(it.readRaw(bad)),
          await soon(it.write(bad, "x")),
          await soon(it.edit(bad, "s", "x")),
          await soon(it.delete(bad)),
          await soon(it.move(bad, "/x.txt")),
          await soon(it.copy("/x.txt", bad)),
          await soon(it.append(bad, "x")),
          await soon(it.ls(bad)),
          await soon(it.grep("the", bad)),
          await soon(it.glob("*", bad)),
          (await soon(it.uploadFiles([[bad, bytes]])))[0],
          (await soon(it.downloadFiles([bad])))[0],
        ]) {
          attempts += 1;
          assert.equal(
            answer.code,
            "invalid_path",
            `${JSON.stringify(bad)}: ${JSON.stringify(answer)}`,
          );
        }
      }
      for (const pattern of [
        "../**",
        "../outside/*",
        "/../**",
        "sub/../../**",
        "**/../../*",
        "{..,x}/*",
      ]) {
        attempts += 2;
        for (const answer of [
          await soon(it.glob(pattern)),
          await soon(it.grep("the", "/", pattern)),
        ]) {
          const found = answer.files ?? answer.matches ?? [];
          assert.ok(
            found.every((row) => !/outside|sibling\//.test(row.path)),
            pattern,
          );
          assert.ok(!leaks(answer), pattern);
        }
      }
      assert.ok(attempts >= 60, String(attempts));
    }));

  test(`no link leads out (${name})`, () =>
    withTraps(async (root) => {
      const it = make(root);
      for (const path of LINKED_FILES) {
        for (const ask of [
          () => it.read(path),
          () => it.readRaw(path),
          () => it.edit(path, "e", "x", true),
          () => it.downloadFiles([path]).then(([one]) => one),
        ]) {
          const answer = await soon(ask());
          assert.ok(answer.error, `${path} was read: ${JSON.stringify(answer).slice(0, 200)}`);
          assert.ok(!leaks(answer), path);
        }
        for (const ask of [
          () => it.ls(path),
          () => it.grep("the", path),
          () => it.glob("**", path),
        ]) {
          const answer = await soon(ask());
          assert.ok(!leaks(answer), path);
          assert.equal((answer.files ?? answer.matches ?? []).length, 0, path);
        }
      }
      for (const path of LINKED_PLACES) {
        const [upload] = await soon(it.uploadFiles([[path, new Uint8Array([1])]]));
        assert.notEqual(upload.error, null, path);
        assert.ok((await soon(it.write(path, "x"))).error, path);
      }
      assert.equal(fs.existsSync("/tmp/kitbag-escape.txt"), false);
      const all = [
        await soon(it.grep("e", "/")),
        await soon(it.glob("**")),
        await soon(it.ls("/")),
        await soon(it.ls("/dir-link")),
        await soon(it.grep("the", "/dir-link")),
        await soon(it.glob("**", "/sub/up-link")),
      ];
      for (const answer of all) assert.ok(!leaks(answer));
      assert.deepEqual(
        all[1].files.map((file) => file.path),
        ["/inside.txt"],
      );
    }));

  test(`deleting a link leaves what it leads to (${name})`, () =>
    withTraps(async (root) => {
      const it = make(root);
      for (const path of ["/file-link.txt", "/dir-link", "/dangling.txt", "/sub", "/fifo.txt"]) {
        assert.equal((await soon(it.delete(path))).error, undefined, path);
        assert.equal(fs.existsSync(join(root, path)), false, path);
      }
      assert.ok((await soon(it.delete("/through-link/more.txt"))).error);
    }));

  test(`a link inside the root that stays inside may be used (${name})`, () =>
    withTraps(async (root) => {
      const it = make(root);
      fs.symlinkSync("inside.txt", join(root, "alias.txt"));
      fs.symlinkSync("sub", join(root, "sub-alias"));
      assert.equal((await it.read("/alias.txt")).content, "inside");
      assert.equal((await it.edit("/alias.txt", "inside", "changed")).error, undefined);
      assert.ok(fs.lstatSync(join(root, "alias.txt")).isSymbolicLink());
      assert.equal(fs.readFileSync(join(root, "inside.txt"), "utf8"), "changed");
      assert.equal((await it.write("/sub-alias/made.txt", "x")).error, undefined);
      assert.ok(fs.existsSync(join(root, "sub/made.txt")));
    }));
}

test("kitbag's own files are hidden and cannot be named", () =>
  withFolder(async (rootDir) => {
    const it = new kitbag.FilesystemBackend({ rootDir });
    fs.writeFileSync(join(rootDir, ".~kitbag-t-1-1-x"), "left behind");
    assert.equal((await it.write("/.~kitbag-x", "x")).code, "invalid_path");
    assert.equal((await it.read("/.~kitbag-t-1-1-x")).code, "invalid_path");
    assert.deepEqual((await it.ls("/")).files, []);
    assert.deepEqual((await it.glob("**")).files, []);
    assert.deepEqual((await it.grep("left")).matches, []);
  }));

/**
 * Swaps a directory and a file for links to the outside and back, as fast as it can. A write may
 * make a directory, or move a file, into the gap that a swap leaves: whatever stands in the way is
 * cleared away, a link by itself, so that the swapping never gets stuck.
 */
const SWAPPER = `
const fs = require("node:fs");
const [root, outside] = process.argv.slice(1);
const until = Date.now() + 60000;
function insist(path, put) {
  while (Date.now() < until) {
    try { return put(); } catch {}
    try { fs.rmSync(path, { recursive: true, force: true }); } catch {}
  }
}
function swap(name, aside, outer) {
  const path = root + "/" + name, kept = root + "/" + aside;
  fs.renameSync(path, kept);
  insist(path, () => fs.symlinkSync(outer, path));
  try { fs.unlinkSync(path); } catch {}
  insist(path, () => fs.renameSync(kept, path));
}
process.send("ready");
while (Date.now() < until) {
  swap("swap", ".aside", outside);
  swap("f.txt", ".f", outside + "/secret.txt");
}`;

test("links swapped in between check and use by another process lead nowhere", () =>
  withFolder(async (base) => {
    const root = join(base, "root");
    const outside = join(base, "outside");
    fs.mkdirSync(join(root, "swap"), { recursive: true });
    fs.mkdirSync(outside);
    for (const name of ["secret.txt", "a.txt", "b.txt"])
      fs.writeFileSync(join(outside, name), SECRET);
    fs.writeFileSync(join(root, "swap/secret.txt"), "harmless");
    fs.writeFileSync(join(root, "f.txt"), "harmless");
    const before = snapshot(outside);
    const swapper = spawn(process.execPath, ["-e", SWAPPER, root, outside], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    await once(swapper, "message");
    const it = new kitbag.FilesystemBackend({ rootDir: root });
    assert.match(it.capability.notes[0], /held open/);
    let harmless = 0;
    let refused = 0;
    try {
      const began = Date.now();
      // Longer only where a busy machine has not shown both sides of the race yet.
      const enough = () => Date.now() - began > (harmless > 0 && refused > 0 ? 6000 : 30_000);
      for (let n = 0; !enough(); n++) {
        const answers = await Promise.all([
          it.read("/swap/secret.txt"),
          it.read("/f.txt"),
          it.grep("secret"),
          it.ls("/swap"),
          it.write(`/swap/new-${n}.txt`, "x"),
          it.edit("/swap/secret.txt", "harm", "harm"),
          it.edit("/f.txt", "harm", "harm"),
          it.delete("/swap/a.txt"),
          it.uploadFiles([["/swap/b.txt", new Uint8Array([1])]]),
          it.downloadFiles(["/swap/secret.txt"]),
          it.delete(`/swap/new-${n - 1}.txt`),
          it.glob("**"),
        ]);
        for (const answer of answers) assert.ok(!leaks(answer), JSON.stringify(answer));
        if (answers[0].content === "harmless") harmless += 1;
        if (answers[0].error) refused += 1;
      }
      assert.equal(swapper.exitCode, null, "the swapping ended before the race did");
    } finally {
      const gone = once(swapper, "exit");
      if (swapper.exitCode === null && swapper.signalCode === null) {
        swapper.kill("SIGKILL");
        await gone;
      }
    }
    assert.deepEqual(snapshot(outside), before, "something outside was changed");
    // Both sides of the race were met, or it would show nothing.
    assert.ok(harmless > 0 && refused > 0, `${harmless} harmless, ${refused} refused`);
    console.log(`# ${harmless} read, ${refused} refused`);
  }));

test("a special file is refused at once, also when it is swapped in", () =>
  withFolder(async (rootDir) => {
    execFileSync("mkfifo", [join(rootDir, "pipe")]);
    const it = new kitbag.FilesystemBackend({ rootDir });
    assert.equal((await soon(it.read("/pipe"))).code, "permission_denied");
    assert.equal((await soon(it.edit("/pipe", "", "x"))).code, "permission_denied");
    assert.equal((await soon(it.write("/pipe", "x"))).code, "already_exists");
    const [up] = await soon(it.uploadFiles([["/pipe", new Uint8Array(1)]]));
    assert.equal(up.error, "permission_denied");
    assert.deepEqual((await soon(it.grep(""))).matches, []);
    const over = new kitbag.FilesystemBackend({ rootDir: "/dev", fs: fsPromises });
    assert.equal((await soon(over.read("/zero"))).code, "permission_denied");
    assert.equal(
      (await soon(new kitbag.FilesystemBackend({ rootDir: "/dev" }).read("/tty"))).code,
      "permission_denied",
    );
  }));

test("files over the limit are too large, to read and to write", () =>
  withFolder(async (rootDir) => {
    fs.writeFileSync(join(rootDir, "big.txt"), "x".repeat(2000));
    const it = new kitbag.FilesystemBackend({ rootDir, maxFileBytes: 1000 });
    assert.equal((await it.read("/big.txt")).code, "too_large");
    assert.equal((await it.write("/new.txt", "x".repeat(1001))).code, "too_large");
    assert.deepEqual((await it.grep("x")).matches, []);
  }));

test("without virtualMode paths are the host's own", () =>
  withFolder(async (rootDir) => {
    const it = new kitbag.FilesystemBackend({ rootDir, virtualMode: false });
    const path = join(rootDir, "a.txt");
    assert.equal((await it.write(path, "hello")).error, undefined);
    assert.equal(fs.readFileSync(path, "utf8"), "hello");
    assert.deepEqual(
      (await it.ls(rootDir)).files.map((file) => file.path),
      [path],
    );
  }));

test("a wrong option is a TypeError that names it", () => {
  for (const [options, named] of [
    [{ rootDir: "" }, /rootDir/],
    [{ rootDir: 7 }, /rootDir/],
    [{ rootDir: "/a\0b" }, /rootDir/],
    [{ rootDir: "/tmp", fs: {} }, /fs/],
    [{ rootDir: "/tmp", virtualMode: 1 }, /virtualMode/],
    [{ rootDir: "/tmp", ripgrep: "rg" }, /ripgrep/],
    [{ rootDir: "/tmp", virtualmode: true }, /virtualmode/],
  ]) {
    assert.throws(
      () => new kitbag.FilesystemBackend(options),
      (error) => error instanceof TypeError && named.test(error.message),
    );
  }
});
