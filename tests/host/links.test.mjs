// Symbolic links inside the tree, under rules about paths. A rule judges the path that it is given,
// so a path that leads somewhere else through a link is refused by every operation, and the
// protected bytes are neither shown nor changed.

import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { kitbag, nodeShell, run, withFolder } from "./lib.mjs";

const { CompositeBackend, FilesystemBackend, LocalShellBackend, SandboxBackend, StateBackend } =
  kitbag;
const { withPolicy } = kitbag;

const SECRET = "TOP-5ECRET";
const OUTSIDE = "TOP outside 5ECRET";
const bytes = (text) => new TextEncoder().encode(text);

/** What each link is, and the path that leads through it to the protected file. */
const LINKS = {
  "a link to the file": ["secrets/key.txt", "public/file.txt", "/public/file.txt"],
  "a relative link to the file": ["../secrets/key.txt", "public/rel.txt", "/public/rel.txt"],
  "a link to the directory": ["../secrets", "public/dir", "/public/dir/key.txt"],
  "a link to the parent": ["..", "public/up", "/public/up/secrets/key.txt"],
  "a link to the directory itself": [".", "loop", "/loop/secrets/key.txt"],
  "a chain of links": ["dir/key.txt", "public/chain.txt", "/public/chain.txt"],
  "a chain of directories": ["up/secrets", "public/dirs", "/public/dirs/key.txt"],
  "a link deeper in the tree": ["../../../secrets", "public/a/b/in", "/public/a/b/in/key.txt"],
};

function plant(root) {
  fs.mkdirSync(join(root, "secrets"));
  fs.mkdirSync(join(root, "public/a/b"), { recursive: true });
  fs.writeFileSync(join(root, "secrets/key.txt"), SECRET);
  fs.writeFileSync(join(root, "public/plain.txt"), "plain text");
  for (const [to, at] of Object.values(LINKS)) {
    const target = to.startsWith("secrets") ? join(root, to) : to;
    fs.symlinkSync(target, join(root, at));
  }
}

/** Every operation, through one path; each answers what it shows or refuses. */
const OPERATIONS = {
  read: (it, path) => it.read(path),
  readRaw: (it, path) => it.readRaw(path),
  edit: (it, path) => it.edit(path, "TOP", "PWNED"),
  write: (it, path) => it.write(path, "PWNED"),
  upload: async (it, path) => (await it.uploadFiles([[path, bytes("PWNED")]]))[0],
  download: async (it, path) => (await it.downloadFiles([path]))[0],
  grep: (it, path) => it.grep("5ECRET", path),
  "grep in the directory": (it, path) => it.grep("5ECRET", path.slice(0, path.lastIndexOf("/"))),
  glob: (it, path) => it.glob("**", path.slice(0, path.lastIndexOf("/"))),
  ls: (it, path) => it.ls(path.slice(0, path.lastIndexOf("/"))),
  move: (it, path) => it.move(path, "/public/moved.txt"),
  copy: (it, path) => it.copy(path, "/public/copied.txt"),
  "copy onto it": (it, path) => it.copy("/public/plain.txt", path, { overwrite: true }),
  append: (it, path) => it.append(path, "PWNED"),
  delete: (it, path) => it.delete(path),
};

const DENY = {
  permissions: [{ operations: ["read", "write"], paths: ["/secrets/**"], mode: "deny" }],
};

const BACKENDS = {
  FilesystemBackend: (rootDir) => new FilesystemBackend({ rootDir, writeMode: "overwrite" }),
  "FilesystemBackend over a file system of its own": (rootDir) =>
    new FilesystemBackend({ rootDir, writeMode: "overwrite", fs: fs.promises }),
  LocalShellBackend: (rootDir) =>
    new LocalShellBackend({ rootDir, writeMode: "overwrite", execute: nodeShell() }),
  SandboxBackend: (rootDir) =>
    new SandboxBackend({ id: "s", execute: run("/bin/sh"), rootDir, writeMode: "overwrite" }),
};

function text(answer) {
  return JSON.stringify(answer, (_, value) =>
    value instanceof Uint8Array ? new TextDecoder().decode(value) : value,
  );
}

