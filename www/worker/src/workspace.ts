// One workspace: a tree over the Durable Object's SQLite and an R2 bucket, served over MCP and HTTP. What
// `serveFiles` returns lives as long as the object, so a client whose answer was lost can ask for it again.
// Sessions of MCP are in memory: when the object is restarted, a client begins a new one.

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import {
  CompositeBackend,
  createFileTools,
  type FileTools,
  R2Backend,
  SqlBackend,
  withPolicy,
} from "kitbag";
import { registerFileTools } from "kitbag/mcp";
import { serveFiles } from "kitbag/server";

/** The parts of Cloudflare's types that are used. */
export interface Env {
  TOKEN?: string;
  BUCKET: ConstructorParameters<typeof R2Backend>[0]["bucket"];
  WORKSPACE: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
}
interface State {
  storage: { sql: { exec(text: string, ...values: unknown[]): { toArray(): object[] } } };
}

const MOST_SESSIONS = 100;

export class Workspace {
  readonly #state: State;
  readonly #env: Env;
  #tree?: ReturnType<typeof withPolicy>;
  #files?: FileTools;
  #serve?: ReturnType<typeof serveFiles>;
  readonly #sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();

  constructor(state: State, env: Env) {
    this.#state = state;
    this.#env = env;
  }

  #open(name: string) {
    if (this.#tree) return this.#tree;
    const own = new SqlBackend({
      dialect: "sqlite",
      query: (text, values) => this.#state.storage.sql.exec(text, ...values).toArray(),
      migrate: true,
    });
    const shared = new R2Backend({ bucket: this.#env.BUCKET, prefix: name });
    const whole = new CompositeBackend(own, { "/shared/": shared });
    const tree = withPolicy(whole, { quota: { maxFileBytes: 1_500_000 } });
    this.#files = createFileTools(tree);
    this.#serve = serveFiles(() => tree, { path: `/${name}/files` });
    this.#tree = tree;
    return tree;
  }

  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const [, name = "", part = ""] = pathname.split("/");
    const tree = this.#open(name);
    if (part === "mcp") return this.#mcp(request, tree);
    if (part === "tools")
      return this.#tools(request, pathname.slice(name.length + part.length + 3));
    if (part === "files" && this.#serve) return this.#serve(request);
    return Response.json({ error: `There is no /${part}` }, { status: 404 });
  }

  async #mcp(request: Request, tree: object): Promise<Response> {
    const known = this.#sessions.get(request.headers.get("mcp-session-id") ?? "");
    if (known) return known.handleRequest(request);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      enableJsonResponse: true,
      onsessioninitialized: (id) => {
        // The oldest session ends, so that clients that never end theirs fill no memory.
        const [oldest] = this.#sessions.keys();
        if (this.#sessions.size >= MOST_SESSIONS && oldest) this.#sessions.delete(oldest);
        this.#sessions.set(id, transport);
      },
      onsessionclosed: (id) => void this.#sessions.delete(id),
    });
    const server = new McpServer({ name: "kitbag-files", version: "1.0.0" });
    registerFileTools(server, tree as never, { structured: true });
    await server.connect(transport);
    return transport.handleRequest(request);
  }

  async #tools(request: Request, name: string): Promise<Response> {
    const files = this.#files as FileTools;
    if (request.method === "GET" && name === "") {
      const tools = files.tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        inputSchema,
      }));
      return Response.json({ systemPrompt: files.systemPrompt, tools });
    }
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const { content, isError } = await files.call(name, await request.text());
    return Response.json({ content, isError });
  }
}
