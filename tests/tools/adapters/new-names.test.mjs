// Names with characters that show nothing or reorder others: shells, the tools of other makers and MCP
// create no file with one, over kitbag's backends and over objects of other libraries, and say so.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StateBackend, withPolicy } from "kitbag";
import { memoryTool, textEditorTool } from "kitbag/anthropic";
import { bashExecute } from "kitbag/just-bash";
import { registerFileTools } from "kitbag/mcp";

const LENIENT = { hiddenCharacters: "allow" };
const HIDDEN = [0x9b, 0xad, 0x200b, 0x200d, 0x200f, 0x202e, 0x2060, 0x2068, 0xfeff, 0xe0041];
const memory = () =>
  new StateBackend({ scope: "instance", files: { "/a.md": "a\n", "/memories/a.md": "a\n" } });

/** The same files behind an object of another library, which refuses nothing. */
function stranger(inner) {
  const files = withPolicy(inner, LENIENT);
  const names = ["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"];
  return Object.fromEntries(
    [...names, "uploadFiles", "downloadFiles"].map((name) => [
      name,
      async (a, b, c, d) => files[name](a, b, c, d),
    ]),
  );
}

/** Every way to create a file: each gives what its caller is told. */
const WAYS = {
  "echo >": (files, bad) => bash(files, `echo x > '${bad}'`),
  "echo >>": (files, bad) => bash(files, `echo x >> '${bad}'`),
  cp: (files, bad) => bash(files, `cp /a.md '${bad}'`),
  mv: (files, bad) => bash(files, `mv /a.md '${bad}'`),
  tee: (files, bad) => bash(files, `tee '${bad}' < /a.md > /dev/null`),
  touch: (files, bad) => bash(files, `touch '${bad}'`),
  "memory create": (files, bad) =>
    told(memoryTool(files), { command: "create", path: `/memories${bad}`, file_text: "x" }),
  "memory rename": (files, bad) =>
    told(memoryTool(files), {
      command: "rename",
      old_path: "/memories/a.md",
      new_path: `/memories${bad}`,
    }),
  "editor create": (files, bad) =>
    told(textEditorTool(files), { command: "create", path: bad, file_text: "x" }),
  "MCP write_file": (files, bad) => mcp(files, "write_file", { file_path: bad, content: "x" }),
  "MCP copy_file": (files, bad) => mcp(files, "copy_file", { from: "/a.md", to: bad }),
  "MCP move_file": (files, bad) => mcp(files, "move_file", { from: "/a.md", to: bad }),
};

async function bash(files, script) {
  const { output, exitCode } = await bashExecute(files)(script);
  return exitCode === 0 ? "" : output;
}

const told = async (tool, input) => (await tool.run(input)).text;

async function mcp(files, name, input) {
  const server = new McpServer({ name: "names", version: "1" });
  registerFileTools(server, files, { tools: "all" });
  const client = new Client({ name: "names", version: "1" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(near), client.connect(far)]);
  const { content, isError } = await client.callTool({ name, arguments: input });
  await client.close();
  return isError ? content[0].text : "";
}

for (const [way, run] of Object.entries(WAYS)) {
  test(`${way} creates no such file`, async () => {
    for (const [of, wrap] of [
      ["ours", (files) => files],
      ["a stranger", stranger],
      ["one that says what it can do", (files) => ({ ...stranger(files), capability: {} })],
    ]) {
      for (const code of HIDDEN) {
        const files = memory();
        const bad = `/pla${String.fromCodePoint(code)}n.md`;
        const answer = await run(wrap(files), bad);
        const about = `${of}, ${code.toString(16)}: ${answer}`;
        assert.deepEqual(
          files
            .glob("**")
            .files.map(({ path }) => path)
            .sort(),
          ["/a.md", "/memories/a.md"],
          about,
        );
        assert.notEqual(answer, "", about);
      }
    }
  });
}
