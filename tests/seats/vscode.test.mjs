// `kitbag/vscode` under VS Code's own file service: what a user does in the explorer and in an editor, over
// several backends; conflicts with other writers, watchers, errors, rules.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { CompositeBackend, StateBackend, withPolicy } from "kitbag";
import { createFs } from "kitbag/fs";
import { fileSystemProvider } from "kitbag/vscode";
import { editorOf, FileOperationResult, heard, uri, vscode } from "./editor.mjs";
import { BACKENDS, failure } from "./lib.mjs";

const utf8 = (text) => new TextEncoder().encode(text);

async function text(backend, path) {
  const [{ content }] = await backend.downloadFiles([path]);
  return content === null ? undefined : new TextDecoder().decode(content);
}

const put = async (backend, files) => {
  const entries = Object.entries(files).map(([path, content]) => [path, utf8(content)]);
  for (const { error } of await backend.uploadFiles(entries)) assert.equal(error ?? null, null);
};

/** What fails with this result of the file service. */
async function refused(promise, result) {
  const error = await failure(promise);
  assert.ok(error, "it was not refused");
  assert.equal(error.fileOperationResult, FileOperationResult[result], error.message);
  return error.message;
}

/** What a user does, by name: with the editor and the backend. */
const CASES = {
  "opens a file": async (editor, backend) => {
    await put(backend, { "/a b/ü.txt": "Grüße\n" });
    const { text: shown, size, mtime } = await editor.open("/a b/ü.txt");
    assert.deepEqual([shown, size, mtime > 0], ["Grüße\n", 8, true]);
  },
  "opens bytes": async (editor, backend) => {
    const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
    await backend.uploadFiles([["/b.bin", bytes]]);
    const { value } = await editor.service.readFile(uri("/b.bin"));
    assert.deepEqual(new Uint8Array(value.buffer), bytes);
  },
  "opens an empty file": async (editor, backend) => {
    await put(backend, { "/empty": "" });
    assert.equal((await editor.open("/empty")).text, "");
  },
  "opens nothing where nothing is": async (editor) => {
    await refused(editor.open("/none.txt"), "FILE_NOT_FOUND");
    await refused(editor.open("/none/a.txt"), "FILE_NOT_FOUND");
  },
  "opens no folder as a file": async (editor, backend) => {
    await put(backend, { "/d/a": "x" });
    await refused(editor.open("/d"), "FILE_IS_DIRECTORY");
  },
  "saves, again and again": async (editor, backend) => {
    await put(backend, { "/a.txt": "0" });
    let opened = await editor.open("/a.txt");
    for (let n = 1; n <= 5; n++) {
      const saved = await editor.save("/a.txt", "x".repeat(n % 3), opened);
      assert.ok(saved.mtime > opened.mtime, "the time grows with each save");
      opened = saved;
      assert.equal(await text(backend, "/a.txt"), "x".repeat(n % 3));
    }
  },
  "saves as a new file in new folders": async (editor, backend) => {
    await editor.save("/new/deep/a.txt", "x");
    assert.equal(await text(backend, "/new/deep/a.txt"), "x");
    assert.deepEqual(await editor.list("/new"), ["deep/"]);
  },
  "saves as a file that exists": async (editor, backend) => {
    await put(backend, { "/a.txt": "old" });
    await editor.save("/a.txt", "new content");
    assert.equal(await text(backend, "/a.txt"), "new content");
  },
  "creates a file, and none over another": async (editor, backend) => {
    await editor.create("/a.txt", "1");
    await refused(editor.create("/a.txt", "2"), "FILE_MODIFIED_SINCE");
    assert.equal(await text(backend, "/a.txt"), "1");
    await editor.create("/a.txt", "3", true);
    assert.equal(await text(backend, "/a.txt"), "3");
  },
  "makes folders, which stay while they are empty": async (editor) => {
    await editor.folder("/d/e/f");
    assert.deepEqual([await editor.list("/"), await editor.list("/d/e/f")], [["d/"], []]);
    assert.ok((await editor.stat("/d/e/f")).isDirectory);
  },
  "lists a folder": async (editor, backend) => {
    await put(backend, { "/w/a.txt": "1", "/w/.env": "2", "/w/s/b": "3", "/x": "4" });
    assert.deepEqual(await editor.list("/w"), [".env", "a.txt", "s/"]);
    const { children } = await editor.stat("/w");
    assert.deepEqual(children.map(({ name, size }) => [name, size]).sort(), [
      [".env", 1],
      ["a.txt", 1],
      ["s", 0],
    ]);
  },
  "renames a file": async (editor, backend) => {
    await put(backend, { "/a.txt": "1", "/d/x": "2" });
    await editor.rename("/a.txt", "/d/b.txt");
    assert.deepEqual(
      [await editor.exists("/a.txt"), await text(backend, "/d/b.txt")],
      [false, "1"],
    );
  },
  "renames over a file only if that is confirmed": async (editor, backend) => {
    await put(backend, { "/a": "1", "/b": "2" });
    await refused(editor.rename("/a", "/b"), "FILE_MOVE_CONFLICT");
    assert.deepEqual([await text(backend, "/a"), await text(backend, "/b")], ["1", "2"]);
    await editor.rename("/a", "/b", true);
    assert.deepEqual([await text(backend, "/a"), await text(backend, "/b")], [undefined, "1"]);
  },
  "renames a folder, also over another": async (editor, backend) => {
    await put(backend, { "/one/a": "1", "/one/s/b": "2", "/two/c": "3" });
    await editor.rename("/one", "/three");
    assert.deepEqual(await editor.list("/three"), ["a", "s/"]);
    await refused(editor.rename("/three", "/two"), "FILE_MOVE_CONFLICT");
    await editor.rename("/three", "/two", true);
    assert.deepEqual(await editor.list("/two"), ["a", "s/"]);
    assert.equal(await text(backend, "/two/s/b"), "2");
    assert.equal(await editor.exists("/three"), false);
  },
  "copies files and folders": async (editor, backend) => {
    await put(backend, { "/a": "1", "/d/b": "2", "/d/s/c": "3" });
    await editor.copy("/a", "/a copy");
    await editor.copy("/d", "/d copy");
    assert.deepEqual(await editor.list("/"), ["a", "a copy", "d copy/", "d/"]);
    assert.equal(await text(backend, "/d copy/s/c"), "3");
    await refused(editor.copy("/a", "/a copy"), "FILE_MOVE_CONFLICT");
    await put(backend, { "/a": "4" });
    await editor.copy("/a", "/a copy", true);
    assert.equal(await text(backend, "/a copy"), "4");
  },
  "deletes a file, and a folder with all that is in it": async (editor, backend) => {
    await put(backend, { "/a": "1", "/d/b": "2", "/d/s/c": "3" });
    await editor.remove("/a", false);
    assert.ok(await failure(editor.remove("/d", false)), "a folder with files needs a word more");
    assert.equal(await text(backend, "/d/s/c"), "3");
    await editor.remove("/d");
    assert.deepEqual(await editor.list("/"), []);
    assert.ok(await failure(editor.remove("/d")), "there is nothing any more");
  },
};

