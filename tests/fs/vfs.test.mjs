// `vfsProvider` in Node 26 with `--experimental-vfs`: mounted trees read by `node:fs`, `require` and `import`,
// random calls beside a real folder, refusals.

import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import vfs from "node:vfs";
import { createFs, vfsProvider } from "../../pkg/dist/fs.js";
import { CompositeBackend, FilesystemBackend, StateBackend, withPolicy } from "../lib/kitbag.mjs";
import { ATTEMPTS, attempted, FILES as GUARDED, PERMISSIONS, SECRET } from "../seats/attempts.mjs";
import { folder } from "./lib.mjs";

const require = createRequire(import.meta.url);

/** Mounts a backend for the time of a test; returns where. */
function mounted(t, backend) {
  const system = vfs.create(vfsProvider(backend, vfs));
  const place = system.mount();
  t.after(() => system.unmount());
  return place;
}

const code = (run) => {
  try {
    run();
  } catch (error) {
    return error.code;
  }
  return "nothing";
};
const codeOf = (promise) =>
  promise.then(
    () => "nothing",
    (error) => error.code,
  );

const FILES = {
  "/main.cjs":
    'const { one } = require("./lib/one.cjs"); exports.two = one + require("kit").one;\n',
  "/lib/one.cjs": "exports.one = require('./one.json').one;\n",
  "/lib/one.json": '{ "one": 1 }\n',
  "/node_modules/kit/package.json":
    '{ "name": "kit", "exports": { "require": "./a.cjs", "import": "./a.mjs" } }',
  "/node_modules/kit/a.cjs": "exports.one = 1;\n",
  "/node_modules/kit/a.mjs": "export const one = 10;\n",
  "/main.mjs":
    'import { one } from "kit";\nimport data from "./lib/one.json" with { type: "json" };\nexport const sum = one + data.one;\nexport const url = import.meta.url;\nexport const later = () => import("./lib/later.mjs");\n',
  "/lib/later.mjs": "export default 'later';\n",
  "/broken.mjs": "export const = 1;\n",
  "/binary": new Uint8Array([0, 255, 128]),
};

test("node:fs reads and changes a mounted tree", (t) => {
  const backend = new StateBackend({ files: FILES });
  const place = mounted(t, backend);
  const at = (path) => join(place, path);
  assert.equal(fs.readFileSync(at("lib/one.json"), "utf8"), FILES["/lib/one.json"]);
  assert.deepEqual(fs.readFileSync(at("binary")), Buffer.from([0, 255, 128]));
  assert.deepEqual(fs.readdirSync(at("lib")), ["later.mjs", "one.cjs", "one.json"]);
  const entries = fs.readdirSync(place, { withFileTypes: true });
  assert.deepEqual(
    entries.filter((one) => one.isDirectory()).map(({ name, parentPath }) => [name, parentPath]),
    [
      ["lib", place],
      ["node_modules", place],
    ],
  );
  const stat = fs.statSync(at("lib/one.json"));
  assert.deepEqual([stat.isFile(), stat.size, stat.mtime > new Date(0)], [true, 13, true]);
  assert.equal(fs.statSync(at("lib"), { bigint: true }).isDirectory(), true);
  assert.equal(fs.statSync(at("none"), { throwIfNoEntry: false }), undefined);
  assert.deepEqual([fs.existsSync(at("lib")), fs.existsSync(at("none"))], [true, false]);
  assert.equal(fs.realpathSync(at("lib/../main.cjs")), at("main.cjs"));
  fs.mkdirSync(at("new/deep"), { recursive: true });
  fs.writeFileSync(at("new/deep/a.txt"), "one\n");
  fs.appendFileSync(at("new/deep/a.txt"), "two\n");
  fs.copyFileSync(at("new/deep/a.txt"), at("new/b.txt"));
  fs.renameSync(at("new/b.txt"), at("c.txt"));
  assert.equal(backend.read("/c.txt").content, "one\ntwo\n");
  fs.truncateSync(at("c.txt"), 3);
  assert.equal(backend.read("/c.txt").content, "one");
  fs.rmSync(at("new"), { recursive: true });
  assert.equal(fs.existsSync(at("new")), false);
  fs.unlinkSync(at("c.txt"));
  assert.equal(backend.read("/c.txt").code, "not_found");
});

