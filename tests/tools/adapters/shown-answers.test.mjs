// Answers that name a file: no tool of an adapter shows a name with a character that shows nothing, reorders
// others or looks like a space, and each takes the name as it was shown.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { begin, StateBackend, visibleName, withPolicy } from "kitbag";
import { agentToolset, memoryTool, textEditorTool } from "kitbag/anthropic";
import { changeTools } from "kitbag/history";
import { elicitReview, registerFileTools } from "kitbag/mcp";
import { patchEditor } from "kitbag/openai";

const NAMES = [
  ...["a\u200bb.md", "x\u202ey.md", "plan\ufe0f.md", "\u3164.md", "v\u{e0100}.md", "s\u00ady.md"],
  ...["100\u00a0km.md", "9.41\u202fAM.md", "日本\u3000語.md", "i\u2066j\u2069.md", "b\ufeffom.md"],
];

async function files(name) {
  const inner = new StateBackend({ files: {} });
  const lenient = withPolicy(inner, { hiddenCharacters: "allow" });
  await lenient.write(`/memories/${name}`, "one\ntwo\n");
  await lenient.uploadFiles([[`/memories/b${name}`, new Uint8Array([0, 255, 254])]]);
  return inner;
}

/** Every answer that names the file; `at` is its path, `bad` that of another one. */
const SEATS = {
  "text editor": async (backend, at, bad) => {
    const { run } = textEditorTool(backend);
    return [
      await run({ command: "str_replace", path: at, old_str: "one", new_str: "1" }),
      await run({ command: "insert", path: at, insert_line: 0, insert_text: "0\n" }),
      await run({ command: "create", path: at, file_text: "1\n" }),
      await run({ command: "view", path: bad }),
      await run({ command: "view", path: at.replace("/memories/", "/memories/b") }),
    ];
  },
  memory: async (backend, at, bad) => {
    const { run } = memoryTool(backend);
    return [
      await run({ command: "view", path: bad }),
      await run({ command: "view", path: at.slice(9) }),
      await run({ command: "insert", path: at, insert_line: 0, insert_text: "0\n" }),
      await run({ command: "rename", old_path: bad, new_path: "/memories/c.md" }),
      await run({ command: "rename", old_path: "/memories/c.md", new_path: at }),
      await run({ command: "delete", path: at }),
    ];
  },
  toolset: async (backend, at) => {
    const tools = new Map(agentToolset(backend).map((tool) => [tool.name, tool]));
    const run = (name, input) => tools.get(name).run(input);
    const refused = (promise) => promise.catch(({ message }) => message);
    return [
      await run("edit", { file_path: at, old_string: "one", new_string: "1" }),
      await refused(run("write", { file_path: at, content: "1\n" })),
      await refused(run("read", { file_path: at.replace("/memories/", "/memories/b") })),
    ];
  },
  "patch editor": async (backend, at, bad) => {
    const editor = patchEditor(backend);
    return [
      await editor.updateFile({ path: at, diff: "@@\n-one\n+1\n two" }),
      await editor.updateFile({ path: bad, diff: "@@\n-one\n+1" }),
      await editor.createFile({ path: at, diff: "+1" }),
      await editor.updateFile({ path: at.replace("/memories/", "/memories/b"), diff: "@@\n+1" }),
      await editor.updateFile({ path: at, diff: "@@\n+1", moveTo: bad.replace("none", "b") }),
      await editor.deleteFile({ path: at }),
      await editor.deleteFile({ path: at }),
    ];
  },
  "MCP with data": async (backend, at, bad) => {
    const server = new McpServer({ name: "files", version: "1" });
    registerFileTools(server, backend, { structured: true });
    const client = new Client({ name: "client", version: "1" });
    const [near, far] = InMemoryTransport.createLinkedPair();
    await Promise.all([client.connect(near), server.connect(far)]);
    const call = (name, args) => client.callTool({ name, arguments: args });
    const read = await call("read_file", { file_path: at });
    const { version } = read.structuredContent;
    assert.match(version, /^sha256-/, "the version of a file, by its name as it is shown");
    const change = { file_path: at, old_string: "one", new_string: "1", ifMatch: version };
    const edited = await call("edit_file", change);
    assert.equal(edited.isError, false, JSON.stringify(edited));
    const answers = [
      ...[read, edited, await call("edit_file", change)],
      await call("edit_file", { ...change, file_path: bad }),
      await call("ls", { path: "/memories" }),
      await call("glob", { pattern: "**" }),
    ];
    await client.close();
    return answers;
  },
};

for (const [seat, ask] of Object.entries(SEATS)) {
  for (const name of NAMES) {
    test(`${seat}: ${JSON.stringify(visibleName(name))} is shown by its code, and taken so`, async () => {
      for (const written of [name, visibleName(name)]) {
        const backend = await files(name);
        const answers = await ask(backend, `/memories/${written}`, `/memories/none${written}`);
        const text = JSON.stringify(answers).replaceAll("\\\\", "\\");
        assert.equal(visibleName(text), text);
        assert.ok(text.includes(visibleName(name)), text);
        const [{ isError, status } = {}] = answers;
        assert.ok(!(isError === true && seat !== "memory") && status !== "failed", text);
      }
    });
  }
}

for (const name of NAMES) {
  test(`a review that a client shows has ${JSON.stringify(visibleName(name))} by its code, also to leave it out`, async () => {
    const backend = await files(name);
    const server = new McpServer({ name: "files", version: "1" });
    const changes = changeTools({ commit: elicitReview(server) });
    registerFileTools(server, begin(backend), { changes, requireReadBeforeEdit: false });
    const capabilities = { elicitation: { form: {} } };
    const client = new Client({ name: "client", version: "1" }, { capabilities });
    const asked = [];
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params);
      const { leaveOut } = params.requestedSchema.properties;
      const odd = leaveOut.items.enum.filter((one) => one.endsWith(visibleName(name)));
      return { action: "accept", content: { decision: "accept", leaveOut: odd } };
    });
    const [near, far] = InMemoryTransport.createLinkedPair();
    await Promise.all([client.connect(near), server.connect(far)]);
    const call = (tool, args) => client.callTool({ name: tool, arguments: args });
    const edit = { file_path: `/memories/${name}`, old_string: "one", new_string: "1" };
    assert.equal((await call("edit_file", edit)).isError, false);
    await call("write_file", { file_path: "/memories/plain.md", content: "plain\n" });
    const { content, isError } = await call("commit", {});
    assert.equal(isError, false, content[0].text);
    const text = JSON.stringify(asked).replaceAll("\\\\", "\\");
    assert.equal(visibleName(text), text);
    assert.ok(content[0].text.includes(`left out /memories/${visibleName(name)}`), content[0].text);
    assert.match(backend.read(`/memories/${name}`).content, /^one/);
    assert.equal(backend.read("/memories/plain.md").content, "plain\n");
    await client.close();
  });
}
