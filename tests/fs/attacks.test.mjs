// Rules hold behind `fs`, and hostile paths are refused in Node's words: nothing gets out, nothing is
// changed, nothing is thrown that is no error of Node's.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  begin,
  CompositeBackend,
  createFs,
  FilesystemBackend,
  failure,
  folder,
  StateBackend,
  withPolicy,
} from "./lib.mjs";

const SECRET = "the secret text";
const FILES = { "/secret/key.txt": SECRET, "/fixed/a.txt": "fixed", "/open/b.txt": "open" };
const PERMISSIONS = [
  { operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" },
  { operations: ["write"], paths: ["/fixed/**"], mode: "deny" },
];

const chunks = async (stream) => {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString();
};
const finished = (stream, data) =>
  new Promise((done, fail) => stream.on("error", fail).on("finish", done).end(data));
const opened = async (p, path, flags, use) => {
  const file = await p.open(path, flags);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
};

/** Attempts at what the rules forbid. Each is refused with EACCES. */
const ATTEMPTS = {
  "read a file": (p) => p.readFile("/secret/key.txt"),
  "read it by its bytes": (p) => p.readFile(Buffer.from("/secret/key.txt")),
  "read it by a URL": (p) => p.readFile(new URL("file:///secret/key.txt")),
  "read it by an encoded URL": (p) => p.readFile(new URL("file:///%73ecret/key.txt")),
  "read it by ..": (p) => p.readFile("/open/../secret/key.txt"),
  "read it by //": (p) => p.readFile("//secret//./key.txt"),
  "read it with r+": (p) => p.readFile("/secret/key.txt", { flag: "r+" }),
  "read it with a+": (p) => p.readFile("/secret/key.txt", { flag: "a+" }),
  "open it": (p) => p.open("/secret/key.txt"),
  "open it to write": (p) => p.open("/secret/key.txt", "w"),
  "stream it": (_p, fs) => chunks(fs.createReadStream("/secret/key.txt")),
  "list the directory": (p) => p.readdir("/secret"),
  "open the directory": (p) => p.opendir("/secret"),
  "look at it": (p) => p.stat("/secret/key.txt"),
  "look at the link": (p) => p.lstat("/secret/key.txt"),
  "ask for access": (p) => p.access("/secret/key.txt"),
  "copy it out": (p) => p.copyFile("/secret/key.txt", "/open/c.txt"),
  "copy the directory out": (p) => p.cp("/secret", "/open/s", { recursive: true }),
  "copy the file out with cp": (p) => p.cp("/secret/key.txt", "/open/c.txt"),
  "rename it out": (p) => p.rename("/secret/key.txt", "/open/c.txt"),
  "rename the directory": (p) => p.rename("/secret", "/open/s"),
  "delete it": (p) => p.unlink("/secret/key.txt"),
  "rm it": (p) => p.rm("/secret/key.txt"),
  "rm it by force": (p) => p.rm("/secret/key.txt", { force: true }),
  "rm the directory": (p) => p.rm("/secret", { recursive: true, force: true }),
  "remove the directory": (p) => p.rmdir("/secret"),
  "make a directory in it": (p) => p.mkdir("/secret/new"),
  "make directories in it": (p) => p.mkdir("/secret/a/b", { recursive: true }),
  "make a temporary directory in it": (p) => p.mkdtemp("/secret/t-"),
  "watch it": (p) => p.watch("/secret/key.txt").next(),
  "truncate it": (p) => p.truncate("/secret/key.txt"),
  "set its time": (p) => p.utimes("/secret/key.txt", 1, 1),
  "set its mode": (p) => p.chmod("/secret/key.txt", 0o777),
  "find its real path": (p) => p.realpath("/secret/key.txt"),
  "write a fixed file": (p) => p.writeFile("/fixed/a.txt", "x"),
  "create one beside it": (p) => p.writeFile("/fixed/new.txt", "x"),
  "create one with wx": (p) => p.writeFile("/fixed/new.txt", "x", { flag: "wx" }),
  "append to it": (p) => p.appendFile("/fixed/a.txt", "x"),
  "append to a new one": (p) => p.appendFile("/fixed/new.txt", "x"),
  "truncate the fixed one": (p) => p.truncate("/fixed/a.txt", 2),
  "write at a position": (p) => opened(p, "/fixed/a.txt", "r+", (file) => file.write("x", 1)),
  "truncate by the handle": (p) => opened(p, "/fixed/a.txt", "r+", (file) => file.truncate(1)),
  "append by the handle": (p) => opened(p, "/fixed/a.txt", "a", (file) => file.write("x")),
  "stream into it": (_p, fs) => finished(fs.createWriteStream("/fixed/a.txt"), "x"),
  "copy onto it": (p) => p.copyFile("/open/b.txt", "/fixed/a.txt"),
  "rename onto it": (p) => p.rename("/open/b.txt", "/fixed/a.txt"),
  "rename it away": (p) => p.rename("/fixed/a.txt", "/open/c.txt"),
  "rename its directory": (p) => p.rename("/fixed", "/open/f"),
  "unlink it": (p) => p.unlink("/fixed/a.txt"),
  "rm its directory": (p) => p.rm("/fixed", { recursive: true }),
  "make a directory beside it": (p) => p.mkdir("/fixed/new"),
  "move an empty directory in": async (p) => {
    await p.mkdir("/open/empty");
    await p.rename("/open/empty", "/fixed/empty");
  },
};

for (const [name, attempt] of Object.entries(ATTEMPTS)) {
  test(`refused: ${name}`, async () => {
    const inner = new StateBackend({ files: FILES });
    const fs = createFs(withPolicy(inner, { permissions: PERMISSIONS }));
    const error = await failure(attempt(fs.promises, fs));
    assert.equal(error?.code, "EACCES", String(error));
    assert.equal(error.errno, -13);
    assert.match(error.message, /^EACCES: permission denied, .*permission denied for (read|write)/);
    assert.doesNotMatch(JSON.stringify([error.message, error.cause]), /secret text/);
    const kept = Object.entries(inner.snapshot()).map(([path, { content }]) => [path, content]);
    assert.deepEqual(Object.fromEntries(kept), FILES);
  });
}

test("what a rule forbids is not told by exists, nor by a listing from above", async () => {
  const fs = createFs(withPolicy(new StateBackend({ files: FILES }), { permissions: PERMISSIONS }));
  assert.equal(await new Promise((done) => fs.exists("/secret/key.txt", done)), false);
  const all = await fs.promises.readdir("/", { recursive: true }).catch(() => []);
  assert.ok(!all.includes("secret/key.txt"));
});

test("an approval that a person refuses is EACCES, and the question names the operation", async () => {
  const asked = [];
  const inner = new StateBackend({ files: FILES });
  const guarded = withPolicy(inner, {
    permissions: [{ operations: ["write"], paths: ["/**"], mode: "ask" }],
    onAsk: ({ operation, called, path }) => {
      asked.push(`${called ?? operation} ${path}`);
      return false;
    },
  });
  const error = await failure(createFs(guarded).promises.writeFile("/open/b.txt", "x"));
  assert.equal(error?.code, "EACCES");
  assert.equal(inner.read("/open/b.txt").content, "open");
  assert.deepEqual(asked, ["uploadFiles /open/b.txt"]);
});

test("over a turn nothing is changed before its commit", async () => {
  const inner = new StateBackend({ files: FILES });
  const turn = begin(inner, { by: "agent-7" });
  const { promises } = createFs(turn);
  await promises.mkdir("/new");
  await promises.writeFile("/new/a.txt", "new");
  await promises.appendFile("/open/b.txt", "!");
  await promises.rename("/new", "/newer");
  assert.deepEqual(Object.keys(inner.snapshot()).sort(), Object.keys(FILES).sort());
  const { receipt } = await turn.commit();
  assert.deepEqual(receipt.files.map(({ path }) => path).sort(), ["/newer/a.txt", "/open/b.txt"]);
  assert.equal(inner.read("/open/b.txt").content, "open!");
});

test("a quota is ENOSPC, a rate EAGAIN", async () => {
  const small = createFs(withPolicy(new StateBackend({ files: {} }), { quota: { maxFiles: 1 } }));
  await small.promises.writeFile("/a", "x");
  assert.equal((await failure(small.promises.writeFile("/b", "x"))).code, "ENOSPC");
  const rare = withPolicy(new StateBackend({ files: {} }), {
    rateLimit: { write: { operations: 1, perMs: 60_000 } },
  });
  const fs = createFs(rare);
  await fs.promises.writeFile("/a", "x");
  assert.equal((await failure(fs.promises.writeFile("/a", "y"))).code, "EAGAIN");
});

/** Paths that name no file of a backend, and how each is refused. */
const HOSTILE = [
  ["a\0b", "ERR_INVALID_ARG_VALUE"],
  [Buffer.from("a\0b"), "ERR_INVALID_ARG_VALUE"],
  ["/a\\b", "EINVAL"],
  ["/.kitbag/turns/x", "EINVAL"],
  ["/.KitBag/x", "EINVAL"],
  ["/a/.kitbag/x", "EINVAL"],
  ["~/x", "EINVAL"],
  ["/a\nb", "EINVAL"],
  [`/${"x".repeat(2000)}`, "ENAMETOOLONG"],
  [`/${"deep/".repeat(500)}x`, "ENAMETOOLONG"],
  [new URL("https://example.org/a"), "ERR_INVALID_URL_SCHEME"],
  [new URL("file://host/a"), "ERR_INVALID_FILE_URL_HOST"],
  [new URL("file:///a%2fb"), "ERR_INVALID_FILE_URL_PATH"],
  [new URL("file:///a%00b"), "ERR_INVALID_ARG_VALUE"],
  [undefined, "ERR_INVALID_ARG_TYPE"],
  [null, "ERR_INVALID_ARG_TYPE"],
  [1.5, "ERR_INVALID_ARG_TYPE"],
  [{}, "ERR_INVALID_ARG_TYPE"],
  [["/a"], "ERR_INVALID_ARG_TYPE"],
  [Symbol("a"), "ERR_INVALID_ARG_TYPE"],
  [() => "/a", "ERR_INVALID_ARG_TYPE"],
  ["", "ENOENT"],
];
const TAKERS = {
  writeFile: (p, path) => p.writeFile(path, "x"),
  appendFile: (p, path) => p.appendFile(path, "x"),
  mkdir: (p, path) => p.mkdir(path),
  "mkdir -p": (p, path) => p.mkdir(path, { recursive: true }),
  open: (p, path) => p.open(path, "w"),
  copyFile: (p, path) => p.copyFile("/real", path),
  rename: (p, path) => p.rename("/real", path),
};

for (const [path, code] of HOSTILE) {
  const shown = typeof path === "symbol" ? "a symbol" : String(path).slice(0, 30);
  test(`hostile path ${JSON.stringify(shown)} is ${code}, and nothing is stored`, async (t) => {
    const root = folder(t);
    for (const backend of [
      new StateBackend({ files: { "/real": "r" } }),
      new FilesystemBackend({ rootDir: root }),
    ]) {
      const fs = createFs(backend);
      await fs.promises.writeFile("/real", "r");
      for (const [name, take] of Object.entries(TAKERS)) {
        const error = await failure(take(fs.promises, path));
        assert.equal(error?.code, code, `${name}: ${error?.message}`);
      }
      assert.deepEqual(await fs.promises.readdir("/"), ["real"]);
      assert.equal(await fs.promises.readFile("/real", "utf8"), "r");
    }
    assert.deepEqual(readdirSync(root), ["real"]);
  });
}

test("no path leads out of a folder", async (t) => {
  const root = folder(t);
  const outside = join(dirname(root), `${root.split("/").pop()}-outside`);
  const fs = createFs(new FilesystemBackend({ rootDir: root }));
  for (const path of [
    `/../${outside.split("/").pop()}`,
    outside,
    pathToFileURL(outside),
    `../../..${outside}`,
  ]) {
    await fs.promises.writeFile(path, "x").catch(() => undefined);
    assert.equal(existsSync(outside), false, String(path));
  }
});

/** A folder in which somebody else makes something as soon as a directory was listed. */
class Raced extends FilesystemBackend {
  race = undefined;

  async ls(path) {
    const answer = await super.ls(path);
    this.race?.();
    this.race = undefined;
    return answer;
  }
}

test("rmdir leaves what another process makes in the directory at that moment", async (t) => {
  const root = folder(t);
  const raced = new Raced({ rootDir: root });
  const mounted = new CompositeBackend(new StateBackend(), { "/m": raced });
  for (const [name, backend, path] of [
    ["a folder", raced, "/d"],
    ["a policy", withPolicy(raced, {}), "/d"],
    ["a mount", mounted, "/m/d"],
  ]) {
    const fs = createFs(backend).promises;
    rmSync(join(root, "d"), { recursive: true, force: true });
    mkdirSync(join(root, "d"));
    raced.race = () => writeFileSync(join(root, "d/new"), "x");
    assert.equal((await failure(fs.rmdir(path)))?.code, "ENOTEMPTY", name);
    assert.ok(existsSync(join(root, "d/new")), name);
    // Nothing is in it, or only what a killed process has left.
    for (const left of [undefined, ".~kitbag-t-1-2-def"]) {
      rmSync(join(root, "d"), { recursive: true, force: true });
      mkdirSync(join(root, "d"));
      if (left) writeFileSync(join(root, "d", left), "");
      assert.equal(await failure(fs.rmdir(path)), undefined, `${name}, ${left}`);
      assert.equal(existsSync(join(root, "d")), false, `${name}, ${left}`);
    }
  }
});

test("names of objects are names of files", async () => {
  const fs = createFs(new StateBackend({ files: {} }));
  for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
    await fs.promises.mkdir(`/${name}`);
    await fs.promises.writeFile(`/${name}/__proto__`, name);
    assert.equal(await fs.promises.readFile(`/${name}/__proto__`, "utf8"), name);
  }
  assert.equal((await fs.promises.readdir("/")).length, 4);
});

