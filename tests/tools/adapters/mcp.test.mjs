// kitbag/mcp with the SDK's own client: in memory, and over the standard input and output of kitbag-mcp.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { begin, CompositeBackend, StateBackend, withPolicy } from "kitbag";
import { registerFileTools } from "kitbag/mcp";
import { Script } from "../cases/script.mjs";
import { SMALL_TASK } from "../cases/task.mjs";
import { converse } from "../drivers/mcp.mjs";

async function play(client) {
  const script = new Script(SMALL_TASK);
  await converse(client, script);
  script.finished("done");
  assert.deepEqual(script.faults, []);
}

test("in memory: an empty tree, pictures, resources", async () => {
  const backend = new StateBackend({
    files: { "/a é.txt": "hello", "/p.png": new Uint8Array([1]) },
  });
  const server = new McpServer({ name: "kitbag", version: "1" });
  registerFileTools(server, backend);
  const client = new Client({ name: "test", version: "1" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map((tool) => tool.name),
    ["ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep"],
  );
  await play(client);
  const { content } = await client.callTool({
    name: "read_file",
    arguments: { file_path: "/p.png" },
  });
  assert.deepEqual(content[1], { type: "image", data: "AQ==", mimeType: "image/png" });
  const { resources } = await client.listResources();
  const named = resources.find((one) => one.name === "/a é.txt");
  const { contents } = await client.readResource({ uri: named.uri });
  assert.equal(contents[0].text, "hello");
  const picture = resources.find((one) => one.name === "/p.png");
  assert.equal((await client.readResource({ uri: picture.uri })).contents[0].blob, "AQ==");
  await assert.rejects(client.readResource({ uri: "kitbag:///none" }), /not found/);
  const wrong = await client.callTool({ name: "rm", arguments: {} });
  assert.equal(wrong.isError, true);
  await client.close();
});

test("every tool has a title of its own, and hints that fit what it does", async () => {
  const server = new McpServer({ name: "kitbag", version: "1" });
  registerFileTools(server, new StateBackend(), { tools: "all" });
  const client = new Client({ name: "test", version: "1" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  const { tools } = await client.listTools();
  const offered = ["ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep"];
  offered.push("move_file", "copy_file", "append_file");
  assert.deepEqual(tools.map(({ name }) => name).sort(), offered.sort());
  const titles = tools.map(({ annotations }) => annotations.title);
  assert.equal(new Set(titles).size, tools.length);
  for (const { name, annotations } of tools) {
    assert.match(annotations.title, /^[A-Z][a-z ]+$/, name);
    const reads = ["ls", "read_file", "glob", "grep"].includes(name);
    assert.deepEqual(
      annotations,
      {
        title: annotations.title,
        readOnlyHint: reads,
        destructiveHint: !reads && !["write_file", "append_file"].includes(name),
        idempotentHint: reads || name === "delete",
        openWorldHint: false,
      },
      name,
    );
  }
  await client.close();
});

/** The hints about write_file over a backend. */
async function hintsOf(backend, options) {
  const server = new McpServer({ name: "kitbag", version: "1" });
  registerFileTools(server, backend, options);
  const client = new Client({ name: "test", version: "1" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  const { tools } = await client.listTools();
  await client.close();
  return tools.find(({ name }) => name === "write_file").annotations;
}

const overwriting = () => new StateBackend({ writeMode: "overwrite" });
const stranger = {
  ...{ ls: () => ({ files: [] }), read: () => ({ content: "" }), grep: () => ({ matches: [] }) },
  ...{ glob: () => ({ files: [] }), write: () => ({}), edit: () => ({}) },
};
const roots = () => undefined;
for (const [what, backend, destroys, options] of [
  ["a backend that creates", () => new StateBackend(), false],
  ["a backend that overwrites", overwriting, true],
  [
    "a policy over one that overwrites",
    () => withPolicy(overwriting(), { quota: { maxFileBytes: 100 } }),
    true,
  ],
  [
    "a router with one part that overwrites",
    () => new CompositeBackend(new StateBackend(), { "/over/": overwriting() }),
    true,
  ],
  ["a turn that creates, over one that overwrites", () => begin(overwriting()), false],
  ["a turn that overwrites", () => begin(overwriting(), { writeMode: "overwrite" }), true],
  ["an object of another library", () => stranger, true],
  ["a function that returns a backend", () => () => new StateBackend(), true],
  ["a backend that creates, within roots", () => new StateBackend(), false, { roots }],
  ["a backend that overwrites, within roots", overwriting, true, { roots }],
]) {
  test(`write_file's destructiveHint is ${destroys} over ${what}`, async () => {
    const hints = await hintsOf(backend(), options);
    assert.equal(hints.destructiveHint, destroys);
    assert.equal(hints.readOnlyHint, false);
  });
}

test("over stdio: kitbag-mcp on a folder", async () => {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-mcp-"));
  try {
    writeFileSync(join(folder, "here.txt"), "on disk\n");
    const bin = fileURLToPath(import.meta.resolve("kitbag/package.json")).replace(
      "package.json",
      "dist/kitbag-mcp.js",
    );
    const connect = async (...flags) => {
      const client = new Client({ name: "test", version: "1" });
      await client.connect(
        new StdioClientTransport({ command: process.execPath, args: [bin, folder, ...flags] }),
      );
      return client;
    };
    const client = await connect();
    await play(client);
    const read = await client.callTool({
      name: "read_file",
      arguments: { file_path: "/here.txt" },
    });
    assert.equal(read.content[0].text, "     1\ton disk");
    const out = await client.callTool({
      name: "read_file",
      arguments: { file_path: "/../etc/passwd" },
    });
    assert.equal(out.isError, true);
    await client.close();
    assert.equal(readFileSync(join(folder, "notes/b.md"), "utf8"), "x = 1\ny = 2\nx = 3\n");
    const guarded = await connect("--read-only");
    const write = await guarded.callTool({
      name: "write_file",
      arguments: { file_path: "/n", content: "" },
    });
    assert.equal(write.isError, true, write.content[0].text);
    await guarded.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
