// kitbag-mcp over standard input and output, by the SDK's own client and by the command line of
// MCP Inspector. The command is that of the packed package, in a project of its own with the SDK.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { pack } from "../lib/pack.mjs";

const deps = createRequire(new URL("../deps/agents/package.json", import.meta.url));
// A program that does not end by itself is a failure, not a test that waits for ever.
const run = (file, args, options) =>
  promisify(execFile)(file, args, { timeout: 60_000, ...options });
const folder = mkdtempSync(join(tmpdir(), "kitbag-mcp-"));
const project = mkdtempSync(join(tmpdir(), "kitbag-mcp-project-"));
const installed = fileURLToPath(
  new URL("../deps/agents/node_modules/@modelcontextprotocol", import.meta.url),
);
const bin = join(project, "node_modules/.bin/kitbag-mcp");
const sdk = join(project, "node_modules/@modelcontextprotocol");

before(async () => {
  const { filename } = await pack(project);
  const tarball = join(project, filename);
  writeFileSync(join(project, "package.json"), '{ "private": true }');
  const quiet = ["--no-audit", "--no-fund", "--offline", "--legacy-peer-deps"];
  await run("npm", ["install", ...quiet, tarball], { cwd: project });
  symlinkSync(installed, sdk);
});

const clients = [];

after(async () => {
  for (const client of clients) await client.close();
  for (const made of [folder, project]) rmSync(made, { recursive: true, force: true });
});

async function connected(...flags) {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command: bin, args: [folder, ...flags] }));
  clients.push(client);
  return client;
}

const namesOf = (tools) => tools.map((tool) => tool.name);

/** The text of a call, and whether it failed. */
async function told(client, name, input) {
  const { content, isError } = await client.callTool({ name, arguments: input });
  return { text: content[0].text, isError };
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

test("--read-only hides the tools that it refuses", async () => {
  const client = await connected("--read-only");
  const { tools } = await client.listTools();
  assert.deepEqual(namesOf(tools), ["ls", "read_file", "glob", "grep"]);
  for (const name of ["execute", "write_file"]) {
    const { text, isError } = await told(client, name, { command: "true" });
    assert.equal(isError, true);
    assert.match(text, new RegExp(`'${name}' is not available here`));
  }
  await client.close();
});

test("tools have annotations, and the server has instructions", async () => {
  const client = await connected("--shell");
  const { tools } = await client.listTools();
  const reads = tools.filter((tool) => tool.annotations.readOnlyHint);
  assert.deepEqual(namesOf(reads), ["ls", "read_file", "glob", "grep"]);
  const destroys = tools.filter((tool) => tool.annotations.destructiveHint);
  assert.deepEqual(namesOf(destroys), ["edit_file", "delete", "execute"]);
  for (const { name, annotations } of tools) {
    assert.ok(annotations.title.length > 3);
    assert.equal(annotations.openWorldHint, name === "execute");
  }
  assert.match(client.getInstructions(), /read_file/);
  assert.match(client.getInstructions(), /hidden by rules/);
  await client.close();
});

const KEYS = [".env", "app/.env.local", "server.pem", "deep/tls.key", ".ssh/config", "home/id_rsa"];

function plant() {
  for (const path of [...KEYS, "app/main.js", "logs/today.log"]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), "PASSW0RD");
  }
}

test("files with keys are denied, unless --secrets lifts it", async () => {
  plant();
  const client = await connected();
  for (const path of KEYS) {
    const read = await told(client, "read_file", { file_path: `/${path}` });
    assert.equal(read.isError, true, path);
    assert.doesNotMatch(read.text, /PASSW0RD/);
    const wrote = await told(client, "write_file", { file_path: `/new/${path}`, content: "x" });
    assert.equal(wrote.isError, true, path);
  }
  const found = await told(client, "grep", { pattern: "PASSW0RD" });
  assert.deepEqual(found.text.split("\n").sort(), ["/app/main.js", "/logs/today.log"]);
  const { resources } = await client.listResources();
  assert.ok(!resources.some((one) => KEYS.includes(one.name.slice(1))));
  await assert.rejects(client.readResource({ uri: "kitbag:///.env" }));
  await client.close();
  const open = await connected("--secrets");
  for (const path of KEYS) {
    const { text } = await told(open, "read_file", { file_path: `/${path}` });
    assert.match(text, /PASSW0RD/);
  }
  await open.close();
});

test("--deny and --allow take patterns, and --deny wins", async () => {
  plant();
  const denied = await connected("--deny", "/logs/**", "--deny", "**/*.md");
  const seen = await told(denied, "grep", { pattern: "PASSW0RD" });
  assert.equal(seen.text, "/app/main.js");
  const wrote = await told(denied, "write_file", { file_path: "/x.md", content: "x" });
  assert.equal(wrote.isError, true);
  await denied.close();
  const allowed = await connected(
    "--allow",
    "/app/**",
    "--allow",
    "/logs/**",
    "--deny",
    "/logs/**",
  );
  const few = await told(allowed, "grep", { pattern: "PASSW0RD" });
  assert.equal(few.text, "/app/main.js");
  const outside = await told(allowed, "write_file", { file_path: "/y.txt", content: "x" });
  assert.equal(outside.isError, true);
  const inside = await told(allowed, "write_file", { file_path: "/app/y.txt", content: "x" });
  assert.equal(inside.isError, false, inside.text);
  await allowed.close();
});

test("wrong arguments end with the usage, and its command names packages", async (t) => {
  for (const args of [
    [],
    ["--read-only"],
    [folder, "--nonsense"],
    [folder, "--read-only", "--shell"],
    [folder, "--http", "0", "--shell"],
    [folder, "--deny"],
  ]) {
    await t.test(args.join(" ").replace(folder, "FOLDER") || "none", async () => {
      await assert.rejects(run(bin, args), ({ code, stderr }) => {
        assert.equal(code, 2);
        assert.match(stderr, /Usage: kitbag serve ADDRESS/);
        return true;
      });
    });
  }
  await assert.rejects(run(bin, [join(folder, "missing")]), ({ code, stderr }) => {
    assert.equal(code, 2);
    assert.match(stderr, /missing/);
    return true;
  });
  await assert.rejects(run(bin, [folder, "--deny", "../x"]), /kitbag: .*\.\./);
  assert.match((await run(bin, ["--help"])).stdout, /--secrets/);
});

test("without the SDK it says what to run", async () => {
  unlinkSync(sdk);
  try {
    await assert.rejects(run(bin, [folder]), ({ code, stderr }) => {
      assert.equal(code, 2);
      assert.match(
        stderr,
        /@modelcontextprotocol\/server 2, or @modelcontextprotocol\/sdk[\s\S]*npx -p kitbag -p @modelcontextprotocol\/server kitbag serve ADDRESS/,
      );
      return true;
    });
  } finally {
    symlinkSync(installed, sdk);
  }
});

test("MCP Inspector's command line lists and calls tools, and lists and reads resources", async () => {
  writeFileSync(join(folder, "here.txt"), "on disk\n");
  const inspector = deps.resolve("@modelcontextprotocol/inspector-cli/build/cli.js");
  const cwd = dirname(deps.resolve("./package.json"));
  const inspect = async (...args) => {
    const all = [inspector, "--cli", "npx", "--no", "kitbag-mcp", folder, ...args];
    const { stdout } = await promisify(execFile)(process.execPath, all, { cwd });
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
