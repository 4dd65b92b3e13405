// LocalShellBackend without `virtualMode`: files and commands name the same files by the same paths, rules
// and the library's own files hold for the paths of the host, and nothing else of the contained form is lost.

import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { kitbag, withFolder } from "./lib.mjs";

const { begin, createFileTools, LocalShellBackend, withPolicy } = kitbag;
const encode = (text) => new TextEncoder().encode(text);

/** Runs a test over a backend whose folder is `root/work`; `root/beside.txt` is beside it. */
const withBackend = (run, options = {}) =>
  withFolder(async (folder) => {
    const root = fs.realpathSync(folder);
    const rootDir = join(root, "work");
    fs.writeFileSync(join(root, "beside.txt"), "beside\n");
    const backend = await LocalShellBackend.create({ rootDir, virtualMode: false, ...options });
    await run({ backend, rootDir, root, at: (name) => join(rootDir, name) });
  });

/** Each is a way that files and commands agree. */
const AGREE = {
  "a relative path of a call is that of a command": async ({ backend, at }) => {
    assert.deepEqual(await backend.write("a.txt", "one\n"), { path: at("a.txt") });
    assert.equal((await backend.execute("cat a.txt")).output, "one\n");
  },
  "an absolute path of a call is that of a command": async ({ backend, at }) => {
    await backend.write(at("a.txt"), "one\n");
    assert.equal((await backend.execute(`cat '${at("a.txt")}'`)).output, "one\n");
  },
  "what a command writes by a relative path is read by it": async ({ backend, at }) => {
    await backend.execute("mkdir -p d; echo two > d/b.txt");
    assert.equal((await backend.read("d/b.txt")).content, "two\n");
    assert.equal((await backend.read(at("d/b.txt"))).content, "two\n");
  },
  "what a command prints as a path can be read": async ({ backend }) => {
    await backend.write("a b.txt", "x\n");
    const { output } = await backend.execute('realpath "a b.txt"');
    assert.equal((await backend.read(output.trim())).content, "x\n");
  },
  "commands start in rootDir": async ({ backend, rootDir }) => {
    assert.equal((await backend.execute("pwd")).output.trim(), rootDir);
  },
  "files beside rootDir are reached by their paths": async ({ backend, root }) => {
    assert.equal((await backend.read(join(root, "beside.txt"))).content, "beside\n");
    const { matches } = await backend.grep("beside", root);
    assert.deepEqual(
      matches.map(({ path }) => path),
      [join(root, "beside.txt")],
    );
  },
  "no relative path leads out of rootDir": async ({ backend }) => {
    for (const path of ["../beside.txt", "d/../../beside.txt", "./../beside.txt"]) {
      assert.equal((await backend.read(path)).code, "invalid_path", path);
      assert.equal((await backend.write(path, "x")).code, "invalid_path", path);
    }
  },
  "a move and a copy take both kinds of paths": async ({ backend, at }) => {
    await backend.write("a.txt", "x");
    assert.equal((await backend.copy("a.txt", at("b.txt"))).error, undefined);
    assert.equal((await backend.move(at("a.txt"), "c.txt")).error, undefined);
    assert.deepEqual(fs.readdirSync(at("")).sort(), ["b.txt", "c.txt"]);
  },
  "a search without a place is one of rootDir": async ({ backend, at }) => {
    await backend.write("a.txt", "beside here\n");
    for (const found of [await backend.grep("beside"), await backend.grep("beside", "")]) {
      assert.deepEqual(
        found.matches.map(({ path }) => path),
        [at("a.txt")],
      );
    }
    const { files } = await backend.glob("*.txt");
    assert.deepEqual(
      files.map(({ path }) => path),
      [at("a.txt")],
    );
  },
  "batches take both kinds of paths": async ({ backend, at }) => {
    const stored = await backend.uploadFiles([
      ["a.txt", encode("a")],
      [at("b.txt"), encode("b")],
    ]);
    assert.ok(stored.every(({ error }) => error === null));
    const found = await backend.downloadFiles([at("a.txt"), "b.txt"]);
    assert.equal(found.map(({ content }) => new TextDecoder().decode(content)).join(), "a,b");
  },
  "initial files are below rootDir": async () =>
    withBackend(
      async ({ backend, at }) => {
        assert.equal(fs.readFileSync(at("notes/a.txt"), "utf8"), "a");
        assert.equal((await backend.execute("cat notes/a.txt")).output, "a");
      },
      { initialFiles: { "notes/a.txt": "a" } },
    ),
  "tools take the paths of the host": async ({ backend, at }) => {
    const { call } = createFileTools(backend, { tools: "all" });
    const wrote = await call("write_file", { file_path: at("a.txt"), content: "one" });
    assert.equal(wrote.isError, false, wrote.text);
    assert.match((await call("execute", { command: "cat a.txt" })).text, /one/);
    const listed = await call("ls", { path: at("") });
    assert.ok(listed.text.includes(at("a.txt")), listed.text);
  },
  "a rule about a path of the host holds, however it is written": async ({ backend, at }) => {
    await backend.write("secret/key.txt", "hidden");
    const guarded = withPolicy(backend, {
      permissions: [{ operations: ["read", "write"], paths: [at("secret/**")], mode: "deny" }],
    });
    for (const path of [
      at("secret/key.txt"),
      at("./secret//key.txt"),
      `/${at("secret/key.txt")}`,
    ]) {
      assert.equal((await guarded.read(path)).code, "permission_denied", path);
      assert.equal((await guarded.write(path, "x")).code, "permission_denied", path);
    }
    assert.notEqual((await guarded.read("secret/key.txt")).error, undefined);
    assert.deepEqual((await guarded.grep("hidden", at(""))).matches, []);
    const { output, exitCode } = await guarded.execute("cat secret/key.txt");
    assert.deepEqual([exitCode === 0, output.includes("hidden")], [false, false], output);
  },
  "behind a rule no link is followed": async ({ backend, at }) => {
    await backend.write("secret/key.txt", "hidden");
    fs.symlinkSync(at("secret"), at("door"));
    const guarded = withPolicy(backend, {
      permissions: [{ operations: ["read", "write"], paths: [at("secret/**")], mode: "deny" }],
    });
    assert.notEqual((await guarded.read(at("door/key.txt"))).error, undefined);
    assert.notEqual((await guarded.write(at("door/new.txt"), "x")).error, undefined);
    assert.deepEqual(fs.readdirSync(at("secret")), ["key.txt"]);
  },
  "the library's own files are closed at every depth": async ({ backend, at, root }) => {
    fs.mkdirSync(at(".kitbag/turns"), { recursive: true });
    fs.writeFileSync(at(".kitbag/turns/note"), "kept");
    fs.mkdirSync(join(root, ".kitbag"));
    fs.writeFileSync(join(root, ".kitbag/note"), "kept");
    for (const path of [
      ".kitbag/turns/note",
      at(".KITBAG/turns/note"),
      at(".kit\u200bbag/turns/note"),
      at(".kit\ufe0fbag/turns/note"),
      "KITBAG~1/turns/note",
      join(root, ".kitbag/note"),
    ]) {
      assert.equal((await backend.read(path)).code, "invalid_path", path);
      assert.equal((await backend.write(path, "x")).code, "invalid_path", path);
      assert.equal((await backend.delete(path)).code, "invalid_path", path);
    }
    assert.deepEqual((await backend.grep("kept", root)).matches, []);
    assert.equal(fs.readFileSync(at(".kitbag/turns/note"), "utf8"), "kept");
  },
  "a turn changes the files of the host": async ({ backend, at }) => {
    const turn = begin(backend);
    await turn.write(at("a.txt"), "x");
    assert.equal(fs.existsSync(at("a.txt")), false);
    assert.equal((await turn.commit()).error, undefined);
    assert.equal((await backend.execute("cat a.txt")).output, "x");
  },
};

for (const [name, run] of Object.entries(AGREE)) {
  test(`without virtualMode: ${name}`, () => withBackend(run));
}

test("a wrong option of create is refused by its name", async () => {
  for (const [options, named] of [
    [{ virtualMode: "false" }, /virtualMode/],
    [{ virtualMode: 0 }, /virtualMode/],
    [{ virtualMode: false, rootDir: "" }, /rootDir/],
    [{ virtualMode: false, virtual: true }, /virtual/],
  ]) {
    await assert.rejects(
      async () => LocalShellBackend.create({ rootDir: "/tmp", ...options }),
      named,
    );
  }
});
