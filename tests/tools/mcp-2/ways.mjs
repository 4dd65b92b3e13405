// The ways in which a client reaches the files over version 2 of the MCP SDK: both eras, with and without
// sessions, and a client or a server of version 1 at the other end.

import { createServer } from "node:http";
import {
  Client,
  InMemoryTransport,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { Client as First } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { InMemoryTransport as FirstPair } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer as FirstServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { Client as Oldest } from "mcp-sdk-1-20/client/index.js";
import { InMemoryTransport as OldestPair } from "mcp-sdk-1-20/inMemory.js";
import { McpServer as OldestServer } from "mcp-sdk-1-20/server/mcp.js";
import { McpServer as Server20 } from "mcp-server-2-0";
import { serveStdio as serveStdio20 } from "mcp-server-2-0/stdio";

const ME = { name: "test", version: "1" };
const MODERN = { versionNegotiation: { mode: { pin: "2026-07-28" } } };

/** A server in memory that lives as long as its connection. */
const paired = (Kind, Pair, of, options) => async (make, given) => {
  const [near, far] = Pair.createLinkedPair();
  const client = new of(ME, { ...options, ...given });
  const server = new Kind(ME);
  await make(server);
  await server.connect(far);
  return { client, open: () => client.connect(near) };
};

/** The entry of the SDK for one connection, which asks the client for its era. */
const entered =
  (Own, serve, options) =>
  async (make, given, Kind = Own) => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    const client = new Client(ME, { ...options, ...given });
    serve(
      async () => {
        const server = new Kind(ME);
        await make(server);
        return server;
      },
      { transport: far },
    );
    return { client, open: () => client.connect(near) };
  };

/** A new server for each request, and no sessions. */
const handled =
  (Transport, of, options) =>
  async (make, given, wrap = (fetch) => fetch) => {
    const handler = createMcpHandler(async (context) => {
      const server = new McpServer(ME);
      await make(server, context);
      return server;
    });
    const client = new of(ME, { ...options, ...given });
    const fetch = wrap((url, init) => handler.fetch(new Request(url, init)), handler);
    const transport = new Transport(new URL("http://localhost/mcp"), { fetch });
    return { client, handler, open: () => client.connect(transport) };
  };

/** The same behind a server of Node. */
async function overNode(make, given) {
  const handle = toNodeHandler(
    createMcpHandler(async () => {
      const server = new McpServer(ME);
      await make(server);
      return server;
    }),
  );
  const server = createServer((request, response) => void handle(request, response));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = new Client(ME, { ...MODERN, ...given });
  const url = new URL(`http://127.0.0.1:${server.address().port}/mcp`);
  return {
    client,
    open: () => client.connect(new StreamableHTTPClientTransport(url)),
    end: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** By its name: the era of each way, whether there is a session, whether errors have no data, and how it is opened. */
export const WAYS = {
  "2026, one connection": {
    era: 2026,
    session: true,
    over: entered(McpServer, serveStdio, MODERN),
  },
  "2026, HTTP": { era: 2026, over: handled(StreamableHTTPClientTransport, Client, MODERN) },
  "2026, HTTP of Node": { era: 2026, over: overNode },
  "2026, server 2.0.0": { era: 2026, session: true, over: entered(Server20, serveStdio20, MODERN) },
  "2025, one connection": { session: true, over: paired(McpServer, InMemoryTransport, Client) },
  "2025, the entry": { session: true, over: entered(McpServer, serveStdio) },
  "2025, HTTP": { over: handled(StreamableHTTPClientTransport, Client) },
  "a client of version 1": { session: true, over: paired(McpServer, FirstPair, First) },
  "a client of version 1, HTTP": { over: handled(FirstHttp, First) },
  "a client of 1.20": { session: true, over: paired(McpServer, InMemoryTransport, Oldest) },
  "a server of version 1": { session: true, over: paired(FirstServer, FirstPair, Client) },
  "a server of 1.20": { session: true, bare: true, over: paired(OldestServer, OldestPair, Client) },
  "version 1.20 alone": {
    session: true,
    bare: true,
    over: paired(OldestServer, OldestPair, Oldest),
  },
};

/** Opens a way for a test; `make` sets up each server. */
export async function opened(t, { over }, make, ...more) {
  const made = await over(make, ...more);
  await made.open();
  t.after(async () => {
    await made.client.close();
    await made.end?.();
  });
  const call = (name, input, options) => {
    const params = { name, arguments: input };
    return made.client instanceof Client
      ? made.client.callTool(params, options)
      : made.client.callTool(params, undefined, options);
  };
  return { ...made, call };
}
