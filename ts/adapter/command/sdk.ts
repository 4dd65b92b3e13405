// The SDK of MCP that is installed beside the package: version 2 (`@modelcontextprotocol/server`), which speaks
// all versions of the protocol, or version 1 (`@modelcontextprotocol/sdk`). Neither is a dependency.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { registerFileTools } from "kitbag/mcp";
import { answerNode } from "../server/node.js";
import type { Incoming } from "../server/served.js";
import type { Bus } from "./heard.js";
import { CommandError } from "./output.js";

type McpServer = Parameters<typeof registerFileTools>[0];

type Info = { name: string; version: string };

/** Makes a server for one client. */
type Make = (Server: new (info: Info, options: { instructions: string }) => McpServer) => McpServer;

/** What clients of 2026-07-28 are promised where they hear of changes. */
const HEARD = { resources: { subscribe: true, listChanged: true } };

/** Ways to serve clients. */
export interface Serving {
  /** One client over standard input and output. */
  stdio(): Promise<void>;
  /** Clients over Streamable HTTP; by `bus`, those of 2026-07-28 hear of changes. */
  http(bus?: Bus): {
    /** Answers a request of Node's server. */
    answered(request: IncomingMessage, response: ServerResponse): Promise<void>;
    /** Ends what is open. */
    end(): Promise<void>;
  };
}

type Sdk = (make: Make) => Serving;

/** Most clients of one server over HTTP; the oldest session ends for a new one. */
const MOST_SESSIONS = 100;

interface Session {
  sessionId?: string | undefined;
  close(): Promise<void>;
}

/** Sessions of the protocol of 2025, by their ids. */
class Sessions<S extends Session> extends Map<string, S> {
  /** The session that a request names, or a new one; undefined if it is not known. */
  async of(id: string | undefined, begin: (options: object) => Promise<S>): Promise<S | undefined> {
    if (id !== undefined) return this.get(id);
    const made: S = await begin({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id: string) => {
        const [oldest] = this;
        if (this.size >= MOST_SESSIONS && oldest) {
          this.delete(oldest[0]);
          void oldest[1].close();
        }
        this.set(id, made);
      },
      onsessionclosed: (id: string) => void this.delete(id),
    });
    return made;
  }

  async end(): Promise<void> {
    for (const session of this.values()) await session.close();
  }
}

/** A client then begins a new session. */
const NO_SESSION = {
  status: 404,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({
    jsonrpc: "2.0",
    error: { code: -32001, message: "There is no such session; initialize a new one" },
    id: null,
  }),
};

async function first(): Promise<Sdk> {
  const [{ McpServer }, { StdioServerTransport }, { StreamableHTTPServerTransport }] =
    await Promise.all([
      import("@modelcontextprotocol/sdk/server/mcp.js"),
      import("@modelcontextprotocol/sdk/server/stdio.js"),
      import("@modelcontextprotocol/sdk/server/streamableHttp.js"),
    ]);
  return (make) => {
    const connected = (transport: object) =>
      (make(McpServer) as InstanceType<typeof McpServer>).connect(transport as never);
    return {
      stdio: () => connected(new StdioServerTransport()),
      http() {
        const sessions = new Sessions<InstanceType<typeof StreamableHTTPServerTransport>>();
        const begin = async (options: object) => {
          const transport = new StreamableHTTPServerTransport(options as never);
          await connected(transport);
          return transport;
        };
        const answered = async (request: IncomingMessage, response: ServerResponse) => {
          const id = request.headers["mcp-session-id"];
          const session = await sessions.of(id === undefined ? id : String(id), begin);
          if (!session) {
            const { status, headers, body } = NO_SESSION;
            return void response.writeHead(status, headers).end(body);
          }
          await session.handleRequest(request, response);
          // It began no session, so nobody can use it again.
          if (session.sessionId === undefined) await session.close();
        };
        return { answered, end: () => sessions.end() };
      },
    };
  };
}