for (const [where, make] of Object.entries(BACKENDS)) {
  for (const [what, run] of Object.entries(CASES)) {
    test(`${where}: a user ${what}`, async (t) => {
      const backend = await make(t);
      await run(await editorOf(backend), backend);
    });
  }
}

/** The provider without the file service, which checks much of this itself. */
const DIRECT = [
  ["a file in no folder", (p) => p.writeFile(uri("/no/a"), utf8("x"), all), "FileNotFound"],
  ["a file that must exist", (p) => p.writeFile(uri("/no"), utf8("x"), replace), "FileNotFound"],
  ["a file that must not exist", (p) => p.writeFile(uri("/d/a"), utf8("x"), fresh), "FileExists"],
  [
    "a file in place of a folder",
    (p) => p.writeFile(uri("/d"), utf8("x"), all),
    "FileIsADirectory",
  ],
  ["a file below a file", (p) => p.writeFile(uri("/d/a/b"), utf8("x"), all), "FileNotADirectory"],
  ["a folder in no folder", (p) => p.createDirectory(uri("/no/d")), "FileNotFound"],
  ["a folder that exists", (p) => p.createDirectory(uri("/d")), "FileExists"],
  ["a folder in place of a file", (p) => p.createDirectory(uri("/d/a")), "FileExists"],
  ["a listing of nothing", (p) => p.readDirectory(uri("/no")), "FileNotFound"],
  ["a listing of a file", (p) => p.readDirectory(uri("/d/a")), "FileNotADirectory"],
  ["the text of a folder", (p) => p.readFile(uri("/d")), "FileIsADirectory"],
  ["what nothing is", (p) => p.stat(uri("/no")), "FileNotFound"],
  ["a name that is reserved", (p) => p.stat(uri("/.kitbag")), "Unknown"],
  ["a deletion of nothing", (p) => p.delete(uri("/no"), { recursive: true }), "FileNotFound"],
  ["a deletion of all", (p) => p.delete(uri("/"), { recursive: true }), "Unavailable"],
  ["a full folder", (p) => p.delete(uri("/d"), { recursive: false }), "Unknown"],
  ["a move of nothing", (p) => p.rename(uri("/no"), uri("/b"), over), "FileNotFound"],
  ["a move to no folder", (p) => p.rename(uri("/d/a"), uri("/no/b"), over), "FileNotFound"],
  ["a move over a file", (p) => p.rename(uri("/d/a"), uri("/d/b"), {}), "FileExists"],
  ["a move into itself", (p) => p.rename(uri("/d"), uri("/d/e"), over), "Unknown"],
  ["a copy of nothing", (p) => p.copy(uri("/no"), uri("/b"), over), "FileNotFound"],
  ["a copy over a folder", (p) => p.copy(uri("/d/a"), uri("/d"), {}), "FileExists"],
];
const all = { create: true, overwrite: true };
const replace = { create: false, overwrite: true };
const fresh = { create: true, overwrite: false };
const over = { overwrite: true };

