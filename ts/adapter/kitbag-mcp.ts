#!/usr/bin/env node
// `kitbag-mcp DIRECTORY`: the files of a directory as an MCP server on standard input and output.
// Files that usually contain keys are denied unless a flag allows them. With `--shell` a model can
// also run commands there, which follow no rules about files.

import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import {
  createFileTools,
  FilesystemBackend,
  type FileToolsOptions,
  LocalShellBackend,
} from "kitbag";
import { nodeShell } from "kitbag/node";

const COMMAND = "npx -p kitbag -p @modelcontextprotocol/sdk kitbag-mcp DIRECTORY";

const USAGE = `Usage: ${COMMAND} [options]

  --read-only       offer only the tools that read
  --deny PATTERN    no reading and no writing of files that match; may be repeated
  --allow PATTERN   only files that match; may be repeated
  --secrets         do not deny the files that usually contain keys
  --shell           also run commands, with your rights; they follow no rules about files

A pattern is matched against the whole path in the directory, such as "/build/**" or "**/*.log".`;

/** Files that usually contain passwords or keys. */
const SECRETS = [
  "**/.env",
  "**/.env.*",
  "**/.envrc",
  "**/*.{pem,key,p12,pfx,jks,keystore,kdbx,ppk}",
  "**/id_{rsa,dsa,ecdsa,ed25519}",
  "**/{.ssh,.aws,.gnupg,.kube,.azure}/**",
  "**/.config/gcloud/**",
  "**/.docker/config.json",
  "**/{.npmrc,.pypirc,.netrc,.pgpass,.git-credentials,.htpasswd}",
  "**/{credentials,service-account*,secrets}.json",
  "**/secrets.{yaml,yml,toml}",
];

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
  stop(`${directory} is not a directory\n\n${USAGE}`);
}
if (values.shell && values["read-only"]) {
  stop(`--shell and --read-only exclude each other: commands can write\n\n${USAGE}`);
}

/** The SDK is an optional dependency of the package. */
async function sdk() {
  try {
    const [{ McpServer }, { StdioServerTransport }, { registerFileTools }] = await Promise.all([
      import("@modelcontextprotocol/sdk/server/mcp.js"),
      import("@modelcontextprotocol/sdk/server/stdio.js"),
      import("kitbag/mcp"),
    ]);
    return { McpServer, StdioServerTransport, registerFileTools };
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    return stop(`the package @modelcontextprotocol/sdk is not installed. Run\n\n  ${COMMAND}`);
  }
}

const { McpServer, StdioServerTransport, registerFileTools } = await sdk();
const { version } = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
) as { version: string };
const rootDir = resolve(directory);
const { PATH = "", HOME = "" } = process.env;
const backend = values.shell
  ? new LocalShellBackend({ rootDir, execute: nodeShell(), env: { PATH, HOME } })
  : new FilesystemBackend({ rootDir });

const both: ["read", "write"] = ["read", "write"];
const denied = [...values.deny, ...(values.secrets ? [] : SECRETS)];
const permissions: NonNullable<FileToolsOptions["permissions"]> = [];
if (denied.length > 0) permissions.push({ operations: both, paths: denied, mode: "deny" });
if (values.allow.length > 0) {
  permissions.push({ operations: both, paths: values.allow, mode: "allow" });
  // Not the root itself: searches begin there.
  permissions.push({ operations: both, paths: ["/*", "/*/**"], mode: "deny" });
}
const options: FileToolsOptions = {
  policy: { readOnly: values["read-only"], permissions, allowExecute: values.shell },
  ...(values["read-only"] ? { tools: ["ls", "read_file", "glob", "grep"] } : {}),
};

try {
  const { systemPrompt } = createFileTools(backend, options);
  const hidden =
    denied.length + values.allow.length > 0
      ? "Some files are hidden by rules of the user; do not try to get around them."
      : "";
  const instructions = [systemPrompt, hidden].filter((text) => text !== "").join("\n\n");
  const server = new McpServer({ name: "kitbag", version }, { instructions });
  registerFileTools(server, backend, options);
  await server.connect(new StdioServerTransport());
} catch (error) {
  stop(error instanceof Error ? error.message : String(error));
}