test("a recursive listing names what is in directories by their paths", async (t) => {
  const place = mounted(t, new StateBackend({ files: { "/a": "", "/d/b": "", "/d/e/c": "" } }));
  const names = ["a", "d", "d/b", "d/e", "d/e/c"];
  const found = (list) => list.map((one) => join(one.parentPath, one.name)).sort();
  const wanted = names.map((name) => join(place, name));
  const how = { recursive: true, withFileTypes: true };
  assert.deepEqual(fs.readdirSync(place, { recursive: true }).sort(), names);
  assert.deepEqual(found(fs.readdirSync(place, how)), wanted);
  assert.deepEqual((await fs.promises.readdir(place, { recursive: true })).sort(), names);
  assert.deepEqual(found(fs.readdirSync(join(place, "d"), how)), wanted.slice(2));
});

test("descriptors, callbacks, promises and streams", async (t) => {
  const backend = new StateBackend({ files: { "/a.txt": "0123456789" } });
  const place = mounted(t, backend);
  const file = join(place, "a.txt");
  const fd = fs.openSync(file, "r+");
  const buffer = Buffer.alloc(4);
  assert.equal(fs.readSync(fd, buffer, 0, 4, null), 4);
  assert.equal(buffer.toString(), "0123");
  assert.equal(fs.readSync(fd, buffer, 0, 4, 8), 2);
  assert.equal(fs.writeSync(fd, "XY", 2), 2);
  assert.equal(fs.fstatSync(fd).size, 10);
  fs.ftruncateSync(fd, 6);
  fs.closeSync(fd);
  assert.equal(
    code(() => fs.readSync(fd, buffer, 0, 4, 0)),
    "EBADF",
  );
  assert.equal(backend.read("/a.txt").content, "01XY45");
  const text = await new Promise((resolve, reject) =>
    fs.readFile(file, "utf8", (error, data) => (error ? reject(error) : resolve(data))),
  );
  assert.equal(text, "01XY45");
  const handle = await fs.promises.open(file, "a+");
  await handle.writeFile("!");
  assert.equal((await handle.stat()).size, 7);
  const { bytesRead } = await handle.read(buffer, 0, 4, 3);
  assert.deepEqual([bytesRead, buffer.toString()], [4, "Y45!"]);
  await handle.close();
  await fs.promises.writeFile(join(place, "b.txt"), "b");
  assert.deepEqual(await fs.promises.readdir(place), ["a.txt", "b.txt"]);
  assert.equal((await fs.promises.stat(join(place, "b.txt"))).size, 1);
  await fs.promises.rm(join(place, "b.txt"));
  const read = [];
  for await (const part of fs.createReadStream(file, { start: 1, end: 3 })) read.push(part);
  assert.equal(Buffer.concat(read).toString(), "1XY");
  await new Promise((resolve, reject) => {
    fs.createWriteStream(file).on("error", reject).on("finish", resolve).end("streamed");
  });
  assert.equal(backend.read("/a.txt").content, "streamed");
  await new Promise((resolve, reject) => {
    const stream = fs.createWriteStream(file, { flags: "r+", start: 2 });
    stream.on("error", reject).on("finish", resolve).end("RE");
  });
  assert.equal(backend.read("/a.txt").content, "stREamed");
});

test("what is closed is closed behind the mount, too", async (t) => {
  const backend = new StateBackend({ files: { "/a.txt": "1" } });
  const file = join(mounted(t, backend), "a.txt");
  const own = createFs(backend);
  const free = () => {
    const fd = own.openSync("/a.txt");
    own.closeSync(fd);
    return fd;
  };
  const before = free();
  for (let n = 0; n < 5; n++) fs.closeSync(fs.openSync(file));
  await (await fs.promises.open(file)).close();
  await new Promise((resolve) => fs.open(file, (_, fd) => fs.close(fd, resolve)));
  fs.truncateSync(file, 1);
  assert.equal(free(), before);
});

test("what others change is seen at once, and told", async (t) => {
  const backend = new StateBackend({ files: { "/a.txt": "1" } });
  const place = mounted(t, backend);
  backend.edit("/a.txt", "1", "22");
  assert.equal(fs.readFileSync(join(place, "a.txt"), "utf8"), "22");
  const told = new Promise((resolve) => {
    const watcher = fs.watch(place, (...event) => {
      watcher.close();
      resolve(event);
    });
  });
  createFs(backend).writeFileSync("/a.txt", "333");
  assert.deepEqual(await told, ["change", "a.txt"]);
});