test("500 appends through two fs objects beside 500 of the backend: none is lost", async (t) => {
  const root = folder(t);
  writeFileSync(join(root, "log"), "");
  const backends = [
    new StateBackend({ files: { "/log": "" } }),
    new FilesystemBackend({ rootDir: root }),
  ];
  for (const backend of backends) {
    const first = createFs(backend).promises;
    const second = createFs(
      backend === backends[1] ? new FilesystemBackend({ rootDir: root }) : backend,
    ).promises;
    const work = [];
    for (let at = 0; at < 250; at++) {
      work.push(first.appendFile("/log", `a${at}\n`), second.appendFile("/log", `b${at}\n`));
      work.push(backend.append("/log", `c${at}\n`), backend.append("/log", `d${at}\n`));
    }
    await Promise.all(work);
    const lines = new Set((await first.readFile("/log", "utf8")).trim().split("\n"));
    assert.equal(lines.size, 1000);
  }
});

test("writes at positions through two fs objects at once: none is lost", async (t) => {
  const root = folder(t);
  const make = () => new FilesystemBackend({ rootDir: root });
  const [first, second] = [createFs(make()).promises, createFs(make()).promises];
  await first.writeFile("/grid", "-".repeat(60));
  const work = [];
  for (let at = 0; at < 60; at++) {
    const p = at % 2 === 0 ? first : second;
    work.push(opened(p, "/grid", "r+", (file) => file.write(at % 2 === 0 ? "a" : "b", at)));
  }
  await Promise.all(work);
  assert.equal(await first.readFile("/grid", "utf8"), "ab".repeat(30));
});

test("at once works over memory only, and is refused before anything is changed", async (t) => {
  const root = folder(t);
  const fs = createFs(new FilesystemBackend({ rootDir: root }));
  for (const [name, args] of Object.entries({
    writeFileSync: ["/a", "x"],
    appendFileSync: ["/a", "x"],
    mkdirSync: ["/a"],
    openSync: ["/a", "w"],
    existsSync: ["/a"],
  })) {
    assert.throws(
      () => fs[name](...args),
      (error) => error.code === "ENOSYS" && error.message.startsWith(`${name} needs a backend`),
    );
  }
  assert.deepEqual(readdirSync(root), []);
});
