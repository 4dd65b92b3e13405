// What the backends of a host do with the options that may be left out, in a process of its own
// whose current directory is a fresh folder.

import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { kitbag, run, withFolder } from "./lib.mjs";

const { ContextHubBackend, FilesystemBackend, LocalShellBackend, PolicyWrapper } = kitbag;
const { SandboxBackend, StateBackend, adaptBackendProtocol, withPolicy } = kitbag;

const home = process.cwd();
let folder;
before(() => {
  folder = fs.realpathSync(fs.mkdtempSync("/tmp/kitbag-defaults-"));
  process.chdir(folder);
});
after(() => {
  process.chdir(home);
  fs.rmSync(folder, { recursive: true, force: true });
});

const ROOTS = {
  "no options": () => [undefined, ""],
  "no rootDir": () => [{}, ""],
  'rootDir: "."': () => [{ rootDir: "." }, ""],
  'rootDir: "below/it"': () => [{ rootDir: "below/it" }, "below/it"],
  'rootDir: "./below/.."': () => [{ rootDir: "./below/.." }, ""],
};

for (const [name, root] of Object.entries(ROOTS)) {
  for (const Type of [FilesystemBackend, LocalShellBackend]) {
    test(`${Type.name} with ${name} works in the current directory`, async () => {
      const [options, at] = root();
      const backend = new Type(options);
      const file = `/${Type.name}-${Object.keys(ROOTS).indexOf(name)}.txt`;
      assert.equal((await backend.write(file, "here")).error, undefined);
      assert.equal(fs.readFileSync(join(folder, at, file), "utf8"), "here");
      if (backend.execute) {
        assert.equal(
          (await backend.execute("pwd")).output.trim(),
          join(folder, at).replace(/\/$/, ""),
        );
      }
    });
  }
}

test("a root that is empty or has a NUL is refused by name", () => {
  for (const rootDir of ["", "a\0b"]) {
    assert.throws(() => new FilesystemBackend({ rootDir }), /option "rootDir"/);
  }
  assert.throws(() => new LocalShellBackend({ workingDirectory: "" }), /option "workingDirectory"/);
});

test("a class that extends FilesystemBackend may give no options", async () => {
  class Own extends FilesystemBackend {
    constructor() {
      super({});
    }
  }
  assert.equal((await new Own().write("/own.txt", "own")).error, undefined);
  assert.equal(fs.readFileSync(join(folder, "own.txt"), "utf8"), "own");
});

test("a LocalShellBackend is a FilesystemBackend", () => {
  assert.ok(new LocalShellBackend() instanceof FilesystemBackend);
  assert.ok(!(new FilesystemBackend() instanceof LocalShellBackend));
});

test("without a callback, commands run by the host's shell", async () => {
  const answer = await new LocalShellBackend().execute("echo out; echo err >&2; exit 3");
  assert.deepEqual(answer, { output: "out\n[stderr] err", exitCode: 3, truncated: false });
});

test("LocalShellBackend.create() makes its folder", () =>
  withFolder(async (base) => {
    const rootDir = join(base, "new/folder");
    const backend = await LocalShellBackend.create({ rootDir });
    assert.ok(fs.statSync(rootDir).isDirectory());
    assert.equal((await backend.execute("pwd")).exitCode, 0);
  }));

test("a time limit of 0 is none, as an option and for one command", async () => {
  for (const backend of [
    new LocalShellBackend({ timeout: 0 }),
    new SandboxBackend({ id: "s", execute: run("/bin/sh"), timeout: 0 }),
  ]) {
    assert.equal((await backend.execute("sleep 0.1; echo done")).output, "done\n");
    const answer = await backend.execute("sleep 0.1; echo done", { timeoutMs: 0 });
    assert.equal(answer.output, "done\n");
  }
  assert.throws(() => new LocalShellBackend({ timeout: -1 }), /option "timeout"/);
});

test("without virtualMode a relative path is one below rootDir, in every operation", () =>
  withFolder(async (rootDir) => {
    const it = new FilesystemBackend({ rootDir, virtualMode: false });
    const at = join(rootDir, "a.txt");
    assert.deepEqual(await it.write("a.txt", "one\n"), { path: at });
    assert.equal(fs.readFileSync(at, "utf8"), "one\n");
    assert.equal((await it.read("a.txt")).content, "one\n");
    assert.equal((await it.read(at)).content, "one\n");
    assert.equal((await it.readRaw("a.txt")).data.content, "one\n");
    assert.equal((await it.edit("a.txt", "one", "two")).occurrences, 1);
    assert.deepEqual(
      (await it.grep("two", "")).matches.map((match) => match.path),
      [at],
    );
    assert.deepEqual(
      (await it.grep("two")).matches.map((match) => match.path),
      [at],
    );
    assert.deepEqual(
      (await it.glob("*.txt")).files.map((file) => file.path),
      [at],
    );
    assert.deepEqual(
      (await it.glob("*.txt", "")).files.map((file) => file.path),
      [at],
    );
    assert.deepEqual(
      (await it.ls("")).files.map((file) => file.path),
      [at],
    );
    assert.equal((await it.uploadFiles([["b.txt", Uint8Array.of(65)]]))[0].error, null);
    assert.deepEqual((await it.downloadFiles(["b.txt"]))[0].content, Uint8Array.of(65));
    assert.equal((await it.delete("b.txt")).error, undefined);
    assert.deepEqual(fs.readdirSync(rootDir), ["a.txt"]);
  }));

