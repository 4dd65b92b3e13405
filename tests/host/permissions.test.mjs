// Permissions of files in a folder, whether it exists at all, and claims of processes that are gone.

import assert from "node:assert/strict";
import fs from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { kitbag, withFolder } from "./lib.mjs";

const { begin, CompositeBackend, FilesystemBackend, LocalShellBackend, StateBackend, undo } =
  kitbag;
const { withPolicy } = kitbag;

const umask = process.umask(0o022);
after(() => process.umask(umask));

/** A folder like the host's, but one that cannot be held open, and that copies nothing by itself. */
const lent = () => {
  const { copyFile: _, ...others } = fs.promises;
  return { ...others, constants: fs.constants };
};
const KINDS = {
  "the host's folder": (rootDir) => new FilesystemBackend({ rootDir, writeMode: "overwrite" }),
  "a lent folder": (rootDir) =>
    new FilesystemBackend({ rootDir, fs: lent(), writeMode: "overwrite" }),
  "a folder under rules": (rootDir) =>
    withPolicy(new FilesystemBackend({ rootDir, writeMode: "overwrite" }), {
      readOnlyPrefixes: ["/no"],
    }),
  "a folder under a router": (rootDir) =>
    new CompositeBackend(new FilesystemBackend({ rootDir, writeMode: "overwrite" }), {
      "/m/": new StateBackend(),
    }),
};

/** What is done, and the files that then have the permissions of `/a.txt`, and those of `/d/run.sh`. */
const WAYS = {
  "a copy": [(b) => b.copy("/a.txt", "/b.txt"), ["b.txt"], []],
  "a copy to another type": [(b) => b.copy("/a.txt", "/b.png"), ["b.png"], []],
  "a copy of a directory": [(b) => b.copy("/d", "/e/f"), ["e/f/secret"], ["e/f/run.sh"]],
  "a copy of a link": [(b) => b.copy("/link", "/b.txt"), ["b.txt"], []],
  "a move": [(b) => b.move("/a.txt", "/b.txt"), ["b.txt"], []],
  "a move of a directory": [(b) => b.move("/d", "/e"), ["e/secret"], ["e/run.sh"]],
  "an edit": [(b) => b.edit("/a.txt", "one", "two"), ["a.txt"], []],
  "a write over it": [(b) => b.write("/a.txt", "two"), ["a.txt"], []],
};

const seen = (root, names) =>
  names.map((name) => `${name} ${(fs.statSync(join(root, name)).mode & 0o777).toString(8)}`);

function planted(root) {
  fs.mkdirSync(join(root, "d"));
  for (const [name, mode] of [
    ["a.txt", 0o600],
    ["d/secret", 0o600],
    ["d/run.sh", 0o755],
  ]) {
    fs.writeFileSync(join(root, name), "one");
    fs.chmodSync(join(root, name), mode);
  }
  fs.symlinkSync("a.txt", join(root, "link"));
}

for (const [kind, make] of Object.entries(KINDS)) {
  for (const [way, [act, secret, runs]] of Object.entries(WAYS)) {
    // Rules about paths follow no link.
    if (way === "a copy of a link" && kind === "a folder under rules") continue;
    test(`${kind}: ${way} keeps permissions`, () =>
      withFolder(async (root) => {
        planted(root);
        const answer = await act(make(root));
        assert.equal(answer.error, undefined);
        assert.deepEqual(
          seen(root, secret),
          secret.map((name) => `${name} 600`),
        );
        assert.deepEqual(
          seen(root, runs),
          runs.map((name) => `${name} 755`),
        );
      }));
  }

  test(`${kind}: the undo of a deletion gives permissions back`, () =>
    withFolder(async (root) => {
      planted(root);
      const backend = make(root);
      for (const gone of [["/a.txt"], ["/d"], ["/a.txt", "/d/run.sh", "/d/secret"]]) {
        const turn = begin(backend);
        for (const path of gone) assert.equal((await turn.delete(path)).error, undefined);
        const { receipt, error } = await turn.commit();
        assert.equal(error, undefined);
        assert.equal((await undo(backend, receipt)).error, undefined);
        assert.deepEqual(seen(root, ["a.txt", "d/secret", "d/run.sh"]), [
          "a.txt 600",
          "d/secret 600",
          "d/run.sh 755",
        ]);
      }
    }));

  test(`${kind}: another file at the path of a deleted one gets the usual permissions`, () =>
    withFolder(async (root) => {
      planted(root);
      const backend = make(root);
      await backend.delete("/a.txt");
      await backend.write("/a.txt", "of another size");
      assert.deepEqual(seen(root, ["a.txt"]), ["a.txt 644"]);
    }));
}