async function holds(root, guarded) {
  const key = join(root, "secrets/key.txt");
  for (const [what, [, at, path]] of Object.entries(LINKS)) {
    for (const [name, operation] of Object.entries(OPERATIONS)) {
      const answer = await operation(guarded, path);
      const says = `${name} through ${what}: ${text(answer)}`;
      assert.ok(!text(answer).includes(SECRET), says);
      assert.ok(!text(answer).includes("key.txt") || answer.error, says);
      assert.equal(fs.readFileSync(key, "utf8"), SECRET, says);
      assert.deepEqual(fs.readdirSync(join(root, "secrets")), ["key.txt"], says);
    }
    // A link itself may be deleted, and is put back for the next one that leads through it.
    if (!fs.lstatSync(join(root, at), { throwIfNoEntry: false })) {
      const to = LINKS[what][0];
      fs.symlinkSync(to.startsWith("secrets") ? join(root, to) : to, join(root, at));
    }
  }
  assert.equal((await guarded.read("/public/plain.txt")).content, "plain text");
  assert.deepEqual(
    (await guarded.glob("**/*.txt")).files.map((file) => file.path),
    ["/public/plain.txt"],
  );
}

for (const [name, make] of Object.entries(BACKENDS)) {
  test(`${name}: without rules a link inside the tree is followed`, () =>
    withFolder(async (root) => {
      plant(root);
      for (const [, , path] of Object.values(LINKS)) {
        const answer = await make(root).read(path);
        assert.equal(answer.content, SECRET, `${path}: ${answer.error}`);
      }
    }));

  test(`${name}: under permissions no operation goes through a link`, () =>
    withFolder(async (root) => {
      plant(root);
      await holds(root, withPolicy(make(root), DENY));
    }));

  test(`${name}: under readOnlyPrefixes no change goes through a link`, () =>
    withFolder(async (root) => {
      plant(root);
      const guarded = withPolicy(make(root), { readOnlyPrefixes: ["/secrets"] });
      for (const [, , path] of Object.values(LINKS)) {
        for (const change of ["edit", "write", "upload"]) {
          const answer = await OPERATIONS[change](guarded, path);
          assert.ok(answer.error, `${change} ${path}`);
        }
      }
      assert.equal(fs.readFileSync(join(root, "secrets/key.txt"), "utf8"), SECRET);
    }));

  test(`${name}: a mount below a policy refuses links too`, () =>
    withFolder(async (root) => {
      plant(root);
      const tree = new CompositeBackend(new StateBackend(), { "/disk/": make(root) });
      const guarded = withPolicy(tree, { readOnlyPrefixes: ["/disk/secrets"] });
      for (const [, , path] of Object.values(LINKS)) {
        const answer = await guarded.edit(`/disk${path}`, "TOP", "PWNED");
        assert.ok(answer.error, path);
      }
      assert.equal(fs.readFileSync(join(root, "secrets/key.txt"), "utf8"), SECRET);
    }));

  test(`${name}: a link that was made after the first check is refused`, () =>
    withFolder(async (root) => {
      plant(root);
      fs.writeFileSync(join(root, "public/later.txt"), "harmless");
      const before = async ({ paths, path = paths?.[0] }) => {
        if (path !== "/public/later.txt") return;
        fs.rmSync(join(root, "public/later.txt"), { force: true });
        fs.symlinkSync("../secrets/key.txt", join(root, "public/later.txt"));
      };
      const guarded = withPolicy(make(root), { ...DENY, hooks: { before } });
      for (const operation of ["read", "readRaw", "edit", "upload", "download", "grep"]) {
        const answer = await OPERATIONS[operation](guarded, "/public/later.txt");
        assert.ok(!text(answer).includes(SECRET), `${operation}: ${text(answer)}`);
        assert.equal(fs.readFileSync(join(root, "secrets/key.txt"), "utf8"), SECRET, operation);
      }
    }));

  test(`${name}: under a quota or readOnly alone, links are followed as before`, () =>
    withFolder(async (root) => {
      plant(root);
      for (const policy of [{ readOnly: true }, { quota: { maxBytes: 10_000 } }]) {
        const answer = await withPolicy(make(root), policy).read("/public/file.txt");
        assert.equal(answer.content, SECRET, answer.error);
      }
    }));
}

for (const awaits of [false, true]) {
  test(`a subclass that ${awaits ? "awaits before" : "directly"} calls its backend refuses links`, () =>
    withFolder(async (root) => {
      plant(root);
      class Own extends FilesystemBackend {
        async read(...args) {
          if (awaits) await new Promise((resolve) => setImmediate(resolve));
          return super.read(...args);
        }
      }
      const own = new Own({ rootDir: root });
      for (const tree of [own, new CompositeBackend(new StateBackend(), { "/d/": own })]) {
        const at = tree === own ? "" : "/d";
        const rules = [{ operations: ["read"], paths: [`${at}/secrets/**`], mode: "deny" }];
        const guarded = withPolicy(tree, { permissions: rules });
        for (const [, , path] of Object.values(LINKS)) {
          const answer = await guarded.read(at + path);
          assert.equal(answer.code, "permission_denied", text(answer));
        }
      }
    }));
}