test("require and import load modules from a mounted tree", async (t) => {
  const place = mounted(t, new StateBackend({ files: FILES }));
  assert.equal(require(join(place, "main.cjs")).two, 2);
  assert.equal(require(join(place, "lib/one.json")).one, 1);
  const url = pathToFileURL(join(place, "main.mjs")).href;
  const loaded = await import(url);
  assert.deepEqual([loaded.sum, loaded.url], [11, url]);
  assert.equal((await loaded.later()).default, "later");
  assert.equal(
    code(() => require(join(place, "none.cjs"))),
    "MODULE_NOT_FOUND",
  );
  assert.equal(await codeOf(import(`${url}-none`)), "ERR_MODULE_NOT_FOUND");
  await assert.rejects(import(pathToFileURL(join(place, "broken.mjs")).href), SyntaxError);
});

test("a module that an agent writes can be loaded, and none after the tree is gone", async () => {
  const backend = new StateBackend({ files: {} });
  const system = vfs.create(vfsProvider(backend, vfs));
  const place = system.mount();
  for (const n of [1, 2, 3]) {
    backend.write(`/step-${n}.mjs`, `export default ${n};\n`);
    const { default: found } = await import(pathToFileURL(join(place, `step-${n}.mjs`)).href);
    assert.equal(found, n);
  }
  backend.write("/late.mjs", "export default 1;\n");
  system.unmount();
  assert.equal(
    await codeOf(import(pathToFileURL(join(place, "late.mjs")).href)),
    "ERR_MODULE_NOT_FOUND",
  );
  assert.ok(!fs.existsSync(place));
});

test("two trees are mounted beside each other", (t) => {
  const [one, other] = [1, 2].map((n) => mounted(t, new StateBackend({ files: { "/n": `${n}` } })));
  assert.notEqual(one, other);
  assert.deepEqual(
    [one, other].map((place) => fs.readFileSync(join(place, "n"), "utf8")),
    ["1", "2"],
  );
  assert.equal(
    code(() => fs.renameSync(join(one, "n"), join(other, "m"))),
    "EXDEV",
  );
});

/** Operations by name, each over a root; what it returns is compared. */
const CALLS = {
  read: (at, a) => fs.readFileSync(at(a), "utf8"),
  write: (at, a, text) => fs.writeFileSync(at(a), text),
  append: (at, a, text) => fs.appendFileSync(at(a), text),
  fresh: (at, a, text) => fs.writeFileSync(at(a), text, { flag: "wx" }),
  list: (at, a) => fs.readdirSync(at(a)).sort(),
  make: (at, a) => fs.mkdirSync(at(a)),
  makeAll: (at, a) => fs.mkdirSync(at(a), { recursive: true }) !== undefined,
  drop: (at, a) => fs.rmdirSync(at(a)),
  unlink: (at, a) => fs.unlinkSync(at(a)),
  move: (at, a, _text, b) => fs.renameSync(at(a), at(b)),
  // Node deletes the target of a copied directory.
  copy: (at, a, _text, b) => CALLS.stat(at, a) === "directory" || fs.copyFileSync(at(a), at(b)),
  cut: (at, a) => fs.truncateSync(at(a), 1),
  exists: (at, a) => fs.existsSync(at(a)),
  access: (at, a) => fs.accessSync(at(a)),
  stat: (at, a) => {
    const stat = fs.statSync(at(a));
    return stat.isDirectory() ? "directory" : stat.size;
  },
};

function outcome(run) {
  try {
    return { value: run() };
  } catch (error) {
    // Node looks whether there is something before it asks what is wrong with the path.
    return { code: error.code === "ENOTDIR" ? "ENOENT" : error.code };
  }
}