test("ContextHubBackend takes the key of the environment, and says so when there is none", () => {
  const kept = process.env.LANGSMITH_API_KEY;
  try {
    delete process.env.LANGSMITH_API_KEY;
    assert.throws(() => new ContextHubBackend("my-agent"), /LANGSMITH_API_KEY/);
    process.env.LANGSMITH_API_KEY = "key-of-the-environment";
    assert.ok(new ContextHubBackend("my-agent") instanceof ContextHubBackend);
  } finally {
    if (kept === undefined) delete process.env.LANGSMITH_API_KEY;
    else process.env.LANGSMITH_API_KEY = kept;
  }
});

test("ContextHubBackend passes a version on, and tells commits and linked entries", async () => {
  const asked = [];
  const client = {
    async pullAgent(identifier) {
      asked.push(identifier);
      if (identifier === "me/none") throw Object.assign(new Error("no"), { status: 404 });
      return {
        commit_hash: "c1",
        files: {
          "a.txt": { type: "file", content: "text" },
          "skills/x": { type: "skill", repo_handle: "x-skill" },
        },
      };
    },
    pushAgent: async () => "x/c2",
  };
  const hub = new ContextHubBackend("me/agent:v2", { client });
  assert.equal((await hub.read("/a.txt")).content, "text");
  assert.equal(await hub.hasPriorCommits(), true);
  assert.deepEqual(await hub.getLinkedEntries(), { "skills/x": "x-skill" });
  assert.ok(
    asked.every((identifier) => identifier === "me/agent:v2"),
    `${asked}`,
  );
  const none = new ContextHubBackend("me/none", { client });
  assert.equal(await none.hasPriorCommits(), false);
  assert.deepEqual(await none.getLinkedEntries(), {});
  assert.throws(() => new ContextHubBackend("me/agent:", { client }), /:version/);
});

test("a version is asked of the Hub as a commit", async (t) => {
  const urls = [];
  t.mock.method(globalThis, "fetch", async (url) => {
    urls.push(String(url));
    return Response.json({ commit_hash: "c1", files: {} });
  });
  await new ContextHubBackend("me/agent:v2", { apiKey: "k", baseUrl: "https://hub.test" }).ls("/");
  assert.deepEqual(urls, [
    "https://hub.test/v1/platform/hub/repos/me/agent/directories?repo_type=agent&commit=v2",
  ]);
});

test("PolicyWrapper takes a list of directories that may not be changed", async () => {
  const inner = new StateBackend({ files: { "/keep/a.txt": "kept" } });
  const guarded = new PolicyWrapper(inner, ["/keep/"]);
  assert.equal((await guarded.write("/keep/b.txt", "x")).code, "permission_denied");
  assert.equal((await guarded.edit("/keep/a.txt", "kept", "x")).code, "permission_denied");
  assert.equal((await guarded.read("/keep/a.txt")).content, "kept");
  assert.equal((await guarded.write("/b.txt", "x")).error, undefined);
});

test("adaptBackendProtocol answers for the methods that an object lacks", async () => {
  const adapted = adaptBackendProtocol({ read: () => ({ content: "text" }) });
  assert.equal((await adapted.read("/a")).content, "text");
  for (const [name, ...args] of [
    ["ls", "/"],
    ["grep", "x"],
    ["glob", "*"],
    ["write", "/a", "x"],
    ["edit", "/a", "x", "y"],
    ["readRaw", "/a"],
  ]) {
    assert.equal((await adapted[name](...args)).code, "unsupported", name);
  }
  assert.throws(() => adaptBackendProtocol({}), TypeError);
  assert.throws(() => withPolicy({ read() {} }, {}), TypeError);
});

test("what killed processes left is removed at the next write in its directory", () =>
  withFolder(async (rootDir) => {
    const old = new Date(Date.now() - 3_600_000);
    const put = (name, text, time) => {
      fs.writeFileSync(join(rootDir, name), text);
      if (time) fs.utimesSync(join(rootDir, name), time, time);
    };
    put("a.txt", "one");
    put(".~kitbag-t-1-1-abc", "half written", old);
    put(".~kitbag-t-1-2-abc", "being written");
    put(".~kitbag-c-0123-1-2-3-0", "999999999 elsewhere", old);
    put(".~kitbag-c-0123-1-2-3-1", "999999999 elsewhere", old);
    put(".~kitbag-c-4567-1-2-3-0", "1 elsewhere");
    const backend = new FilesystemBackend({ rootDir });
    assert.equal((await backend.edit("/a.txt", "one", "two")).error, undefined);
    assert.deepEqual(fs.readdirSync(rootDir).sort(), [
      ".~kitbag-c-4567-1-2-3-0",
      ".~kitbag-t-1-2-abc",
      "a.txt",
    ]);
    assert.equal(fs.readFileSync(join(rootDir, "a.txt"), "utf8"), "two");
  }));
