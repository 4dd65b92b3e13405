// `kitbag/mastra` with the package of Mastra: the cases that its own suite for file systems has, its tools
// with and without the search of a backend, an agent with its mock of a model, conditions and rules.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent } from "@mastra/core/agent";
import { MastraLanguageModelV2Mock } from "@mastra/core/test-utils/llm-mock";
import * as mastra from "@mastra/core/workspace";
import { begin, StateBackend, withPolicy } from "kitbag";
import { withIndex } from "kitbag/indexed";
import { workspaceFilesystem } from "kitbag/mastra";
import { BACKENDS, dice, failure } from "./lib.mjs";

const utf8 = { encoding: "utf-8" };
const text = (files, path) => files.readFile(path, utf8);

/** What Mastra asks of every file system, by what it is about. */
const CASES = {
  "a text": async (files) => {
    await files.writeFile("/t/text.txt", "Hello");
    assert.equal(await text(files, "/t/text.txt"), "Hello");
  },
  "bytes, as a Buffer": async (files) => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, at) => at));
    await files.writeFile("/t/b.bin", bytes);
    const read = await files.readFile("/t/b.bin");
    assert.ok(Buffer.isBuffer(read) && read.equals(bytes));
  },
  "directories above a file": async (files) => {
    await files.writeFile("/t/nested/deep/a.txt", "x", { recursive: true });
    assert.equal((await files.stat("/t/nested/deep")).type, "directory");
  },
  "no directories above it": async (files) => {
    const error = await failure(files.writeFile("/no/a.txt", "x", { recursive: false }));
    assert.ok(error instanceof mastra.DirectoryNotFoundError, error);
    assert.equal(error.path, "/no");
  },
  "a replaced file": async (files) => {
    await files.writeFile("/t/a", "1");
    await files.writeFile("/t/a", "2");
    assert.equal(await text(files, "/t/a"), "2");
  },
  "a file that is not replaced": async (files) => {
    await files.writeFile("/t/a", "1");
    const error = await failure(files.writeFile("/t/a", "2", { overwrite: false }));
    assert.ok(error instanceof mastra.FileExistsError, error);
    assert.equal(await text(files, "/t/a"), "1");
  },
  "no content, and all scripts": async (files) => {
    for (const content of ["", "你好 🌍 مرحبا äöü"]) {
      await files.writeFile("/t/a", content);
      assert.equal(await text(files, "/t/a"), content);
    }
  },
  "an addition, also to nothing": async (files) => {
    await files.appendFile("/t/log", "Hello");
    await files.appendFile("/t/log", ", World");
    assert.equal(await text(files, "/t/log"), "Hello, World");
  },
  "a deletion": async (files) => {
    await files.writeFile("/t/a", "1");
    await files.deleteFile("/t/a");
    assert.equal(await files.exists("/t/a"), false);
    assert.ok((await failure(files.deleteFile("/t/a"))) instanceof mastra.FileNotFoundError);
    await files.deleteFile("/t/a", { force: true });
    await files.mkdir("/t/dir");
    assert.ok((await failure(files.deleteFile("/t/dir"))) instanceof mastra.IsDirectoryError);
  },
  "a copy": async (files) => {
    await files.writeFile("/t/a", "1");
    await files.copyFile("/t/a", "/t/new/b");
    assert.deepEqual([await text(files, "/t/a"), await text(files, "/t/new/b")], ["1", "1"]);
    await files.writeFile("/t/c", "3");
    const error = await failure(files.copyFile("/t/a", "/t/c", { overwrite: false }));
    assert.ok(error instanceof mastra.FileExistsError);
    await files.copyFile("/t/a", "/t/c", { overwrite: true });
    assert.equal(await text(files, "/t/c"), "1");
    assert.ok((await failure(files.copyFile("/t/no", "/t/d"))) instanceof mastra.FileNotFoundError);
  },
  "a copy of a directory": async (files) => {
    await files.writeFile("/t/d/a", "1");
    assert.ok((await failure(files.copyFile("/t/d", "/t/e"))) instanceof mastra.IsDirectoryError);
    await files.copyFile("/t/d", "/t/e", { recursive: true });
    assert.equal(await text(files, "/t/e/a"), "1");
  },
  "a move": async (files) => {
    await files.writeFile("/t/one/a", "1");
    await files.moveFile("/t/one/a", "/t/two/b");
    assert.equal(await files.exists("/t/one/a"), false);
    assert.equal(await text(files, "/t/two/b"), "1");
    await files.writeFile("/t/c", "3");
    const error = await failure(files.moveFile("/t/c", "/t/two/b", { overwrite: false }));
    assert.ok(error instanceof mastra.FileExistsError);
    await files.moveFile("/t/two", "/t/three/four");
    assert.equal(await text(files, "/t/three/four/b"), "1");
  },
  "a megabyte": async (files) => {
    const content = "0123456789abcde\n".repeat(65_536);
    await files.writeFile("/t/large.txt", content);
    assert.equal(await text(files, "/t/large.txt"), content);
  },
  directories: async (files) => {
    await files.mkdir("/t/a/b/c", { recursive: true });
    await files.mkdir("/t/a/b/c", { recursive: true });
    assert.equal((await files.stat("/t/a/b/c")).type, "directory");
    assert.deepEqual(await files.readdir("/t/a/b/c"), []);
    await files.writeFile("/t/file", "x");
    assert.ok((await failure(files.mkdir("/t/file"))) instanceof mastra.FileExistsError);
    const error = await failure(files.mkdir("/u/v", { recursive: false }));
    assert.ok(error instanceof mastra.DirectoryNotFoundError);
  },
  "a directory goes": async (files) => {
    await files.mkdir("/t/empty");
    await files.rmdir("/t/empty");
    assert.equal(await files.exists("/t/empty"), false);
    await files.writeFile("/t/full/sub/a", "1");
    const error = await failure(files.rmdir("/t/full"));
    assert.ok(error instanceof mastra.DirectoryNotEmptyError, error);
    await files.rmdir("/t/full", { recursive: true });
    assert.equal(await files.exists("/t/full"), false);
    assert.ok((await failure(files.rmdir("/t/no"))) instanceof mastra.DirectoryNotFoundError);
    await files.rmdir("/t/no", { force: true });
  },
  "a listing": async (files) => {
    await files.writeFile("/t/a.txt", "12");
    await files.writeFile("/t/b.md", "x");
    await files.mkdir("/t/sub");
    await files.writeFile("/t/sub/c.txt", "x");
    assert.deepEqual(await files.readdir("/t"), [
      { name: "a.txt", type: "file", size: 2 },
      { name: "b.md", type: "file", size: 1 },
      { name: "sub", type: "directory" },
    ]);
    const all = await files.readdir("/t", { recursive: true, extension: ".txt" });
    assert.deepEqual(
      all.map(({ name }) => name),
      ["a.txt", "sub", "sub/c.txt"],
    );
    assert.ok((await failure(files.readdir("/t/no"))) instanceof mastra.DirectoryNotFoundError);
    assert.ok((await failure(files.readdir("/t/a.txt"))) instanceof mastra.NotDirectoryError);
  },
  "what is at a path": async (files) => {
    const before = Date.now();
    await files.writeFile("/t/a.txt", "Hello, stat!");
    const { name, path, type, size, createdAt, modifiedAt } = await files.stat("t/a.txt");
    assert.deepEqual([name, path, type, size], ["a.txt", "/t/a.txt", "file", 12]);
    assert.ok(createdAt instanceof Date && modifiedAt.getTime() >= before - 1000);
    assert.deepEqual([await files.exists("/t/a.txt"), await files.exists("/t/b")], [true, false]);
    assert.ok((await failure(files.stat("/t/b"))) instanceof mastra.FileNotFoundError);
    assert.equal(await files.realpath("./t//a.txt"), "/t/a.txt");
  },
  "what is missing, and what is no file": async (files) => {
    assert.ok((await failure(files.readFile("/t/no"))) instanceof mastra.FileNotFoundError);
    await files.mkdir("/t/dir");
    assert.ok((await failure(files.readFile("/t/dir"))) instanceof mastra.IsDirectoryError);
  },
  "a walk": async (files) => {
    await files.mkdir("/t/a/empty");
    for (const path of ["/t/a/b/c.txt", "/t/.git/config", "/t/z.txt"])
      await files.writeFile(path, "1");
    const walked = async (how) =>
      (await files.walk("/t", how)).map(({ path, type }) => [path, type[0]]);
    const shown = [
      ["a", "d"],
      ["a/b", "d"],
      ["a/b/c.txt", "f"],
      ["a/empty", "d"],
      ["z.txt", "f"],
    ];
    assert.deepEqual(await walked(), shown);
    assert.deepEqual(await walked({ maxDepth: 1 }), [
      ["a", "d"],
      ["z.txt", "f"],
    ]);
    assert.equal((await walked({ includeHidden: true })).length, 7);
    assert.ok((await failure(files.walk("/t/no"))) instanceof mastra.DirectoryNotFoundError);
  },
  "its life": async (files) => {
    assert.equal(files.status, "ready");
    for (const field of ["id", "name", "provider"]) assert.equal(typeof files[field], "string");
    assert.equal(files.readOnly, false);
    assert.equal(files.getInfo().id, files.id);
    assert.match(files.getInstructions(), /root/);
    await mastra.callLifecycle(files, "init");
    await mastra.callLifecycle(files, "destroy");
  },
};

