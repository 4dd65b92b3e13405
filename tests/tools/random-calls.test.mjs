// Random tool calls through every adapter: whatever a model sends, and whatever the backend does, the
// adapter answers with text or blocks, and works afterwards.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { inspect } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { createFileTools, StateBackend } from "kitbag";
import { fileTools as aiTools } from "kitbag/ai";
import { fileTools as anthropicTools, memoryTool, textEditorTool } from "kitbag/anthropic";
import { bashExecute } from "kitbag/just-bash";
import { fileTools as langchainTools } from "kitbag/langchain";
import { registerFileTools } from "kitbag/mcp";
import { fileTools as openaiTools } from "kitbag/openai";

const require = createRequire(new URL("../deps/fuzz/package.json", import.meta.url));
const fc = require("fast-check");
const TIMES = Number(process.env.KITBAG_FUZZ ?? 1);

const NAMES = ["ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep", "none", ""];
const KEYS = [
  ...["path", "file_path", "content", "old_string", "new_string", "replace_all", "pattern"],
  ...["glob", "output_mode", "before", "after", "offset", "limit", "regex", "max_count", "x"],
];
const COMMANDS = ["view", "create", "str_replace", "insert", "delete", "rename", "none"];
const EDITOR = [
  ...["path", "old_path", "new_path", "file_text", "old_str", "new_str", "insert_line"],
  ...["insert_text", "view_range"],
];

const values = fc.oneof(
  fc.constantFrom("/a.txt", "/memories/a.md", "/memories/d", "/", "", "a", "content", "**/*", "[("),
  fc.constantFrom(0, 1, -1, 1e308, 0.5, true, false, null, "5", "true"),
  fc.constantFrom([1, 2], [0, -1], {}, ["a"]),
  fc.string({ unit: "grapheme", maxLength: 10 }),
);
const input = fc.oneof(
  { weight: 6, arbitrary: fc.dictionary(fc.constantFrom(...KEYS), values, { maxKeys: 6 }) },
  fc.constantFrom(null, undefined, 0, "text", "{", "[]", '{"path":"/"}', [], true),
);
const calls = fc.array(fc.record({ name: fc.constantFrom(...NAMES), input }), { maxLength: 8 });
const editorCalls = fc.array(
  fc
    .tuple(
      fc.constantFrom(...COMMANDS),
      fc.dictionary(fc.constantFrom(...EDITOR), values, { maxKeys: 5 }),
    )
    .map(([command, rest]) => ({ ...rest, command })),
  { maxLength: 8 },
);

const isText = (value) => typeof value === "string";
const isBlocks = (value) => Array.isArray(value) && value.every((one) => isText(one?.type));
const json = (value) => (isText(value) ? value : (JSON.stringify(value) ?? "undefined"));

