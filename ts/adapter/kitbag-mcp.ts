#!/usr/bin/env node
// `npx kitbag-mcp DIR`: the files of a directory as an MCP server on standard input and output.
// With `--shell` a model can also run commands there, which follow no rules about files.

import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { FilesystemBackend, LocalShellBackend } from "kitbag";
import { registerFileTools } from "kitbag/mcp";
import { nodeShell } from "kitbag/node";

const [directory, ...rest] = process.argv.slice(2);
const usage = "Usage: kitbag-mcp DIRECTORY [--read-only | --shell]";
if (
  !directory ||
  directory.startsWith("-") ||
  rest.length > 1 ||
  rest.some((flag) => flag !== "--read-only" && flag !== "--shell")
) {
  console.error(usage);
  process.exit(2);
}
if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
  console.error(`kitbag-mcp: ${directory} is not a directory. ${usage}`);
  process.exit(2);
}
const { version } = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
) as { version: string };
const server = new McpServer({ name: "kitbag", version });
const rootDir = resolve(directory);
const { PATH = "", HOME = "" } = process.env;
const backend = rest.includes("--shell")
  ? new LocalShellBackend({ rootDir, execute: nodeShell(), env: { PATH, HOME } })
  : new FilesystemBackend({ rootDir });
registerFileTools(
  server,
  backend,
  rest.includes("--read-only") ? { policy: { readOnly: true } } : {},
);
await server.connect(new StdioServerTransport());