test("random calls have the outcomes that they have in a folder", (t) => {
  let state = 26;
  const roll = (n) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % n;
  };
  const names = ["a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "a/b", ""];
  const calls = Object.entries(CALLS);
  let done = 0;
  for (let round = 0; round < 40; round++) {
    const places = [mounted(t, new StateBackend({ files: {} })), folder(t)];
    for (let step = 0; step < 60; step++) {
      const [name, run] = calls[roll(calls.length)];
      const [a, b] = [names[roll(names.length)], names[roll(names.length)]];
      const text = "x".repeat(roll(5));
      // The other root is no mount, and can be removed.
      if ((a === "" || b === "") && !/list|stat|exists|access|make/.test(name)) continue;
      const [ours, theirs] = places.map((place) =>
        outcome(() => run((path) => join(place, path), a, text, b)),
      );
      assert.deepEqual(ours, theirs, `${name} ${a} ${b} in round ${round}`);
      if (!ours.code) done += 1;
    }
  }
  assert.ok(done > 400, `${done} calls succeeded`);
});

test("over a backend that answers with promises, what answers at once is refused and the rest works", async (t) => {
  for (const backend of [
    new FilesystemBackend({ rootDir: folder(t) }),
    new CompositeBackend(new StateBackend({ files: {} }), {}),
    withPolicy(new StateBackend({ files: {} }), {}),
  ]) {
    const place = mounted(t, backend);
    const file = join(place, "d/a.txt");
    await fs.promises.mkdir(join(place, "d"));
    await fs.promises.writeFile(file, "text");
    assert.equal(await fs.promises.readFile(file, "utf8"), "text");
    assert.deepEqual(await fs.promises.readdir(join(place, "d")), ["a.txt"]);
    assert.equal((await fs.promises.stat(file)).size, 4);
    await fs.promises.access(file);
    assert.equal(await codeOf(fs.promises.readFile(join(place, "none"))), "ENOENT");
    for (const run of [
      () => fs.readFileSync(file),
      () => fs.writeFileSync(file, "other"),
      () => fs.statSync(file),
      () => fs.readdirSync(place),
      () => fs.openSync(file, "w"),
      () => fs.unlinkSync(file),
    ]) {
      // Node asks first whether it exists, and takes the refusal for a no.
      assert.match(code(run), /^(ENOSYS|ENOENT)$/, `${run}`);
    }
    assert.equal(
      code(() => fs.openSync(file, "w")),
      "ENOSYS",
    );
    assert.equal(fs.existsSync(file), false);
    assert.equal(await fs.promises.readFile(file, "utf8"), "text");
    await fs.promises.unlink(file);
  }
});

