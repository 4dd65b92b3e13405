#!/usr/bin/env node
// `kitbag-mcp DIRECTORY`: the files of a directory as an MCP server on standard input and output.
// Files that usually contain keys are denied unless a flag allows them. With `--shell` a model can
// also run commands there, which follow no rules about files.

import { statSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { FilesystemBackend, LocalShellBackend } from "kitbag";
import { nodeShell } from "kitbag/node";
import { withoutPassword } from "./command/output.js";
import { serveStdio } from "./command/serve.js";

const COMMAND = "npx -p kitbag -p @modelcontextprotocol/sdk kitbag-mcp DIRECTORY";

const USAGE = `Usage: ${COMMAND} [options]

  --read-only       offer only the tools that read
  --deny PATTERN    no reading and no writing of files that match; may be repeated
  --allow PATTERN   only files that match; may be repeated
  --secrets         do not deny the files that usually contain keys
  --structured      results also as data, with versions of files for conditional changes
  --shell           also run commands, with your rights; they follow no rules about files

A pattern is matched against the whole path in the directory, such as "/build/**" or "**/*.log".`;

function stop(message: string): never {
  console.error(`kitbag-mcp: ${message}`);
  process.exit(2);
}

function given() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        "read-only": { type: "boolean", default: false },
        shell: { type: "boolean", default: false },
        secrets: { type: "boolean", default: false },
        structured: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
        deny: { type: "string", multiple: true, default: [] },
        allow: { type: "string", multiple: true, default: [] },
      },
    });
  } catch (error) {
    return stop(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  }
}

const { values, positionals } = given();
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
const [directory, ...others] = positionals;
if (!directory || others.length > 0) stop(`one directory is needed\n\n${USAGE}`);
if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
  stop(`${withoutPassword(directory as string)} is not a directory\n\n${USAGE}`);
}
if (values.shell && values["read-only"]) {
  stop(`--shell and --read-only exclude each other: commands can write\n\n${USAGE}`);
}

const rootDir = resolve(directory);
const { PATH = "", HOME = "" } = process.env;
const backend = values.shell
  ? new LocalShellBackend({ rootDir, execute: nodeShell(), env: { PATH, HOME } })
  : new FilesystemBackend({ rootDir });
const rules = {
  readOnly: values["read-only"],
  shell: values.shell,
  secrets: values.secrets,
  deny: values.deny,
  allow: values.allow,
  structured: values.structured,
  // Commands follow no rules about files.
  ...(values.shell ? {} : { folder: rootDir }),
};

try {
  await serveStdio(backend, rules, COMMAND);
} catch (error) {
  stop(error instanceof Error ? error.message : String(error));
}
