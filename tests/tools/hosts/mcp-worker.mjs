// A Worker whose Durable Object serves an R2 bucket over MCP, with sessions (`/mcp`) and without
// (`/stateless`). `/watch` listens to the bucket without MCP, until it has heard of a path.

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { R2Backend } from "kitbag";
import { registerFileTools } from "kitbag/mcp";

export class Served {
  #files;
  #sessions = new Map();

  constructor(_state, env) {
    this.#files = new R2Backend({ bucket: env.BUCKET, watchEveryMs: 1_000 });
  }

  async #connected(options) {
    const transport = new WebStandardStreamableHTTPServerTransport(options);
    const server = new McpServer({ name: "r2", version: "1" });
    registerFileTools(server, this.#files);
    await server.connect(transport);
    return transport;
  }

  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/watch") return this.#heard(searchParams.get("path"));
    if (pathname === "/stateless") {
      if (request.method !== "POST") return new Response(null, { status: 405 });
      return (await this.#connected({ sessionIdGenerator: undefined })).handleRequest(request);
    }
    const known = this.#sessions.get(request.headers.get("mcp-session-id") ?? "");
    if (known) return known.handleRequest(request);
    const transport = await this.#connected({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => this.#sessions.set(id, transport),
      onsessionclosed: (id) => this.#sessions.delete(id),
    });
    return transport.handleRequest(request);
  }

  /** Answers with all that was told when the path was; writes to it once the first list is there. */
  async #heard(path) {
    const told = [];
    await new Promise((resolve) => {
      const stop = this.#files.watch((changes) => {
        told.push(changes);
        if (told.length === 1) this.#files.uploadFiles([[path, new Uint8Array([1])]]);
        if (!changes.paths.includes(path)) return;
        stop();
        resolve();
      });
    });
    return Response.json({ told, capability: this.#files.capability });
  }
}

export default {
  fetch: (request, env) => env.SERVED.get(env.SERVED.idFromName("one")).fetch(request),
};
