// A policy in the options of a tool set lasts as long as the tool set, also over a factory that
// makes a new backend for every call.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { CustomBackend, createFileTools, StateBackend } from "kitbag";
import { kitbagMiddleware, stateBackend } from "kitbag/langchain";
import { registerFileTools } from "kitbag/mcp";
import { createAgent } from "langchain";
import { answersOf } from "../lib/model.mjs";
import { ScriptedModel } from "./model.mjs";

const HOUR = 3_600_000;

/** A factory of backends over one memory, each of them new. */
function views() {
  const files = new Map();
  const storage = {
    get: async (path) => files.get(path) ?? null,
    put: async (path, file) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      files.set(path, { content: file.content });
    },
    delete: async (path) => files.delete(path),
    list: async (prefix) =>
      [...files]
        .filter(([path]) => path.startsWith(prefix))
        .map(([path, { content }]) => ({ path, size: content.length })),
  };
  return { files, factory: async () => new CustomBackend(storage) };
}

test("a rate over a factory counts", async () => {
  const { factory, files } = views();
  const { call } = createFileTools(factory, {
    policy: { rateLimit: { write: { operations: 3, perMs: HOUR } } },
  });
  const said = [];
  for (let at = 0; at < 6; at++) {
    said.push(await call("write_file", { file_path: `/f${at}`, content: "x" }));
  }
  assert.deepEqual(
    said.map((one) => one.isError),
    [false, false, false, true, true, true],
  );
  assert.match(said[3].text, /Too many operations/);
  assert.equal(files.size, 3);
});

test("a quota over a factory holds for calls made at once", async () => {
  const { factory, files } = views();
  const { call } = createFileTools(factory, { policy: { quota: { maxBytes: 50 } } });
  const said = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      call("write_file", { file_path: `/f${at}`, content: "1234567890" }),
    ),
  );
  assert.equal(said.filter((one) => !one.isError).length, 5);
  assert.equal(files.size, 5);
});

test("inside a graph: one rate for all calls of an agent over its state", async () => {
  const agent = createAgent({
    model: new ScriptedModel(() =>
      Array.from({ length: 5 }, (_, at) => [["write_file", { file_path: `/f${at}`, content: "" }]]),
    ),
    tools: [],
    middleware: [
      kitbagMiddleware(stateBackend(), {
        policy: { rateLimit: { write: { operations: 2, perMs: HOUR } } },
      }),
    ],
  });
  const state = await agent.invoke({ messages: [["user", "go"]] }, { recursionLimit: 50 });
  assert.deepEqual(Object.keys(state.files).sort(), ["/f0", "/f1"]);
  assert.equal(answersOf(state).filter((text) => /Too many operations/.test(text)).length, 3);
});

test("over MCP tools and resources count together", async () => {
  const memory = new StateBackend({ files: { "/a": "x" } });
  for (const backend of [memory, () => memory, () => new StateBackend({ files: { "/a": "x" } })]) {
    const server = new McpServer({ name: "kitbag", version: "1" });
    registerFileTools(server, backend, { policy: { rateLimit: { operations: 12, perMs: HOUR } } });
    const client = new Client({ name: "test", version: "1" });
    const [near, far] = InMemoryTransport.createLinkedPair();
    await Promise.all([server.connect(far), client.connect(near)]);
    const list = () => client.callTool({ name: "ls", arguments: { path: "/" } });
    const resource = () => client.readResource({ uri: "kitbag:///a" });
    for (let turn = 0; turn < 6; turn++) {
      assert.equal((await list()).isError, false);
      assert.equal((await resource()).contents[0].text, "x");
    }
    assert.match((await list()).content[0].text, /Too many operations/);
    await assert.rejects(resource(), /Too many operations/);
    await client.close();
  }
});

test("a wrong policy is refused when the tools are made, not at a call", () => {
  assert.throws(
    () => createFileTools(() => new StateBackend(), { policy: { rateLimit: 7 } }),
    /rateLimit/,
  );
});