test("/proc/self/root is no way round a rule, whatever the root", () =>
  withFolder(async (root) => {
    plant(root);
    const rules = (path) => ({
      permissions: [{ operations: ["read", "write"], paths: [`${path}/**`], mode: "deny" }],
    });
    const key = join(root, "secrets/key.txt");
    const ways = [`/proc/self/root${key}`, `/proc/thread-self/root${key}`, `/proc/self/cwd${key}`];
    const shell = { id: "s", execute: run("/bin/sh") };
    for (const [name, whole] of Object.entries({
      virtual: new FilesystemBackend({ rootDir: "/" }),
      real: new FilesystemBackend({ rootDir: root, virtualMode: false }),
      "over another fs": new FilesystemBackend({ rootDir: "/", fs: fs.promises }),
      sandbox: new SandboxBackend(shell),
    })) {
      if (name !== "sandbox") assert.equal((await whole.read(ways[0])).content, SECRET, name);
      const guarded = withPolicy(whole, rules(join(root, "secrets")));
      for (const way of ways) {
        for (const operation of Object.values(OPERATIONS).slice(0, 7)) {
          const answer = await operation(guarded, way);
          assert.ok(!text(answer).includes(SECRET), `${name} ${way}: ${text(answer)}`);
          assert.equal(fs.readFileSync(key, "utf8"), SECRET, `${name} ${way}`);
        }
      }
    }
  }));

test("execute is refused under rules about paths, and a link made by an allowed command is not followed", () =>
  withFolder(async (root) => {
    plant(root);
    const backend = BACKENDS.LocalShellBackend(root);
    const command = "ln -s ../secrets/key.txt public/made.txt";
    assert.equal((await withPolicy(backend, DENY).execute(command)).exitCode, null);
    const guarded = withPolicy(backend, { ...DENY, allowExecute: true });
    assert.equal((await guarded.execute(command)).exitCode, 0);
    assert.equal((await guarded.read("/public/made.txt")).code, "permission_denied");
  }));

test("SandboxBackend: no operation leaves rootDir through a link", () =>
  withFolder(async (base) => {
    const root = join(base, "root");
    fs.mkdirSync(root);
    plant(root);
    fs.mkdirSync(join(base, "root2"));
    fs.writeFileSync(join(base, "root2/key.txt"), OUTSIDE);
    const outside = {
      "file.txt": join(base, "root2/key.txt"),
      dir: join(base, "root2"),
      sibling: "../root2",
      chain: "dir",
    };
    for (const [at, to] of Object.entries(outside)) fs.symlinkSync(to, join(root, `o-${at}`));
    fs.unlinkSync(join(root, "o-chain"));
    fs.symlinkSync("o-dir", join(root, "o-chain"));
    for (const [name, more] of Object.entries({
      "through the shell": {},
      "with transfers": {
        uploadFiles: (files) =>
          files.map(([path, body]) => {
            fs.writeFileSync(path, body);
            return { error: null };
          }),
        downloadFiles: (paths) =>
          paths.map((path) => ({ content: new Uint8Array(fs.readFileSync(path)), error: null })),
      },
    })) {
      const backend = new SandboxBackend({
        ...{ id: "s", execute: run("/bin/sh"), rootDir: root, writeMode: "overwrite" },
        ...more,
      });
      for (const path of [
        "/o-file.txt",
        "/o-dir/key.txt",
        "/o-sibling/key.txt",
        "/o-chain/key.txt",
      ]) {
        for (const [operation, call] of Object.entries(OPERATIONS)) {
          if (operation === "delete" && path === "/o-file.txt") continue;
          const answer = await call(backend, path);
          const says = `${name}: ${operation} ${path}: ${text(answer)}`;
          assert.ok(!text(answer).includes(OUTSIDE), says);
          assert.equal(fs.readFileSync(join(base, "root2/key.txt"), "utf8"), OUTSIDE, says);
          assert.deepEqual(fs.readdirSync(join(base, "root2")), ["key.txt"], says);
        }
        const big = new Uint8Array(200_000);
        const [stored] = await backend.uploadFiles([[path.replace("key", "big"), big]]);
        assert.equal(stored.error, "permission_denied", path);
        assert.deepEqual(fs.readdirSync(join(base, "root2")), ["key.txt"], path);
      }
      const shown = (await backend.ls("/")).files.map((file) => file.path);
      assert.deepEqual(shown, ["/loop/", "/public/", "/secrets/"]);
      assert.equal((await backend.read("/public/file.txt")).content, SECRET);
    }
  }));

