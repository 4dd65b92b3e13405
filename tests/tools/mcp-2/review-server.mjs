// A program that serves a turn over standard input and output, and asks before it commits. Its arguments are
// the version of the SDK and a folder: `node … review-server.mjs 2 FOLDER`.

import { begin, FilesystemBackend } from "kitbag";
import { changeTools } from "kitbag/history";
import { elicitReview, registerFileTools } from "kitbag/mcp";

const [version, rootDir] = process.argv.slice(2);
const turn = begin(new FilesystemBackend({ rootDir }));

function made(McpServer) {
  const server = new McpServer({ name: "review", version: "1" });
  const changes = changeTools({ commit: elicitReview(server) });
  registerFileTools(server, turn, { changes });
  return server;
}

if (version === "2") {
  const { McpServer } = await import("@modelcontextprotocol/server");
  const { serveStdio } = await import("@modelcontextprotocol/server/stdio");
  serveStdio(() => made(McpServer));
} else {
  const { McpServer } = await import("@modelcontextprotocol/sdk/server/mcp.js");
  const { StdioServerTransport } = await import("@modelcontextprotocol/sdk/server/stdio.js");
  await made(McpServer).connect(new StdioServerTransport());
}
