// The option `ignore`: the tools of every adapter leave out what ignore files name and say how many
// files that were, as tools over `withIgnore(backend)` do.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { createFileTools, StateBackend } from "kitbag";
import { fileTools as aiTools } from "kitbag/ai";
import { fileTools as anthropicTools } from "kitbag/anthropic";
import { ignoreFiles, withIgnore } from "kitbag/ignore";
import { kitbagMiddleware, fileTools as langchainTools } from "kitbag/langchain";
import { registerFileTools } from "kitbag/mcp";
import { fileTools as openaiTools } from "kitbag/openai";

const RULES = { files: [".gitignore", ".kitbagignore"], patterns: ["*.log"] };
const FILES = {
  "/.gitignore": "node_modules/\n*.tmp\n",
  "/src/.kitbagignore": "!keep.tmp\n",
  "/src/a.ts": "needle\n",
  "/src/keep.tmp": "needle\n",
  "/src/b.tmp": "needle\n",
  "/node_modules/m/index.js": "needle\n",
  "/run.log": "needle\n",
  "/.env": "needle\n",
};
const backend = () => new StateBackend({ files: FILES, scope: "instance" });

/** How each adapter runs a tool; the text that the model gets. */
const ADAPTERS = {
  createFileTools: async (files, options, name, input) =>
    (await createFileTools(files, options).call(name, input)).text,
  langchainTools: (files, options, name, input) =>
    langchainTools(files, options)
      .tools.find((one) => one.name === name)
      .invoke(input),
  kitbagMiddleware: (files, options, name, input) =>
    kitbagMiddleware(files, options)
      .tools.find((one) => one.name === name)
      .invoke(input),
  aiTools: (files, options, name, input) =>
    aiTools(files, options).tools[name].execute(input, { toolCallId: "call_0", messages: [] }),
  anthropicTools: async (files, options, name, input) => {
    const use = { type: "tool_use", id: "call_0", name, input };
    return (await anthropicTools(files, options).run({ content: [use] }))[0].content[0].text;
  },
  openaiTools: async (files, options, name, input) => {
    const called = { name, arguments: JSON.stringify(input) };
    const tool_calls = [{ id: "call_0", type: "function", function: called }];
    return (await openaiTools(files, { ...options, api: "chat" }).run({ tool_calls }))[0].content;
  },
  registerFileTools: async (files, options, name, input) => {
    const server = new McpServer({ name: "files", version: "1.0.0" });
    registerFileTools(server, files, options);
    const client = new Client({ name: "test", version: "1.0.0" });
    const [here, there] = InMemoryTransport.createLinkedPair();
    await Promise.all([server.connect(here), client.connect(there)]);
    const { content } = await client.callTool({ name, arguments: input });
    await client.close();
    return content[0].text;
  },
};

for (const [name, run] of Object.entries(ADAPTERS)) {
  test(`${name}: the option equals tools over withIgnore(backend), and counts what is left out`, async () => {
    const files = backend();
    for (const [tool, input] of [
      ["grep", { pattern: "needle" }],
      ["glob", { pattern: "**/*" }],
    ]) {
      const plain = await run(files, {}, tool, input);
      const wrapped = await run(withIgnore(files, RULES), {}, tool, input);
      const option = await run(files, { ignore: ignoreFiles(RULES) }, tool, input);
      assert.equal(option, wrapped);
      assert.match(option, /\[3 files are ignored; name the path to search there\]/);
      assert.match(option, /keep\.tmp/);
      assert.doesNotMatch(option, /b\.tmp|index\.js|run\.log/);
      assert.match(plain, /index\.js/);
      assert.doesNotMatch(plain, /ignored/);
    }
    const read = { file_path: "/node_modules/m/index.js" };
    assert.match(await run(files, { ignore: ignoreFiles(RULES) }, "read_file", read), /needle/);
  });
}

test("with a function as the backend, each backend that it returns is searched by the rules", async () => {
  const trees = [backend(), new StateBackend({ files: { "/x.log": "needle\n" } })];
  const policy = { permissions: [{ operations: ["read"], paths: ["/.env"], mode: "deny" }] };
  for (const rules of [{}, { policy }]) {
    const { call } = createFileTools((at) => trees[at], { ignore: ignoreFiles(RULES), ...rules });
    const texts = await Promise.all(
      [0, 1, 0].map(
        async (runtime) => (await call("grep", { pattern: "needle" }, { runtime })).text,
      ),
    );
    assert.match(texts[0], /3 files are ignored/);
    assert.match(texts[1], /1 file is ignored/);
    assert.equal(texts[2], texts[0]);
    assert.equal(texts[0].includes("/.env"), rules.policy === undefined);
  }
});

test("what rules hide is counted nowhere, so that no name can be guessed", async () => {
  const files = {
    "/.gitignore": "*.log\n",
    "/sec/merger.log": "x\n",
    "/b.log": "x\n",
    "/c": "x\n",
  };
  const { call } = createFileTools(new StateBackend({ files }), {
    ignore: ignoreFiles({ files: [".gitignore"] }),
    permissions: [{ operations: ["read"], paths: ["/sec/**"], mode: "deny" }],
  });
  for (const name of ["merger*", "nothing*"]) {
    const globbed = await call("glob", { pattern: `sec/${name}` });
    assert.doesNotMatch(globbed.text, /ignored/);
    const grepped = await call("grep", { pattern: "x", glob: name });
    assert.doesNotMatch(grepped.text, /ignored/);
  }
  // What may be seen is.
  const { text } = await call("grep", { pattern: "x" });
  assert.match(text, /\[1 file is ignored;/);
});

test("names of files in place of rules are refused, with what to pass", async (t) => {
  for (const ignore of [[".gitignore"], {}, true, ".gitignore"]) {
    await t.test(JSON.stringify(ignore), async () => {
      assert.throws(
        () => createFileTools(backend(), { ignore }),
        (error) =>
          error instanceof TypeError && /ignoreFiles\(.*kitbag\/ignore/.test(error.message),
      );
    });
  }
  assert.throws(() => ignoreFiles({ file: [".gitignore"] }), /files/);
});