for (const [name, make] of Object.entries({
  ...BACKENDS,
  "FilesystemBackend with ripgrep": (rootDir) => new FilesystemBackend({ rootDir, ripgrep: true }),
})) {
  test(`${name}: a linked file that ls shows is found by glob and grep, unless links are refused`, () =>
    withFolder(async (root) => {
      fs.mkdirSync(join(root, "d/inner"), { recursive: true });
      fs.mkdirSync(join(root, "real"));
      fs.writeFileSync(join(root, "real/key.txt"), SECRET);
      fs.symlinkSync("../real/key.txt", join(root, "d/file.txt"));
      fs.symlinkSync(join(root, "real/key.txt"), join(root, "d/inner/deep.txt"));
      fs.symlinkSync("../real", join(root, "d/linked"));
      fs.symlinkSync("..", join(root, "d/up"));
      fs.symlinkSync("nothing", join(root, "d/broken.txt"));
      fs.symlinkSync("/etc/passwd", join(root, "d/outside.txt"));
      const backend = make(root);
      const paths = (rows) => rows.map((row) => row.path).sort();
      const listed = (await backend.ls("/d")).files.filter((row) => !row.is_dir);
      assert.deepEqual(paths(listed), ["/d/file.txt"]);
      const found = ["/d/file.txt", "/d/inner/deep.txt"];
      const globbed = await backend.glob("**", "/d");
      assert.deepEqual(paths(globbed.files), found);
      assert.equal(globbed.files[0].size, SECRET.length);
      for (const asked of ["5ECRET", "root:"]) {
        const matches = (await backend.grep(asked, "/d")).matches;
        assert.deepEqual(paths(matches), asked === "5ECRET" ? found : []);
      }
      assert.deepEqual(paths((await backend.grep("5ECRET", "/")).matches), [
        ...found,
        "/real/key.txt",
      ]);
      const guarded = withPolicy(backend, DENY);
      assert.deepEqual((await guarded.glob("**", "/d")).files, []);
      assert.deepEqual((await guarded.grep("5ECRET", "/d")).matches, []);
    }));
}

// On Windows `\` separates names; elsewhere it is part of one.
for (const [name, make] of Object.entries(BACKENDS)) {
  test(`${name}: what is beside the root is outside, also if its name begins with the root's and goes on with a backslash`, () =>
    withFolder(async (above) => {
      const root = join(above, "root");
      const beside = join(above, "root\\out");
      fs.mkdirSync(join(root, "a"), { recursive: true });
      fs.mkdirSync(join(beside, "deep"), { recursive: true });
      fs.writeFileSync(join(beside, "key.txt"), OUTSIDE);
      fs.writeFileSync(join(beside, "deep/key.txt"), OUTSIDE);
      fs.symlinkSync(join(beside, "key.txt"), join(root, "file.txt"));
      fs.symlinkSync("../root\\out", join(root, "dir"));
      fs.symlinkSync("../../root\\out/deep", join(root, "a/deep"));
      // The file that a separator would name.
      fs.writeFileSync(join(root, "a\\key.txt"), "its own");
      fs.writeFileSync(join(root, "a/key.txt"), "another");
      fs.symlinkSync("a\\key.txt", join(root, "own.txt"));
      const backend = make(root);
      for (const path of ["/file.txt", "/dir/key.txt", "/dir/deep/key.txt", "/a/deep/key.txt"]) {
        const answers = [
          await backend.read(path),
          await backend.readRaw(path),
          await backend.edit(path, "TOP", "PWNED"),
          await backend.append(path, "PWNED"),
          (await backend.downloadFiles([path]))[0],
          (await backend.uploadFiles([[path, bytes("PWNED")]]))[0],
          await backend.copy(path, "/copied.txt"),
        ];
        for (const answer of answers) {
          assert.ok(answer.error, `${path}: ${JSON.stringify(answer)}`);
          assert.doesNotMatch(JSON.stringify(answer), /5ECRET/);
        }
      }
      assert.deepEqual((await backend.grep("5ECRET")).matches, []);
      assert.doesNotMatch(JSON.stringify(await backend.glob("**")), /key.txt.*deep/);
      assert.equal(fs.readFileSync(join(beside, "key.txt"), "utf8"), OUTSIDE);
      assert.notEqual((await backend.read("/own.txt")).content, "another");
    }));
}
