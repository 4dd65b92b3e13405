// Version 2 of the MCP SDK under the names of version 1, so that the tests of version 1 run with it as they
// are. KITBAG_MCP_ERA says in which era its clients and its servers talk.

import { InMemoryTransport, Client as Second } from "@modelcontextprotocol/client";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer as SecondServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

export { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
export { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
export { InMemoryTransport };

const MODERN = process.env.KITBAG_MCP_ERA === "2026";

const PINNED = { versionNegotiation: { mode: { pin: "2026-07-28" } } };

export class Client extends Second {
  constructor(info, options) {
    super(info, { ...options, ...(MODERN && PINNED) });
  }
  /** One page, where version 2 would go through all. */
  listResources(params = {}) {
    return this.request({ method: "resources/list", params });
  }
  subscribeResource({ uri }) {
    if (!MODERN) return super.subscribeResource({ uri });
    return this.listen({ resourceSubscriptions: [uri], resourcesListChanged: true });
  }
}

/** A server without sessions: in the new era an entry of the SDK takes each request. */
class Handled {
  serve(server) {
    this.handle = toNodeHandler(createMcpHandler(() => server));
  }
  handleRequest(request, response) {
    return this.handle(request, response);
  }
}

export const StreamableHTTPServerTransport = MODERN ? Handled : NodeStreamableHTTPServerTransport;

/** In the new era an entry of the SDK decides which server a connection gets. */
export class McpServer extends SecondServer {
  #entry;
  async connect(transport) {
    if (transport instanceof Handled) return transport.serve(this);
    if (!MODERN || this.#entry || !(transport instanceof InMemoryTransport)) {
      return super.connect(transport);
    }
    this.#entry = serveStdio(() => this, { transport });
  }
}

// What names a message: a schema in version 1, its method in version 2.
export const ListRootsRequestSchema = "roots/list";
export const ElicitRequestSchema = "elicitation/create";
export const ResourceListChangedNotificationSchema = "notifications/resources/list_changed";
export const ResourceUpdatedNotificationSchema = "notifications/resources/updated";