test("a file with few permissions is never readable by others while it is replaced", () =>
  withFolder(async (root) => {
    planted(root);
    const modes = [];
    const watching = {
      ...lent(),
      open: async (path, flags, mode) => {
        const handle = await fs.promises.open(path, flags, mode);
        if (flags === "wx" && path.includes("kitbag-t-"))
          modes.push((await handle.stat()).mode & 0o777);
        return handle;
      },
    };
    const backend = new FilesystemBackend({ rootDir: root, fs: watching });
    assert.equal((await backend.edit("/a.txt", "one", "two")).error, undefined);
    assert.deepEqual(modes, [0o600]);
  }));

const READS = {
  ls: (b) => b.ls("/"),
  glob: (b) => b.glob("**"),
  grep: (b) => b.grep("x"),
  "grep by an expression": (b) => b.grep("x+", "/", null, { regex: true }),
  read: (b) => b.read("/a.txt"),
  readRaw: (b) => b.readRaw("/a.txt"),
  downloadFiles: (b) => b.downloadFiles(["/a.txt", "/b.txt"]),
  edit: (b) => b.edit("/a.txt", "a", "b"),
  delete: (b) => b.delete("/a.txt"),
  move: (b) => b.move("/a.txt", "/b.txt"),
  copy: (b) => b.copy("/a.txt", "/b.txt"),
};

for (const [kind, options] of [
  ["the host's folder", {}],
  ["a lent folder", { fs: lent() }],
]) {
  for (const [name, act] of Object.entries(READS)) {
    test(`${kind}: ${name} does not make a folder that is missing, and a write does`, () =>
      withFolder(async (root) => {
        const rootDir = join(root, "not/there");
        const backend = new FilesystemBackend({ rootDir, ...options });
        const [answer] = [await act(backend)].flat();
        if (["ls", "glob"].includes(name)) assert.deepEqual(answer.files, []);
        else if (name.startsWith("grep")) assert.deepEqual(answer.matches, []);
        else assert.match(answer.code ?? answer.error, /not_found/);
        assert.equal(fs.existsSync(join(root, "not")), false);
        assert.equal((await backend.write("/d/a.txt", "x")).error, undefined);
        assert.equal(fs.readFileSync(join(rootDir, "d/a.txt"), "utf8"), "x");
        assert.equal((await backend.glob("**")).files.length, 1);
      }));
  }
}

test("where no folder can be made, a write and a shell end with an error", async (t) => {
  if (!fs.existsSync("/proc/self")) return t.skip("there is no /proc");
  const rootDir = "/proc/kitbag/deep";
  const { error } = await new FilesystemBackend({ rootDir }).write("/a.txt", "x");
  assert.notEqual(error, undefined);
  await assert.rejects(LocalShellBackend.create({ rootDir, execute: () => {} }));
});

/** Folders that are not there, as options name them; `made` is the folder meant. */
const MISSING = {
  "one level": (root) => ({ rootDir: join(root, "new"), made: "new" }),
  "several levels": (root) => ({ rootDir: join(root, "not/there"), made: "not/there" }),
  "a slash at its end": (root) => ({ rootDir: `${root}/new/`, made: "new" }),
  "a dot in its path": (root) => ({ rootDir: `${root}/new/./deep`, made: "new/deep" }),
  "a name with spaces and other letters": (root) => ({
    rootDir: join(root, "a b/ünï 日本"),
    made: "a b/ünï 日本",
  }),
  "below a link": (root) => {
    fs.mkdirSync(join(root, "real"));
    fs.symlinkSync("real", join(root, "link"));
    return { rootDir: join(root, "link/new"), made: "real/new" };
  },
  "a name with characters of patterns": (root) => ({
    rootDir: join(root, "[a]*?"),
    made: "[a]*?",
  }),
  "a folder that is there": (root) => {
    fs.mkdirSync(join(root, "new"));
    return { rootDir: join(root, "new"), made: "new" };
  },
};
for (const virtualMode of [true, false]) {
  for (const [what, missing] of Object.entries(MISSING)) {
    for (const how of ["nothing", "a file"]) {
      test(`LocalShellBackend with virtualMode ${virtualMode} makes its folder: ${what}, with ${how}`, () =>
        withFolder(async (root) => {
          const { rootDir, made } = missing(root);
          const initialFiles = how === "a file" ? { [virtualMode ? "/a.txt" : "a.txt"]: "a" } : {};
          const options = { rootDir, virtualMode, initialFiles };
          const backend = await LocalShellBackend.create(options);
          const folder = join(root, made);
          assert.ok(fs.statSync(folder).isDirectory());
          assert.deepEqual(fs.readdirSync(folder), how === "a file" ? ["a.txt"] : []);
          const { output, exitCode } = await backend.execute("pwd -P");
          assert.deepEqual([output.trim(), exitCode], [fs.realpathSync(folder), 0]);
        }));
    }
  }

  test(`LocalShellBackend with virtualMode ${virtualMode}: a file in the place of its folder stays`, () =>
    withFolder(async (root) => {
      fs.writeFileSync(join(root, "new"), "text");
      for (const rootDir of [join(root, "new"), join(root, "new/deep")]) {
        const made = LocalShellBackend.create({
          rootDir,
          virtualMode,
          initialFiles: { "a.txt": "" },
        });
        await assert.rejects(made, /a\.txt|ENOTDIR/);
      }
      assert.equal(fs.readFileSync(join(root, "new"), "utf8"), "text");
    }));
}

