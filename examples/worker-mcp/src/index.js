// A Worker that serves the files of each user over MCP: large and shared files are in R2, memories in D1.
// Each request is answered by a server of its own, so there are no sessions and no Durable Object.

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { CompositeBackend, D1Backend, R2Backend } from "kitbag";
import { registerFileTools } from "kitbag/mcp";

/** The files of a user. Nobody else's can be named in this tree. */
function filesOf(user, env) {
  const bucket = new R2Backend({
    bucket: env.FILES,
    prefix: `users/${user}`,
    writeMode: "overwrite",
  });
  const memories = new D1Backend({
    database: env.DB,
    namespace: ["users", user],
    migrate: true,
    writeMode: "overwrite",
  });
  return new CompositeBackend(bucket, { "/memories/": memories });
}

/** Whose request it is. In your program: the user of a verified token of your sign-in. */
function userOf(request, env) {
  const [, token] = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
  return new Map(Object.entries(JSON.parse(env.USERS))).get(token);
}

export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname !== "/mcp") return new Response(null, { status: 404 });
    const user = userOf(request, env);
    if (!user) {
      return new Response(null, { status: 401, headers: { "www-authenticate": "Bearer" } });
    }
    // Without sessions there is nothing to listen to and nothing to end.
    if (request.method !== "POST") {
      return new Response(null, { status: 405, headers: { allow: "POST" } });
    }
    const server = new McpServer({ name: "files", version: "1.0.0" });
    registerFileTools(server, filesOf(user, env), {
      // A change names the version that was read, because no session remembers it.
      structured: true,
      policy: { quota: { maxBytes: 50_000_000 }, readOnlyPrefixes: ["/policies"] },
    });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: undefined,
      enableJsonResponse: true,
    });
    await server.connect(transport);
    return transport.handleRequest(request);
  },
};