/** For each adapter a function of a backend that makes one call and checks the form of its answer. */
const ADAPTERS = {
  createFileTools: (backend) => {
    const files = createFileTools(backend);
    return async ({ name, input }) => {
      const result = await files.call(name, input);
      assert.ok(isText(result.text) && isBlocks(result.content), inspect(result));
      const tool = files.tools.find((one) => one.name === name);
      if (tool) {
        const output = await tool.execute(input);
        assert.ok(isText(output) || isBlocks(output), inspect(output));
      }
    };
  },
  anthropicTools: (backend) => {
    const files = anthropicTools(backend);
    return async ({ name, input }) => {
      const use = { type: "tool_use", id: "1", name, input };
      const [result] = await files.run({ content: [use] });
      assert.equal(result.tool_use_id, "1");
      assert.ok(isBlocks(result.content) && typeof result.is_error === "boolean");
    };
  },
  "openaiTools, Chat Completions": (backend) => {
    const files = openaiTools(backend, { api: "chat" });
    return async ({ name, input }) => {
      const call = { id: "1", type: "function", function: { name, arguments: json(input) } };
      const [first] = await files.run({ tool_calls: [call] });
      assert.ok(first.role === "tool" && isText(first.content));
    };
  },
  "openaiTools, Responses": (backend) => {
    const files = openaiTools(backend);
    return async ({ name, input }) => {
      const call = { type: "function_call", call_id: "1", name, arguments: json(input) };
      const [first] = await files.run({ output: [call] });
      assert.ok(isText(first.output) || isBlocks(first.output));
    };
  },
  aiTools: (backend) => {
    const { tools } = aiTools(backend);
    return async ({ name, input }) => {
      const output = await tools[name]?.execute(input, { toolCallId: "1", messages: [] });
      if (tools[name]) assert.ok(isText(output) || isBlocks(output), inspect(output));
    };
  },
  "fileTools of LangChain": (backend) => {
    const { tools } = langchainTools(backend);
    return async ({ name, input }) => {
      const tool = tools.find((one) => one.name === name);
      if (!tool) return;
      // LangChain itself gives tools nothing but objects.
      const args = Object.prototype.toString.call(input) === "[object Object]" ? input : {};
      const call = { type: "tool_call", id: "1", name, args };
      const message = await tool.invoke(call).catch((error) => {
        // LangChain compares the input with the tool's schema, before kitbag sees it.
        assert.match(String(error?.message), /did not match expected schema/, inspect(input));
      });
      if (message === undefined) return;
      assert.equal(message.tool_call_id, "1");
      assert.ok(isText(message.content) || isBlocks(message.content), inspect(message));
    };
  },
  registerFileTools: async (backend) => {
    const server = new McpServer({ name: "kitbag", version: "1" });
    registerFileTools(server, backend);
    const client = new Client({ name: "test", version: "1" });
    const [near, far] = InMemoryTransport.createLinkedPair();
    await Promise.all([server.connect(far), client.connect(near)]);
    /** An answer, or an error of the protocol: a failure inside kitbag would be neither. */
    const asked = async (request) => {
      try {
        return await request();
      } catch (error) {
        assert.ok(Number.isInteger(error?.code), inspect(error));
        return undefined;
      }
    };
    return async ({ name, input }) => {
      const answer = await asked(() => client.callTool({ name, arguments: input }));
      if (answer) assert.ok(isBlocks(answer.content), inspect(answer));
      const uri = `kitbag://${isText(input?.path) ? encodeURI(input.path) : "/a.txt"}`;
      const read = await asked(() => client.readResource({ uri }));
      if (read) assert.ok(read.contents.every(({ text, blob }) => isText(text ?? blob)));
    };
  },
};

const EDITORS = { memoryTool, textEditorTool };

/** A backend of which every third call fails. */
function failing(inner) {
  let calls = 0;
  return new Proxy(inner, {
    get(target, key) {
      const value = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      return async (...given) => {
        calls += 1;
        if (calls % 3 === 0) throw new Error("the backend failed");
        return value.apply(target, given);
      };
    },
  });
}

const BACKENDS = {
  "a StateBackend": () => new StateBackend({ writeMode: "overwrite", files: { "/a.txt": "a\n" } }),
  "a backend that fails": () => failing(new StateBackend({ files: { "/a.txt": "a\n" } })),
};

for (const [kind, make] of Object.entries(BACKENDS)) {
  for (const [name, adapt] of Object.entries(ADAPTERS)) {
    test(`${name} over ${kind} answers whatever a model sends`, async () => {
      const property = fc.asyncProperty(calls, async (all) => {
        const call = await adapt(make());
        for (const one of all) await call(one);
        await call({ name: "ls", input: { path: "/" } });
      });
      await fc.assert(property, { numRuns: 60 * TIMES, endOnFailure: TIMES === 1 });
    });
  }

  for (const [name, adapt] of Object.entries(EDITORS)) {
    test(`${name} over ${kind} answers whatever a model sends`, async () => {
      const property = fc.asyncProperty(editorCalls, async (all) => {
        const { run } = adapt(make());
        for (const one of [...all, null, 5, "view", {}]) {
          const { text, isError } = await run(one);
          assert.ok(isText(text) && typeof isError === "boolean", inspect(one));
        }
      });
      await fc.assert(property, { numRuns: 60 * TIMES, endOnFailure: TIMES === 1 });
    });
  }

  test(`bashExecute over ${kind} answers whatever a model sends`, async () => {
    const words = fc.constantFrom(
      ...["ls", "cat", "/a.txt", ">", ">>", "|", "mv", "cp -r", "/b", "rm -rf", "*", "$(", ")"],
      ...["'", '"', "echo x", "&&", ";", "\n", "for f in *;", "do", "done", "<", "../..", "grep a"],
    );
    const commands = fc.array(words, { maxLength: 8 }).map((all) => all.join(" "));
    const property = fc.asyncProperty(fc.array(commands, { maxLength: 3 }), async (all) => {
      const execute = bashExecute(make());
      for (const command of all) {
        const { output, exitCode } = await execute(command);
        assert.ok(isText(output) && Number.isInteger(exitCode), command);
      }
    });
    await fc.assert(property, { numRuns: 20 * TIMES, endOnFailure: TIMES === 1 });
  });
}
