// Clients of both versions of the MCP SDK, and how each talks to a server in another process: over standard
// input and output, or over HTTP.

import { Client as Second, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as First } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FirstStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as FirstHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const ME = { name: "test", version: "1" };
const mode = (mode) => ({ versionNegotiation: { mode } });

const second = (options) => ({
  made: (given) => new Second(ME, { ...options, ...given }),
  stdio: (how) => new StdioClientTransport(how),
  http: (url, options) => new StreamableHTTPClientTransport(url, options),
  methods: { elicitation: "elicitation/create", roots: "roots/list" },
});

/** By name: how a client is made, and how it reaches a server. */
export const CLIENTS = {
  "a client of version 1": {
    made: (given) => new First(ME, given),
    stdio: (how) => new FirstStdio(how),
    http: (url, options) => new FirstHttp(url, options),
    methods: { elicitation: ElicitRequestSchema, roots: ListRootsRequestSchema },
  },
  "a client of version 2": second({}),
  "a client of version 2 that takes what there is": second(mode("auto")),
  "a client of 2026": { ...second(mode({ pin: "2026-07-28" })), modern: true },
};

/** Connects a client for a test; `handlers` answer what a server asks. */
export async function connected(t, kind, transport, given, handlers = {}) {
  const client = kind.made(given);
  for (const [name, handler] of Object.entries(handlers)) {
    client.setRequestHandler(kind.methods[name], handler);
  }
  await client.connect(transport);
  t.after(() => client.close());
  const call = (name, input = {}) => client.callTool({ name, arguments: input });
  return { client, call };
}
