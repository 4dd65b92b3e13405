// Messages that a developer or a model reads first: each says what was given, what is allowed, and what
// to write. A table of mistakes, with words of all three.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import * as kitbag from "../lib/kitbag.mjs";

const { StateBackend, PostgresBackend, createFileTools, withPolicy } = kitbag;
const folder = mkdtempSync(join(tmpdir(), "kitbag-messages-"));
mkdirSync(join(folder, "d"));
after(() => rmSync(folder, { recursive: true, force: true }));

const state = () => new StateBackend({ files: { "/d/a.txt": "x", "/b.txt": "y" } });
const disk = () => new kitbag.FilesystemBackend({ rootDir: folder });
const allowing = (operations) => () =>
  withPolicy(state(), { permissions: [{ operations, paths: ["/**"] }] });
const query = () => [];

/** The message of what is thrown, or `error` of the result. */
async function said(make) {
  try {
    const { error, text } = (await make()) ?? {};
    return error ?? text;
  } catch (error) {
    assert.ok(error instanceof TypeError, String(error));
    return error.message;
  }
}

const tool = (name, input, backend = state(), options) =>
  createFileTools(backend, options).call(name, input);

const MESSAGES = {
  // A client that kitbag does not make.
  "PostgresBackend with an address": [
    () => new PostgresBackend({ url: "postgres://ann:secret@host/db" }),
    ['"client" or "query" is missing among "url"', "new Pool({ connectionString })", "query: (sql"],
  ],
  "PostgresBackend with the option of pg": [
    () => new PostgresBackend({ connectionString: "postgres://ann:secret@host/db" }),
    ['missing among "connectionString"', "connect first", "new Pool({ connectionString })"],
  ],
  "PostgresBackend with a pool": [
    () => new PostgresBackend({ pool: { query }, namespace: "ann" }),
    ['missing among "pool", "namespace"', "{ client: new Pool"],
  ],
  "PostgresBackend without anything": [
    () => new PostgresBackend({}),
    ["is missing; connect first"],
  ],
  "PostgresBackend without options": [() => new PostgresBackend(), ["is missing; connect first"]],
  "PostgresBackend with both": [
    () => new PostgresBackend({ client: { query }, query }),
    ['option "client" must be left out where there is a query'],
  ],
  "PostgresBackend with a client that is none": [
    () => new PostgresBackend({ client: {} }),
    ['option "client" has no method query(sql, params)', "pass a Pool of pg"],
  ],
  "S3Backend with an address alone": [
    () => new kitbag.S3Backend({ url: "https://host/bucket" }),
    ["is missing among", '"url"', 'it must be the region of the bucket, such as "us-east-1"'],
  ],
  "D1Backend with a name": [
    () => new kitbag.D1Backend({ name: "DB" }),
    ['option "database" is missing among "name"; it must be a D1 binding, such as env.DB'],
  ],
  // Content.
  "write of a number": [
    () => state().write("/x", 5),
    ["content must be a string or a Uint8Array, not a number", "pass JSON.stringify(content)"],
  ],
  "write of an object": [
    () => state().write("/x", { a: 1 }),
    ["a string or a Uint8Array, not an object", "JSON.stringify(content)"],
  ],
  "write of an array": [
    () => state().write("/x", [1]),
    ["not an array; pass JSON.stringify(content)"],
  ],
  "write of nothing": [() => state().write("/x"), ['not nothing; pass "" for an empty file']],
  "write of null": [() => state().write("/x", null), ['not null; pass "" for an empty file']],
  "write of a promise": [
    () => state().write("/x", Promise.resolve("x")),
    ["not a promise; await it first"],
  ],
  "write of a Blob": [
    () => state().write("/x", new Blob(["x"])),
    ["not an object; pass new Uint8Array(await content.arrayBuffer()) instead"],
  ],
  "write of a boolean, to a folder": [
    () => disk().write("/x", true),
    ["a string or a Uint8Array, not a boolean", "JSON.stringify"],
  ],
  "write of a number, behind a policy": [
    () => withPolicy(state(), {}).write("/x", 5),
    ["a string or a Uint8Array, not a number"],
  ],
  "append of a number": [
    () => state().append("/b.txt", 5),
    ["a string or a Uint8Array, not a number", "JSON.stringify(content)"],
  ],
  "write of a text with ifAbsent": [
    () => state().write("/x", "x", { ifAbsent: true }),
    ["content must be a Uint8Array with the option ifAbsent, not a string", "TextEncoder"],
  ],
  // Operations of a permission.
  "operations with edit": [
    allowing(["edit"]),
    [
      'permissions[0]: option "operations"',
      '"read" or "write"',
      'not "edit"',
      'write "write", which covers edit',
    ],
  ],
  "operations with ls": [allowing(["write", "ls"]), ['not "ls"; write "read", which covers ls']],
  "operations with uploadFiles": [
    allowing(["uploadFiles"]),
    ['write "write", which covers uploadFiles'],
  ],
  "operations with downloadFiles": [
    allowing(["downloadFiles"]),
    ['"read", which covers downloadFiles'],
  ],
  "operations with execute": [allowing(["execute"]), ['not "execute"', "option allowExecute"]],
  "operations with a word": [
    allowing(["update"]),
    ['must have "read" or "write" in it, not "update"'],
  ],
  "operations with a number": [allowing([1]), ['must have "read" or "write" in it, not a number']],
  "operations as a text": [
    allowing("write"),
    ['must be an array of "read", "write" or both, such as ["write"], not a string'],
  ],
  "operations that are empty": [allowing([]), ['"operations" is empty', 'such as ["write"]']],
  "operations that are missing": [
    () => withPolicy(state(), { permissions: [{ paths: ["/**"] }] }),
    ['"operations" is missing', 'an array of "read", "write" or both'],
  ],
  // Directories.
  "read of a folder": [
    () => disk().read("/d"),
    ["'/d' is a directory, not a file", "List it with ls"],
  ],
  "readRaw of a folder": [() => disk().readRaw("/d"), ["is a directory, not a file", "ls"]],
  "edit of a folder": [() => disk().edit("/d", "a", "b"), ["is a directory, not a file", "ls"]],
  "write onto a folder": [
    () => disk().write("/d", "x"),
    ["is a directory, so no file can be stored there", "Choose another path"],
  ],
  "read_file of a directory": [
    () => tool("read_file", { file_path: "/d" }),
    ["Error: '/d' is a directory, not a file. List it with ls, or name a file below it."],
  ],
  "read_file of a directory, without a read before an edit": [
    () => tool("read_file", { file_path: "/d/" }, state(), { requireReadBeforeEdit: false }),
    ["Error: '/d' is a directory, not a file. List it with ls"],
  ],
  "edit_file of a directory": [
    () => tool("edit_file", { file_path: "/d", old_string: "a", new_string: "b" }),
    ["Error: '/d' is a directory, not a file. List it with ls"],
  ],
  "append_file of a directory": [
    () => tool("append_file", { file_path: "/d", content: "a" }, state(), { tools: "all" }),
    ["Error: '/d' is a directory, not a file. List it with ls"],
  ],
  "read_file of what is not there": [
    () => tool("read_file", { file_path: "/none" }),
    ["Error: File '/none' not found"],
  ],
  "read_file of a hidden directory": [
    () =>
      tool("read_file", { file_path: "/d" }, state(), {
        permissions: [{ operations: ["read"], paths: ["/d/**"], mode: "deny" }],
      }),
    ["permission denied for read on /d"],
  ],
  // No shell.
  "execute without a shell": [
    () => tool("execute", { command: "ls" }),
    ["'execute' is not available here: these files have no shell", "The tools are: ls, read_file"],
  ],
  "execute without a shell, where it is named": [
    () => tool("execute", { command: "ls" }, state(), { tools: ["ls", "execute"] }),
    ["these files have no shell", "The tools are: ls."],
  ],
  "execute behind a function": [
    () => tool("execute", { command: "ls" }, () => state(), { tools: ["ls", "execute"] }),
    ["these files have no shell", "The tools are: ls."],
  ],
  "a tool that was left out": [
    () => tool("grep", { pattern: "x" }, state(), { tools: ["ls"] }),
    ["The tool 'grep' is not available here. The tools are: ls."],
  ],
};

for (const [name, [make, words]] of Object.entries(MESSAGES)) {
  test(`${name}: says what was given, what is allowed, what to write`, async () => {
    const message = await said(make);
    for (const word of words) assert.ok(message.includes(word), `${word}\nis not in\n${message}`);
    assert.doesNotMatch(message, /secret|undefined|\[object/);
  });
}