for (const [where, make] of Object.entries(BACKENDS)) {
  test(`${where}: each error has VS Code's code, and nothing is changed`, async (t) => {
    const backend = await make(t);
    await put(backend, { "/d/a": "1", "/d/b": "2" });
    const provider = fileSystemProvider(backend, vscode);
    for (const [what, attempt, code] of DIRECT) {
      const error = await failure(attempt(provider));
      assert.ok(error instanceof vscode.FileSystemError, `${what}: ${error}`);
      assert.equal(error.code, code, `${what}: ${error.message}`);
      assert.match(error.message, /\//, what);
    }
    const { files } = await backend.glob("**", "/");
    assert.deepEqual(files.map(({ path }) => path).sort(), ["/d/a", "/d/b"]);
    assert.deepEqual([await text(backend, "/d/a"), await text(backend, "/d/b")], ["1", "2"]);
  });
}

test("a folder and a file replace each other only if that is confirmed", async () => {
  const backend = new StateBackend({ files: { "/d/a": "1", "/f": "2" } });
  const provider = fileSystemProvider(backend, vscode);
  await provider.copy(uri("/f"), uri("/d"), over);
  assert.deepEqual(Object.keys(backend.snapshot()), ["/d", "/f"]);
  await provider.createDirectory(uri("/e"));
  await provider.rename(uri("/f"), uri("/e/f"), {});
  await provider.rename(uri("/e"), uri("/d"), over);
  assert.deepEqual(Object.keys(backend.snapshot()), ["/d/f"]);
});

/** Other writers between opening and saving. Each says what the save must be refused with. */
const CONFLICTS = {
  "a longer text": ["agent's long text", "FILE_MODIFIED_SINCE"],
  "a shorter text": ["a", "FILE_MODIFIED_SINCE"],
  "a text of the same size": ["AGENT", "FILE_OTHER_ERROR"],
};

for (const [where, make] of Object.entries(BACKENDS)) {
  if (where === "stranger") continue;
  for (const [what, [theirs, result]] of Object.entries(CONFLICTS)) {
    test(`${where}: a save over ${what} of another writer is refused`, async (t) => {
      const backend = await make(t);
      await put(backend, { "/a.txt": "first" });
      const editor = await editorOf(backend);
      const opened = await editor.open("/a.txt");
      await new Promise((resolve) => setTimeout(resolve, 5));
      await put(backend, { "/a.txt": theirs });
      await refused(editor.save("/a.txt", "user's text", opened), result);
      assert.equal(await text(backend, "/a.txt"), theirs);
      // The user has seen that, and replaces it.
      await editor.save("/a.txt", "user's text");
      assert.equal(await text(backend, "/a.txt"), "user's text");
    });
  }
}

/** A backend whose times have whole seconds, or none, as some stores. */
function blurred(inner, blur) {
  return new Proxy(inner, {
    get(target, name) {
      const value = target[name];
      if (name === "capability") return undefined;
      if (name !== "ls" && name !== "glob") {
        return typeof value === "function" ? value.bind(target) : value;
      }
      return async (...args) => {
        const answer = await target[name](...args);
        return { ...answer, files: answer.files?.map(blur) };
      };
    },
    has: (target, name) => name !== "capability" && name in target,
  });
}
const BLURS = {
  "whole seconds": ({ modified_at: at, ...one }) => ({
    ...one,
    modified_at: `${at.slice(0, 17)}00.000Z`,
  }),
  "no times": ({ modified_at: _, ...one }) => one,
};

for (const [what, blur] of Object.entries(BLURS)) {
  test(`with ${what}, VS Code sees each change of another size`, async () => {
    const inner = new StateBackend({ files: { "/a.txt": "first" } });
    const editor = await editorOf(blurred(inner, blur));
    const opened = await editor.open("/a.txt");
    await put(inner, { "/a.txt": "agent's text" });
    await refused(editor.save("/a.txt", "user's text", opened), "FILE_MODIFIED_SINCE");
    const again = await editor.open("/a.txt");
    assert.ok(again.mtime > opened.mtime);
    const saved = await editor.save("/a.txt", "user's text", again);
    assert.ok(saved.mtime > again.mtime);
    await editor.save("/a.txt", "user's next", saved);
    assert.equal(await text(inner, "/a.txt"), "user's next");
  });
}

test("what comes between VS Code's look and its write is not lost", async () => {
  const backend = new StateBackend({ files: { "/a.txt": "first" } });
  let between = async () => {};
  const editor = await editorOf(backend, (provider) => ({
    ...provider,
    writeFile: async (...args) => {
      await between();
      return provider.writeFile(...args);
    },
  }));
  for (const theirs of ["longer text of the agent", "AGENT", ""]) {
    await put(backend, { "/a.txt": "first" });
    const opened = await editor.open("/a.txt");
    between = async () => {
      await new Promise((resolve) => setTimeout(resolve, 3));
      await put(backend, { "/a.txt": theirs });
    };
    const said = await refused(editor.save("/a.txt", "user's text", opened), "FILE_OTHER_ERROR");
    assert.match(said, /another writer/);
    assert.equal(await text(backend, "/a.txt"), theirs);
    between = async () => {};
  }
});

test("a file that was deleted meanwhile is not brought back by a write that must replace one", async () => {
  const backend = new StateBackend({ files: { "/a.txt": "first" } });
  const provider = fileSystemProvider(backend, vscode);
  await backend.delete("/a.txt");
  const error = await failure(provider.writeFile(uri("/a.txt"), utf8("x"), replace));
  assert.equal(error.code, "FileNotFound");
  assert.deepEqual(backend.snapshot(), {});
});

test("of many who create one file, one succeeds", async () => {
  const backend = new StateBackend({ files: {} });
  const providers = Array.from({ length: 20 }, () => fileSystemProvider(backend, vscode));
  const codes = await Promise.all(
    providers.map((provider, at) =>
      provider.writeFile(uri("/a"), utf8(String(at)), fresh).then(
        () => "made",
        ({ code }) => code,
      ),
    ),
  );
  assert.deepEqual(codes.sort(), [...Array(19).fill("FileExists"), "made"]);
});

for (const [where, make] of Object.entries(BACKENDS)) {
  test(`${where}: an editor is told what is changed, comes and goes`, async (t) => {
    const backend = await make(t);
    await put(backend, { "/w/a.txt": "1", "/w/b.txt": "2", "/x/c.txt": "3" });
    // The agent works through another object over the same files.
    const agent = createFs(backend).promises;
    const editor = await editorOf(backend);
    assert.deepEqual(await editor.list("/w"), ["a.txt", "b.txt"]);
    const { all: told, until } = heard(editor);
    const watcher = editor.watch("/w", { excludes: ["**/node_modules"] });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await agent.writeFile("/w/a.txt", "changed");
    await until(["~/w/a.txt"]);
    await agent.writeFile("/w/new.txt", "n");
    await until(["+/w/new.txt"]);
    await agent.writeFile("/w/new.txt", "changed");
    await until(["~/w/new.txt"]);
    await agent.unlink("/w/b.txt");
    await until(["-/w/b.txt"]);
    await agent.writeFile("/w/node_modules", "x");
    await agent.writeFile("/x/c.txt", "elsewhere");
    await editor.save("/w/own.txt", "x");
    await until(["+/w/own.txt"]);
    assert.ok(!told.some((one) => /node_modules|\/x\//.test(one)), told.join());
    assert.ok(!told.includes("+/w/a.txt"), "what VS Code knows does not come again");
    watcher.dispose();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const before = told.length;
    await agent.writeFile("/w/a.txt", "unheard");
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(told.length, before);
  });
}

test("one folder is watched without those in it, and two watchers tell a change once", async () => {
  const backend = new StateBackend({ files: { "/w/a": "1", "/w/s/b": "1" } });
  const agent = createFs(backend).promises;
  const provider = fileSystemProvider(backend, vscode);
  const told = [];
  const end = provider.onDidChangeFile((changes) =>
    told.push(...changes.map(({ type, uri: { path } }) => `${type}${path}`)),
  );
  const change = async () => {
    await agent.writeFile("/w/s/b", "x");
    await agent.writeFile("/w/a", "x");
    await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const shallow = provider.watch(uri("/w"), { recursive: false, excludes: [] });
  await change();
  assert.deepEqual(told, ["2/w/a"]);
  const deep = provider.watch(uri("/"), { recursive: true, excludes: ["w/s", "/w/none"] });
  await change();
  assert.deepEqual(told, ["2/w/a", "1/w/a"]);
  shallow.dispose();
  deep.dispose();
  await change();
  assert.equal(told.length, 2);
  const again = provider.watch(uri("/"), { recursive: true, excludes: ["/w/a"] });
  await change();
  assert.deepEqual(told.slice(2), ["2/w/s/b"]);
  end.dispose();
  await change();
  assert.equal(told.length, 3);
  again.dispose();
});

test("a listener that throws is the host's affair, and others are told", async (t) => {
  const backend = new StateBackend({ files: {} });
  const provider = fileSystemProvider(backend, vscode);
  const thrown = [];
  const later = globalThis.queueMicrotask;
  t.mock.method(globalThis, "queueMicrotask", (run) =>
    later(() => {
      try {
        run();
      } catch (error) {
        thrown.push(error.message);
      }
    }),
  );
  provider.onDidChangeFile(() => {
    throw new Error("a listener's own");
  });
  const told = new Promise((resolve) => provider.onDidChangeFile(resolve));
  provider.watch(uri("/"), { recursive: true, excludes: [] });
  await createFs(backend).promises.writeFile("/a", "x");
  assert.equal((await told)[0].uri.path, "/a");
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(thrown, ["a listener's own"]);
});

test("where nobody knows what has changed, all that VS Code knows is told", async () => {
  const inner = new StateBackend({ files: { "/w/a": "1", "/w/b": "2", "/x": "3" } });
  let tell;
  const backend = new Proxy(inner, {
    get: (target, name) => {
      if (name === "watch") {
        return (_path, hear) => {
          tell = hear;
          return () => {};
        };
      }
      const value = target[name];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const editor = await editorOf(backend);
  await editor.list("/w");
  const { all: told, until } = heard(editor);
  editor.watch("/w");
  await new Promise((resolve) => setTimeout(resolve, 20));
  inner.delete("/w/b");
  tell({ paths: [], rescan: true });
  await until(["~/w", "~/w/a", "-/w/b"]);
  assert.equal(told.length, 3);
});

test("what an extension requires is one program with what it requires for fs", async () => {
  const require = createRequire(new URL("../deps/newest/package.json", import.meta.url));
  const [one, other] = [require("kitbag/vscode"), require("kitbag/fs")];
  assert.deepEqual(
    [Object.keys(one), Object.keys(other).slice(0, 1)],
    [["fileSystemProvider"], ["createFs"]],
  );
  const backend = new StateBackend({ files: {} });
  const provider = one.fileSystemProvider(backend, vscode);
  const told = new Promise((resolve) => provider.onDidChangeFile(resolve));
  provider.watch(uri("/"), { recursive: true, excludes: [] });
  await other.createFs(backend).promises.mkdir("/d");
  assert.deepEqual(
    (await told).map(({ type, uri: { path } }) => [type, path]),
    [[2, "/d"]],
  );
  assert.deepEqual(await provider.readDirectory(uri("/")), [["d", 2]]);
});

test("a thousand changes at once are all told", async () => {
  const backend = new StateBackend({ files: {} });
  const editor = await editorOf(backend);
  const { all: told, until } = heard(editor);
  editor.watch("/");
  await new Promise((resolve) => setTimeout(resolve, 20));
  const paths = Array.from({ length: 1000 }, (_, at) => `/d${at % 10}/f${at}`);
  const agent = createFs(backend).promises;
  await Promise.all(Array.from({ length: 10 }, (_, at) => agent.mkdir(`/d${at}`)));
  await Promise.all(paths.map((path) => agent.writeFile(path, "x")));
  await until(paths.map((path) => `+${path}`));
  assert.equal(new Set(told).size, told.length, "each once");
});

test("files that cannot be changed are shown so, and each change is refused", async () => {
  const inner = new StateBackend({ files: { "/d/a.txt": "1" } });
  const editor = await editorOf(withPolicy(inner, { readOnly: true }));
  assert.equal(editor.provider.isReadonly, true);
  assert.equal((await editor.provider.stat(uri("/d/a.txt"))).permissions, 1);
  assert.equal((await editor.stat("/d/a.txt")).readonly, true);
  assert.equal((await editor.open("/d/a.txt")).text, "1");
  const { provider } = editor;
  for (const attempt of [
    () => provider.writeFile(uri("/d/a.txt"), utf8("x"), all),
    () => provider.writeFile(uri("/b"), utf8("x"), fresh),
    () => provider.createDirectory(uri("/e")),
    () => provider.delete(uri("/d"), { recursive: true }),
    () => provider.rename(uri("/d/a.txt"), uri("/b"), over),
    () => provider.copy(uri("/d/a.txt"), uri("/b"), over),
  ]) {
    assert.equal((await failure(attempt())).code, "NoPermissions");
  }
  await refused(editor.save("/d/a.txt", "x"), "FILE_PERMISSION_DENIED");
  assert.equal(inner.read("/d/a.txt").content, "1");
});

test("a replacement that is refused leaves what was to be replaced", async () => {
  const files = { "/fixed/s/a": "1", "/fixed/f": "2", "/open/d/b": "3", "/open/f": "4" };
  const inner = new StateBackend({ files });
  const permissions = [{ operations: ["read", "write"], paths: ["/fixed/**"], mode: "deny" }];
  const provider = fileSystemProvider(withPolicy(inner, { permissions }), vscode);
  const hidden = fileSystemProvider(
    withPolicy(inner, { permissions: [{ ...permissions[0], operations: ["write"] }] }),
    vscode,
  );
  for (const attempt of [
    (p) => p.rename(uri("/fixed/s"), uri("/open/d"), over),
    (p) => p.rename(uri("/fixed/f"), uri("/open/d"), over),
    (p) => p.rename(uri("/fixed/s"), uri("/open/f"), over),
    (p) => p.rename(uri("/fixed/f"), uri("/open/f"), over),
    (p) => p.copy(uri("/open/f"), uri("/fixed/s"), over),
    (p) => p.copy(uri("/open/d"), uri("/fixed/s"), over),
  ]) {
    for (const one of [provider, hidden]) {
      assert.equal((await failure(attempt(one)))?.code, "NoPermissions", `${attempt}`);
      const left = Object.entries(inner.snapshot()).map(([path, { content }]) => [path, content]);
      assert.deepEqual(Object.fromEntries(left), files, `${attempt}`);
    }
  }
});

test("a rule's reason is in the error of a save", async () => {
  const inner = new StateBackend({ files: { "/fixed/a.txt": "1", "/open/b.txt": "2" } });
  const permissions = [{ operations: ["write"], paths: ["/fixed/**"], mode: "deny" }];
  const editor = await editorOf(withPolicy(inner, { permissions }));
  assert.equal(editor.provider.isReadonly, false);
  const opened = await editor.open("/fixed/a.txt");
  const said = await refused(editor.save("/fixed/a.txt", "22", opened), "FILE_PERMISSION_DENIED");
  assert.match(said, /\/fixed\/a\.txt.*(rule|permission|denied)/i);
  await editor.save("/open/b.txt", "33", await editor.open("/open/b.txt"));
  assert.equal(inner.read("/open/b.txt").content, "33");
});

test("several backends are one tree", async () => {
  const parts = [new StateBackend({ files: { "/a": "1" } }), new StateBackend({ files: {} })];
  const editor = await editorOf(new CompositeBackend(parts[0], { "/memories/": parts[1] }));
  await editor.save("/memories/m.txt", "kept");
  await editor.rename("/a", "/memories/a");
  assert.deepEqual(Object.keys(parts[1].snapshot()), ["/a", "/m.txt"]);
  assert.deepEqual(await editor.list("/memories"), ["a", "m.txt"]);
});

test("wrong arguments are named", () => {
  const backend = new StateBackend();
  for (const wrong of [undefined, null, "x", 1]) {
    assert.throws(
      () => fileSystemProvider(wrong, vscode),
      /fileSystemProvider: the first argument/,
    );
  }
  for (const wrong of [undefined, null, {}, { FileSystemError: Error }]) {
    assert.throws(
      () => fileSystemProvider(backend, wrong),
      /fileSystemProvider: the second argument/,
    );
  }
  assert.throws(
    () => fileSystemProvider({ ls() {} }, vscode),
    /fileSystemProvider: the backend must/,
  );
});
