// kitbag-mcp over standard input and output, by the SDK's own client and by the command line of
// MCP Inspector.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const deps = createRequire(new URL("../deps/agents/package.json", import.meta.url));
const bin = join(dirname(deps.resolve("kitbag/package.json")), "dist/kitbag-mcp.js");
const folder = mkdtempSync(join(tmpdir(), "kitbag-mcp-"));
after(() => rmSync(folder, { recursive: true, force: true }));

async function connected(...flags) {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [bin, folder, ...flags] }),
  );
  return client;
}

const LINES = Array.from({ length: 250 }, (_, at) => `line ${at + 1}`).join("\n");

/** A tool, its input, what its whole answer must match, and whether it tells of a failure. */
const STEPS = [
  [
    "write_file",
    { file_path: "/t/a.txt", content: LINES },
    /^Wrote \/t\/a\.txt \(250 lines, 2\.1 KB\)\.$/,
  ],
  ["write_file", { path: "t/b.md", content: "x = 1\ny = 2\nx = 1\n" }, /^Wrote \/t\/b\.md/],
  ["write_file", { file_path: "/t/b.md", content: "no" }, /already exists/, true],
  ["ls", { path: "/t" }, /^\/t\/a\.txt \(.*\n\/t\/b\.md \(/],
  [
    "read_file",
    { file_path: "/t/a.txt", limit: "2" },
    /^ {5}1\tline 1\n {5}2\tline 2\n\[248 lines/,
  ],
  ["read_file", { file_path: "/t/a.txt", offset: 249 }, /^ {3}250\tline 250$/],
  ["edit_file", { file_path: "/t/b.md", old_string: "x = 1", new_string: "" }, /2 times/, true],
  [
    "edit_file",
    { file_path: "/t/b.md", old_string: "y = 2\nx = 1", new_string: "y = 2\nx = 3" },
    /replaced 1 occurrence/,
  ],
  ["grep", { pattern: "x = ", output_mode: "content" }, /\/t\/b\.md:\n1: x = 1\n3: x = 3/],
  ["glob", { pattern: "**/*.md" }, /^\/t\/b\.md$/],
  [
    "execute",
    { command: "sort t/b.md | uniq -c | wc -l && pwd" },
    new RegExp(`^\\s*3\\n.*${folder.split("/").at(-1)}\\n\\[exit code 0\\]$`),
  ],
  ["execute", { command: "echo shell > t/c.txt; exit 3" }, /\[exit code 3\]/, true],
  ["read_file", { file_path: "/t/c.txt" }, /^ {5}1\tshell$/],
  [
    "execute",
    { command: "seq 1 30000" },
    /too large to show[\s\S]*\/large_tool_results\/mcp_[\w-]+\n/,
  ],
  ["delete", { file_path: "/t/a.txt" }, /^Deleted \/t\/a\.txt/],
  ["rm", {}, /tool 'rm' does not exist/, true],
];

test("sixteen steps with a shell, every message looked at", async () => {
  const client = await connected("--shell");
  const { tools } = await client.listTools();
  assert.equal(tools.length, 8);
  for (const [at, [name, input, expected, fails = false]] of STEPS.entries()) {
    const { content, isError } = await client.callTool({ name, arguments: input });
    assert.equal(content.length, 1);
    assert.equal(content[0].type, "text");
    assert.match(content[0].text, expected, `step ${at}: ${name}`);
    assert.equal(isError, fails, `step ${at}: ${name}: ${content[0].text}`);
  }
  await client.close();
  assert.equal(readFileSync(join(folder, "t/b.md"), "utf8"), "x = 1\ny = 2\nx = 3\n");
  assert.equal(readFileSync(join(folder, "t/c.txt"), "utf8"), "shell\n");
});

test("without --shell there is no execute, and wrong flags are refused", async () => {
  const client = await connected("--read-only");
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.filter((tool) => tool.name === "execute"),
    [],
  );
  const ran = await client.callTool({ name: "execute", arguments: { command: "true" } });
  assert.match(ran.content[0].text, /'execute' is not available here/);
  await client.close();
  const started = promisify(execFile)(process.execPath, [bin, folder, "--read-only", "--shell"]);
  await assert.rejects(started, /Usage: kitbag-mcp/);
});

test("MCP Inspector's command line lists and calls tools, and lists and reads resources", async () => {
  writeFileSync(join(folder, "here.txt"), "on disk\n");
  const inspector = deps.resolve("@modelcontextprotocol/inspector-cli/build/cli.js");
  const inspect = async (...args) => {
    const all = [inspector, "--cli", process.execPath, bin, folder, ...args];
    const { stdout } = await promisify(execFile)(process.execPath, all);
    return JSON.parse(stdout);
  };
  const { tools } = await inspect("--method", "tools/list");
  assert.deepEqual(
    tools.map((tool) => tool.name),
    ["ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep"],
  );
  for (const tool of tools) assert.equal(tool.inputSchema.type, "object");
  const call = (name, ...input) =>
    inspect(
      "--method",
      "tools/call",
      "--tool-name",
      name,
      ...input.flatMap((one) => ["--tool-arg", one]),
    );
  const wrote = await call("write_file", "file_path=/by-inspector.txt", "content=hello");
  assert.match(wrote.content[0].text, /^Wrote \/by-inspector\.txt/);
  assert.equal(readFileSync(join(folder, "by-inspector.txt"), "utf8"), "hello");
  const read = await call("read_file", "file_path=/here.txt", "limit=1");
  assert.deepEqual(read.content, [{ type: "text", text: "     1\ton disk" }]);
  const outside = await call("read_file", "file_path=/../etc/passwd");
  assert.equal(outside.isError, true);
  const { resources } = await inspect("--method", "resources/list");
  const named = resources.find((one) => one.name === "/here.txt");
  assert.equal(named.uri, "kitbag:///here.txt");
  const shown = await inspect("--method", "resources/read", "--uri", named.uri);
  assert.equal(shown.contents[0].text, "on disk\n");
  const { resourceTemplates } = await inspect("--method", "resources/templates/list");
  assert.equal(resourceTemplates[0].uriTemplate, "kitbag:///{+path}");
});