test("rules hold, and what they refuse is EACCES with the reason", async (t) => {
  const inner = new StateBackend({
    files: { "/secret/key": "secret", "/fixed/a": "1", "/b": "2" },
  });
  const permissions = [
    { operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" },
    { operations: ["write"], paths: ["/fixed/**"], mode: "deny" },
  ];
  const place = mounted(t, withPolicy(inner, { permissions }));
  const p = fs.promises;
  const at = (path) => join(place, path);
  for (const attempt of [
    () => p.readFile(at("secret/key")),
    () => p.readFile(at("b/../secret/key")),
    () => p.readdir(at("secret")),
    () => p.writeFile(at("fixed/a"), "x"),
    () => p.writeFile(at("fixed/new"), "x"),
    () => p.appendFile(at("fixed/a"), "x"),
    () => p.unlink(at("fixed/a")),
    () => p.rename(at("fixed/a"), at("c")),
    () => p.rename(at("b"), at("fixed/b")),
    () => p.copyFile(at("b"), at("fixed/b")),
    () => p.mkdir(at("fixed/d")),
  ]) {
    const error = await attempt().then(
      () => undefined,
      (caught) => caught,
    );
    assert.equal(error?.code, "EACCES", `${attempt} ${error}`);
    assert.match(error.message, /\(.+\)/);
  }
  assert.deepEqual(Object.keys(inner.snapshot()), ["/b", "/fixed/a", "/secret/key"]);
  assert.equal(inner.read("/fixed/a").content, "1");
});

test("the library's own files stay closed", (t) => {
  const place = mounted(t, new StateBackend({ files: { "/a": "" } }));
  for (const path of [".kitbag", ".kitbag/turns/journal", "d/.KITBAG/x"]) {
    assert.equal(
      code(() => fs.writeFileSync(join(place, path), "x")),
      "EINVAL",
      path,
    );
    assert.notEqual(
      code(() => fs.readFileSync(join(place, path))),
      "nothing",
      path,
    );
  }
});

test("a tree that cannot be changed is a read-only file system", async (t) => {
  const inner = new StateBackend({ files: { "/a": "1" } });
  const system = vfs.create(vfsProvider(withPolicy(inner, { readOnly: true }), vfs));
  const place = system.mount();
  t.after(() => system.unmount());
  assert.equal(system.readonly, true);
  const p = fs.promises;
  const at = (path) => join(place, path);
  assert.equal(await p.readFile(at("a"), "utf8"), "1");
  for (const [attempt, wanted] of [
    [() => p.writeFile(at("a"), "2"), "EROFS"],
    [() => p.appendFile(at("a"), "2"), "EROFS"],
    [() => p.mkdir(at("d")), "EROFS"],
    [() => p.unlink(at("a")), "EROFS"],
    [() => p.rename(at("a"), at("b")), "EROFS"],
    [() => p.copyFile(at("a"), at("b")), "EROFS"],
  ]) {
    assert.equal(await codeOf(attempt()), wanted, `${attempt}`);
  }
  assert.deepEqual(Object.keys(inner.snapshot()), ["/a"]);
});

/** The verbs of the seats' table in a mounted tree; paths are as the attempt has them. */
function seatAt(place) {
  const p = fs.promises;
  const at = (path) => `${place}/${path}`;
  return {
    read: (path) => p.readFile(at(path), "utf8"),
    write: (path) => p.writeFile(at(path), "x"),
    append: (path) => p.appendFile(at(path), "x"),
    edit: (path) => p.truncate(at(path), 1),
    remove: (path) => p.unlink(at(path)),
    move: (from, to) => p.rename(at(from), at(to)),
    copy: (from, to) => p.copyFile(at(from), at(to)),
    list: (path) => p.readdir(at(path)),
  };
}

test("no attempt of the seats' table gets through", async (t) => {
  let made = 0;
  for (const attempt of ATTEMPTS) {
    const inner = new StateBackend({ files: GUARDED });
    const seat = seatAt(mounted(t, withPolicy(inner, { permissions: PERMISSIONS })));
    if (!seat[attempt[0]]) continue;
    made += 1;
    const { said, refused } = await attempted(seat, attempt);
    const shown = `${attempt.join(" ")}: ${said}`;
    assert.ok(refused && !said.includes(SECRET), shown);
    const now = Object.entries(inner.snapshot()).map(([path, { content }]) => [path, content]);
    assert.deepEqual(Object.fromEntries(now), GUARDED, shown);
  }
  assert.ok(made >= 30, `${made} attempts`);
});

test("1,000 changes through a mounted tree and an fs object at once, none is lost", async (t) => {
  const backend = new StateBackend({ files: { "/log": "" } });
  const [place, { promises }] = [mounted(t, backend), createFs(backend)];
  const add = (at) =>
    at % 2 ? fs.promises.appendFile(`${place}/log`, "x") : promises.appendFile("/log", "x");
  await Promise.all(Array.from({ length: 1000 }, (_, at) => add(at)));
  assert.equal(backend.snapshot()["/log"].content.length, 1000);
});

test("without rules the same verbs do something", async (t) => {
  const inner = new StateBackend({ files: GUARDED });
  const seat = seatAt(mounted(t, inner));
  assert.equal(await seat.read("/secret/key.txt"), SECRET);
  for (const [verb, ...args] of [
    ["write", "/fixed/new.txt"],
    ["append", "/fixed/a.txt"],
    ["edit", "/fixed/sub/b.txt"],
    ["copy", "/open/b.txt", "/fixed/b.txt"],
    ["move", "/secret/key.txt", "/open/k.txt"],
    ["remove", "/open/b.txt"],
  ]) {
    const before = JSON.stringify(inner.snapshot());
    await seat[verb](...args);
    assert.notEqual(JSON.stringify(inner.snapshot()), before, verb);
  }
});

test("wrong arguments are named", () => {
  assert.throws(() => vfsProvider(undefined, vfs), /vfsProvider: the first argument/);
  assert.throws(() => vfsProvider({ ls() {} }, vfs), /vfsProvider: the backend must have/);
  for (const wrong of [undefined, null, {}, { VirtualProvider: {} }]) {
    assert.throws(() => vfsProvider(new StateBackend(), wrong), /vfsProvider: the second argument/);
  }
});