for (const [kind, make] of Object.entries(BACKENDS)) {
  for (const [name, run] of Object.entries(CASES)) {
    test(`${kind}: ${name}`, async (t) => run(workspaceFilesystem(await make(t))));
  }
}

test("read-only: by the option, or as the backend says; reads work", async () => {
  const make = () => new StateBackend({ files: { "/a": "1" } });
  for (const files of [
    workspaceFilesystem(make(), { readOnly: true }),
    workspaceFilesystem(withPolicy(make(), { readOnly: true })),
  ]) {
    assert.equal(files.readOnly, true);
    for (const attempt of [
      files.writeFile("/b", "x"),
      files.appendFile("/a", "x"),
      files.deleteFile("/a"),
      files.mkdir("/d"),
      files.rmdir("/d", { force: true }),
      files.copyFile("/a", "/b"),
      files.moveFile("/a", "/b"),
    ]) {
      assert.ok((await failure(attempt)) instanceof mastra.PermissionError);
    }
    assert.equal(await text(files, "/a"), "1");
    assert.ok((await failure(files.readFile("/no"))) instanceof mastra.FileNotFoundError);
    assert.equal((await files.readdir("/")).length, 1);
  }
});

test("a rule's reason is in the error", async () => {
  const inner = new StateBackend({ files: { "/secret/key": "k" } });
  const permissions = [{ operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" }];
  const files = workspaceFilesystem(withPolicy(inner, { permissions }));
  const error = await failure(files.readFile("/secret/key"));
  assert.ok(error instanceof mastra.PermissionError);
  assert.match(error.message, /\/secret\/key.*permission denied for read/);
});

for (const [kind, make] of Object.entries(BACKENDS)) {
  test(`${kind}: expectedMtime refuses a write over a newer file`, async (t) => {
    const backend = await make(t);
    const files = workspaceFilesystem(backend);
    await files.writeFile("/a", "1");
    const { modifiedAt } = await files.stat("/a");
    await files.writeFile("/a", "2", { expectedMtime: modifiedAt });
    assert.equal(await text(files, "/a"), "2");
    const old = new Date(modifiedAt.getTime() - 1000);
    const error = await failure(files.writeFile("/a", "3", { expectedMtime: old }));
    assert.ok(error instanceof mastra.StaleFileError, error);
    assert.equal(error.expectedMtime.getTime(), old.getTime());
    assert.equal(await text(files, "/a"), "2");
    // As Mastra's own: without a file there is nothing to be newer.
    await files.writeFile("/new", "1", { expectedMtime: old });
    assert.equal(await text(files, "/new"), "1");
  });
}

test("of 20 writes at once over one reading, one is made", async () => {
  const files = workspaceFilesystem(new StateBackend({ files: { "/a": "start" } }));
  const { modifiedAt } = await files.stat("/a");
  const writes = Array.from({ length: 20 }, (_, at) =>
    failure(files.writeFile("/a", `writer ${at}`, { expectedMtime: modifiedAt })),
  );
  const errors = await Promise.all(writes);
  assert.equal(errors.filter((error) => error === undefined).length, 1);
  assert.ok(errors.every((error) => !error || error instanceof mastra.StaleFileError));
});

/** Mastra's tools over a file system. */
async function toolsOf(filesystem) {
  const workspace = new mastra.Workspace({ filesystem });
  const tools = await mastra.createWorkspaceTools(workspace);
  return (name, input) => tools[`mastra_workspace_${name}`].execute(input, { workspace });
}

const PATTERNS = [
  ...[
    "one",
    "o.e",
    "^one",
    "e$",
    "\\bone\\b",
    "\\w+\\d",
    "[a-c]+x?",
    "(?:one|two)\\s+\\S",
    "\\d{2,3}",
  ],
  ...[
    "[^a-z]$",
    "é",
    "\\u00e9",
    "\\x6f",
    "a\\.b",
    "{",
    "}",
    "a{,2}",
    "]",
    "\\/",
    "(?<n>o)ne",
    "one.*?two",
  ],
  ...[
    "(?=one)",
    "(o)\\1",
    "\\p{L}",
    "[[:alpha:]]",
    "\\Bne",
    "[\\w-]+",
    "[a-]",
    "[&&]",
    "[~~a]",
    "\\a",
    "\\0",
  ],
  ...[
    "[\\b]",
    "[^\\s]x",
    "\\D\\W",
    "😀",
    "[😀]",
    ".",
    "",
    "$",
    "#",
    "a-b",
    "~",
    "\\ufeff",
    "one\\s",
  ],
];

test("Mastra's grep gives the same with the search of a backend as by reading every file", async () => {
  const roll = dice(7);
  const words = [
    "one",
    "two",
    "One",
    "a.b",
    "é",
    "😀",
    "x1",
    "42",
    "-",
    "&&",
    "~~",
    "]",
    "{",
    "K",
    "ſ",
    "\u2028",
  ];
  const line = () =>
    Array.from({ length: roll(6) }, () => words[roll(words.length)]).join(" \t".charAt(roll(2)));
  const content = () => Array.from({ length: roll(12) }, line).join(["\n", "\r\n"][roll(2)]);
  const entries = ["a.txt", "d/b.md", "d/e/c.ts", ".hid/d.txt", "f.bin"].map((name) => [
    `/${name}`,
    content(),
  ]);
  const backend = withIndex(new StateBackend({ files: Object.fromEntries(entries) }));
  await backend.update?.();
  const native = workspaceFilesystem(backend);
  let searches = 0;
  const counted = {
    ...native,
    grep: async (how) => {
      const found = await native.grep(how);
      searches += 1;
      return found;
    },
  };
  const [fast, slow] = [await toolsOf(counted), await toolsOf({ ...native, grep: undefined })];
  for (const pattern of PATTERNS) {
    for (const more of [
      {},
      { caseSensitive: false },
      { contextLines: 1 },
      { maxCount: 1 },
      { includeHidden: true },
      { path: "d" },
    ]) {
      const input = { pattern, path: ".", ...more };
      assert.equal(await fast("grep", input), await slow("grep", input), JSON.stringify(input));
    }
  }
  assert.ok(searches > PATTERNS.length * 3, `${searches} by the backend`);
});

test("hostile names are refused, and nothing is stored", async () => {
  const backend = new StateBackend({ files: { "/a": "1" } });
  const files = workspaceFilesystem(backend);
  for (const path of [
    "/a\\b",
    "/.kitbag/x",
    "~/x",
    "/a\nb",
    `/${"x".repeat(2000)}`,
    "a\0b",
    5,
    undefined,
  ]) {
    for (const attempt of [
      () => files.writeFile(path, "x"),
      () => files.appendFile(path, "x"),
      () => files.moveFile("/a", path),
      () => files.mkdir(path),
    ]) {
      assert.ok((await failure(attempt())) instanceof Error, String(path));
    }
  }
  assert.ok((await failure(files.writeFile("/b", { no: "content" }))) instanceof TypeError);
  assert.deepEqual(Object.keys(backend.snapshot()), ["/a"]);
});

test("a recursive listing ends after 100 levels, as Mastra's own", async () => {
  const files = workspaceFilesystem(
    new StateBackend({ files: { [`/${"d/".repeat(105)}a`]: "1" } }),
  );
  assert.equal((await files.readdir("/", { recursive: true })).length, 101);
  assert.equal((await files.readdir("/", { recursive: true, maxDepth: 200 })).length, 106);
});

test("options are checked", () => {
  const make = (options) => () => workspaceFilesystem(new StateBackend(), options);
  assert.throws(make({ readonly: true }), /workspaceFilesystem.*readOnly/);
  assert.throws(make({ readOnly: "yes" }), /option "readOnly" must be a boolean/);
  assert.throws(() => workspaceFilesystem(undefined), /first argument must be a backend/);
  assert.throws(
    () => workspaceFilesystem({ ls() {} }),
    /workspaceFilesystem: the backend must have/,
  );
  assert.match(
    workspaceFilesystem(new StateBackend(), { instructions: "Mind." }).getInstructions(),
    /^Mind/,
  );
});

test("an agent of Mastra works in a turn, whose commit brings its changes", async () => {
  const inner = new StateBackend({ files: { "/notes/todo.md": "# Todo\nbuy milk\n" } });
  const turn = begin(inner, { by: "agent-7" });
  const workspace = new mastra.Workspace({ filesystem: workspaceFilesystem(turn) });
  const script = [
    ["list_files", { path: "." }],
    ["read_file", { path: "notes/todo.md" }],
    ["edit_file", { path: "notes/todo.md", old_string: "milk", new_string: "bread" }],
    ["write_file", { path: "notes/done.md", content: "nothing yet\n" }],
    ["grep", { pattern: "bread|yet" }],
    ["delete", { path: "notes/done.md" }],
  ];
  const results = [];
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  let at = 0;
  const next = (prompt) => {
    const last = prompt.at(-1);
    if (last.role === "tool") results.push(JSON.stringify(last.content.at(-1).output));
    const call = script[at++];
    if (!call) return [{ type: "text", text: "done" }];
    const [name, input] = call;
    const toolName = `mastra_workspace_${name}`;
    return [{ type: "tool-call", toolCallId: `c${at}`, toolName, input: JSON.stringify(input) }];
  };
  const model = new MastraLanguageModelV2Mock({
    doGenerate: async ({ prompt }) => {
      const content = next(prompt);
      const finishReason = content[0].type === "text" ? "stop" : "tool-calls";
      return { content, finishReason, usage, warnings: [] };
    },
    doStream: async ({ prompt }) => {
      const [part] = next(prompt);
      const parts =
        part.type === "text"
          ? [
              { type: "text-start", id: "t" },
              { type: "text-delta", id: "t", delta: part.text },
              { type: "text-end", id: "t" },
            ]
          : [part];
      const finishReason = part.type === "text" ? "stop" : "tool-calls";
      return {
        stream: ReadableStream.from([
          { type: "stream-start", warnings: [] },
          ...parts,
          { type: "finish", finishReason, usage },
        ]),
      };
    },
  });
  const agent = new Agent({ id: "a", name: "a", instructions: "Work.", model, workspace });
  const { text: said } = await agent.generate("go", { maxSteps: 10 });
  assert.equal(said, "done");
  assert.equal(results.length, script.length);
  assert.match(results[0], /todo\.md/);
  assert.match(results[1], /buy milk/);
  assert.match(results[4], /todo\.md:2:5: buy bread/);
  assert.match(results[4], /done\.md:1:9: nothing yet/);
  assert.equal(inner.read("/notes/todo.md").content, "# Todo\nbuy milk\n");
  const { receipt } = await turn.commit();
  assert.deepEqual(
    receipt.files.map(({ path }) => path),
    ["/notes/todo.md"],
  );
  assert.equal(inner.read("/notes/todo.md").content, "# Todo\nbuy bread\n");
});
