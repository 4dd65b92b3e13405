// `node server.mjs FOLDER`: an MCP server over a folder, with rules. A client sees everything but
// secrets, writes only below /drafts/, and cannot write without end.

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { FilesystemBackend } from "kitbag";
import { registerFileTools } from "kitbag/mcp";

const server = new McpServer({ name: "folder", version: "1.0.0" });
const backend = new FilesystemBackend({ rootDir: process.argv[2] ?? "docs" });

registerFileTools(server, backend, {
  policy: {
    permissions: [
      { operations: ["read", "write"], paths: ["/**/.env*", "/.git/**"], mode: "deny" },
      { operations: ["write"], paths: ["/drafts/**"] },
      { operations: ["write"], paths: ["/**"], mode: "deny" },
    ],
    rateLimit: { write: { operations: 30, perMs: 60_000 } },
    quota: { maxFileBytes: 1_000_000 },
    // Standard output belongs to the protocol.
    audit: ({ operation, path, code }) => console.error(operation, path, code),
  },
});
await server.connect(new StdioServerTransport());