/** A claim on the version that a file has now, as a writer names it. */
async function claimOf(root) {
  let claimed;
  const stopped = {
    ...lent(),
    open: (path, flags, mode) => {
      if (flags === "wx" && path.includes("kitbag-c-")) claimed = path;
      return fs.promises.open(path, flags, mode);
    },
    rename: async () => {
      throw Object.assign(new Error("stopped"), { code: "EIO" });
    },
  };
  const backend = new FilesystemBackend({ rootDir: root, fs: stopped });
  assert.notEqual((await backend.edit("/a.txt", "one", "two")).error, undefined);
  assert.ok(claimed);
  return claimed;
}

/** The number of a process that is gone. */
async function deadPid() {
  const { spawn } = await import("node:child_process");
  const child = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
  await new Promise((resolve) => child.once("exit", resolve));
  return child.pid;
}

const LEFT = {
  empty: async () => "",
  "half of a number": async () => "12",
  "a number": async () => `${await deadPid()}`,
  "a number and a space": async () => `${await deadPid()} `,
  "half of a machine": async () => `${await deadPid()} ${hostname().slice(0, -1)}`,
  "of a dead process": async () => `${await deadPid()} ${hostname()}\n`,
  "of a dead process, as earlier versions wrote it": async () => `${await deadPid()} ${hostname()}`,
  "of this process before it began": async () => `${process.pid} ${hostname()}\n`,
  garbage: async () => "\0\0\0\0",
};

for (const [what, text] of Object.entries(LEFT)) {
  test(`a claim that is ${what} blocks a file for a moment at most`, () =>
    withFolder(async (root) => {
      planted(root);
      const claimed = await claimOf(root);
      fs.writeFileSync(claimed, await text());
      if (what.includes("before it began")) {
        const before = new Date(Date.now() - process.uptime() * 1000 - 2000);
        fs.utimesSync(claimed, before, before);
      }
      const backend = new FilesystemBackend({ rootDir: root, writeMode: "overwrite" });
      const began = performance.now();
      const answer = await backend.write("/a.txt", "three");
      assert.equal(answer.error, undefined);
      assert.ok(performance.now() - began < 10_000, `${performance.now() - began} ms`);
      assert.equal(fs.readFileSync(join(root, "a.txt"), "utf8"), "three");
    }));
}

for (const [what, text] of [
  ["of a living process", () => `${process.ppid} ${hostname()}\n`],
  ["of a living process, as earlier versions wrote it", () => `${process.ppid} ${hostname()}`],
  ["of another machine", () => "1 elsewhere.example\n"],
]) {
  test(`a claim ${what} is respected`, () =>
    withFolder(async (root) => {
      planted(root);
      const claimed = await claimOf(root);
      fs.writeFileSync(claimed, text());
      const backend = new FilesystemBackend({ rootDir: root });
      const answer = await backend.edit("/a.txt", "one", "three");
      assert.equal(answer.code, "conflict");
      assert.equal(fs.readFileSync(join(root, "a.txt"), "utf8"), "one");
    }));
}

const SEARCHES = {
  ls: (b) => b.ls("/"),
  glob: (b) => b.glob("**"),
  grep: (b) => b.grep("one"),
  "grep of a file": (b) => b.grep("one", "/a.txt"),
  read: (b) => b.read("/a.txt"),
  downloadFiles: async (b) => (await b.downloadFiles(["/a.txt"]))[0],
};
for (const code of ["EMFILE", "EIO", "ETIMEDOUT"]) {
  for (const [name, act] of Object.entries(SEARCHES)) {
    test(`a disk that answers ${code} is an error of ${name}, and not an empty folder`, () =>
      withFolder(async (root) => {
        planted(root);
        let failing = false;
        const fail = () => {
          if (failing) throw Object.assign(new Error(code), { code });
        };
        const failed =
          (method) =>
          async (...args) => {
            // The root is known, so that only what is in it fails.
            if (args[0] !== root) fail();
            return fs.promises[method](...args);
          };
        const methods = ["open", "lstat"].map((method) => [method, failed(method)]);
        const backend = new FilesystemBackend({
          rootDir: root,
          fs: { ...lent(), ...Object.fromEntries(methods) },
        });
        assert.equal((await backend.glob("**")).files.length, 4);
        failing = true;
        const answer = await act(backend);
        assert.ok(answer.error, JSON.stringify(answer));
        assert.notEqual(answer.code, "not_found");
      }));
  }
}