/** What is used of version 2, which the types here do not depend on. */
interface Second {
  McpServer: Parameters<Make>[0];
  createMcpHandler(
    make: () => McpServer,
    options: { legacy: "reject"; bus?: Bus },
  ): { fetch(request: Request): Promise<Response>; close(): Promise<void> };
  isLegacyRequest(request: Request): Promise<boolean>;
  WebStandardStreamableHTTPServerTransport: new (
    options: object,
  ) => Session & { handleRequest(request: Request): Promise<Response> };
}

const SECOND = "@modelcontextprotocol/server";

async function second(): Promise<Sdk> {
  const [sdk, { serveStdio }] = await Promise.all([
    import(SECOND) as Promise<Second>,
    import(`${SECOND}/stdio`) as Promise<{ serveStdio(make: () => McpServer): unknown }>,
  ]);
  const { createMcpHandler, isLegacyRequest, WebStandardStreamableHTTPServerTransport } = sdk;
  return (make) => {
    const made = () => make(sdk.McpServer);
    return {
      stdio: async () => void serveStdio(made),
      http(bus) {
        const Heard = class extends sdk.McpServer {
          constructor(info: Info, options: { instructions: string }) {
            super(info, { ...options, ...(bus && { capabilities: HEARD }) });
          }
        };
        const options = { legacy: "reject", ...(bus && { bus }) } as const;
        const handler = createMcpHandler(() => make(Heard), options);
        type Transport = InstanceType<Second["WebStandardStreamableHTTPServerTransport"]>;
        const sessions = new Sessions<Transport>();
        const begin = async (options: object) => {
          const transport = new WebStandardStreamableHTTPServerTransport(options);
          await (made() as McpServer & { connect(to: object): Promise<void> }).connect(transport);
          return transport;
        };
        const respond = async (asked: Incoming) => {
          const request = requestOf(asked);
          if (!(await isLegacyRequest(request))) return handler.fetch(request);
          const id = request.headers.get("mcp-session-id") ?? undefined;
          const session = await sessions.of(id, begin);
          if (!session) return new Response(NO_SESSION.body, NO_SESSION);
          const response = await session.handleRequest(request);
          if (session.sessionId === undefined) await session.close();
          return response;
        };
        return {
          answered: (request, response) => answerNode(request, response, respond, true),
          end: () => Promise.all([handler.close(), sessions.end()]).then(() => undefined),
        };
      },
    };
  };
}

/** A request as the web has it, with its body. */
function requestOf({ method, url, signal, body, view }: Incoming): Request {
  const reader = body?.getReader();
  const stream =
    reader &&
    new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await reader.read();
        if (value) controller.enqueue(value);
        if (done) controller.close();
      },
      cancel: () => reader.cancel(),
    });
  const headers = (view as Request).headers;
  return new Request(url, {
    ...{ method, headers, signal },
    ...(stream && { body: stream, duplex: "half" }),
  });
}

/** Whether an error says that a package, or what is needed of it, is not there. */
function isMissing(error: unknown, name: string): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (code === "ERR_PACKAGE_PATH_NOT_EXPORTED") return true;
  const what = /'([^']*)'|"([^"]*)"/.exec(String(message));
  const missing = (what?.[1] ?? what?.[2] ?? "").replaceAll("\\", "/");
  return code === "ERR_MODULE_NOT_FOUND" && missing.includes(name);
}

/** The installed SDK; the newer one if both are. `command` is what installs one. */
export async function installedSdk(command: string): Promise<Sdk> {
  for (const [name, load] of [
    [SECOND, second],
    ["@modelcontextprotocol/sdk", first],
  ] as const) {
    try {
      return await load();
    } catch (error) {
      if (!isMissing(error, name)) throw error;
    }
  }
  throw new CommandError(
    `an SDK of MCP is needed: ${SECOND} 2, or @modelcontextprotocol/sdk from version 1.20. Run\n\n  ${command}`,
  );
}
