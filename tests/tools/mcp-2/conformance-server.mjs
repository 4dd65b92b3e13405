// A server of files for MCP's conformance tool, over Streamable HTTP and either version of the SDK. What the tool
// calls by names of its own is called by those of kitbag.

import { createServer } from "node:http";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer as FirstServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { begin, StateBackend } from "kitbag";
import { changeTools } from "kitbag/history";
import { elicitReview, registerFileTools } from "kitbag/mcp";
import { RESOURCES, TOOLS } from "./scenarios.mjs";

const bytes = (base64) => new Uint8Array(Buffer.from(base64, "base64"));

const FILES = {
  "/text.txt": "This is a text.\n",
  "/123/data": '{ "id": "123" }\n',
  "/red.png": bytes(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  ),
  "/tone.wav": bytes("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="),
  "/paper.pdf": bytes("JVBERi0xLjQKJSVFT0YK"),
};

class Watched extends StateBackend {
  watch() {
    return () => {};
  }
}

/** A turn with one change, so that a commit asks; the same for each server. */
async function turned() {
  const turn = begin(new StateBackend({ scope: "instance", files: FILES }));
  await turn.write("/new.md", "new\n");
  return turn;
}

const key = "k".repeat(32);

async function made(Server, { roots, review }) {
  const server = new Server({ name: "files", version: "1.0.0" });
  const backend = review
    ? await turned()
    : new Watched({ scope: "instance", files: FILES, writeMode: "overwrite" });
  registerFileTools(server, backend, {
    ...(roots && { roots: (uri) => (uri.startsWith("file:///") ? "/" : undefined) }),
    ...(review && { changes: changeTools({ commit: elicitReview(server, { key }) }) }),
  });
  return server;
}

/** The request as kitbag has it. */
function translated(message) {
  const { method, params } = message ?? {};
  if (method === "tools/call" && Object.hasOwn(TOOLS, params?.name)) {
    const [name, input] = TOOLS[params.name];
    return { ...message, params: { ...params, name, arguments: input } };
  }
  if (method?.startsWith("resources/") && Object.hasOwn(RESOURCES, params?.uri)) {
    return { ...message, params: { ...params, uri: RESOURCES[params.uri] } };
  }
  return message;
}

/** Begins a server of a version of the SDK; its URL, and how it ends. */
export async function conforming(version, how = {}) {
  const [Server, Transport] =
    version === 1
      ? [FirstServer, StreamableHTTPServerTransport]
      : [McpServer, NodeStreamableHTTPServerTransport];
  const modern = toNodeHandler(createMcpHandler(() => made(McpServer, how), { legacy: "reject" }));
  const sessions = new Map();
  const session = async (id) => {
    if (id) return sessions.get(id);
    const transport = new Transport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (made) => void sessions.set(made, transport),
      onsessionclosed: (ended) => void sessions.delete(ended),
    });
    await (await made(Server, how)).connect(transport);
    return transport;
  };
  const http = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    let body;
    try {
      body = text === "" ? undefined : translated(JSON.parse(text));
    } catch {
      return void response.writeHead(400).end();
    }
    const { headers } = request;
    const name = headers["mcp-name"];
    const alias = TOOLS[name]?.[0] ?? RESOURCES[name];
    if (alias) {
      headers["mcp-name"] = alias;
      request.rawHeaders.forEach((one, at, all) => {
        if (at % 2 === 0 && one.toLowerCase() === "mcp-name") all[at + 1] = alias;
      });
    }
    const meta = body?.params?._meta ?? {};
    const isModern =
      version === 2 &&
      (Object.keys(meta).some((one) => one.startsWith("io.modelcontextprotocol/")) ||
        headers["mcp-protocol-version"] === "2026-07-28");
    if (isModern) return void modern(request, response, body);
    const transport = await session(headers["mcp-session-id"]);
    if (!transport) return void response.writeHead(404).end();
    await transport.handleRequest(request, response, body);
  });
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${http.address().port}/mcp`,
    end: () => {
      http.closeAllConnections();
      return new Promise((resolve) => http.close(resolve));
    },
  };
}
