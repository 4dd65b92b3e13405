// What this entry needs of an MCP SDK: `@modelcontextprotocol/sdk` (1.20 or newer) or
// `@modelcontextprotocol/server` (2). Neither is imported, so the one that the program has is enough,
// and what differs between them is here only.

/** What both name `McpServer`. */
export interface McpServer {
  /** The server below, which takes handlers by the method's name or by a schema that has it. */
  readonly server: {
    /** Called when the connection ends. */
    onclose?: (() => void) | undefined;
    /** Sets what answers a method. */
    setRequestHandler: (...args: never[]) => unknown;
    /** Sets what hears a notification. */
    setNotificationHandler: (...args: never[]) => unknown;
    /** Says what the server can besides. */
    registerCapabilities: (...args: never[]) => unknown;
    /** What the client can. */
    getClientCapabilities(): object | undefined;
    /** Asks the client. */
    request: (...args: never[]) => Promise<unknown>;
    /** Asks the client's user. */
    elicitInput: (...args: never[]) => Promise<unknown>;
    /** Tells of a resource that has changed. */
    sendResourceUpdated: (...args: never[]) => Promise<void>;
    /** Tells that other resources may be there. */
    sendResourceListChanged(): Promise<void>;
  };
  /** Registers a resource, or a template of some. */
  registerResource: (...args: never[]) => unknown;
  /** Whether a client is connected. */
  isConnected(): boolean;
}

type Params = Record<string, unknown>;

/** What a handler gets besides the request: `extra` of version 1, the context of version 2. */
export type Extra = object;

type Handler = (params: Params, extra: Extra, request: unknown) => unknown;

/** Whether the server is one of version 2. The methods of a server are named by strings there. */
const isSecond = ({ server }: McpServer) =>
  typeof Reflect.get(server, "projectCallToolResult") === "function";

/** The arguments of a method that its handler relies on: those that must be there end with `!`. */
const ARGUMENTS: Record<string, Record<string, string>> = {
  "tools/call": { name: "string!", arguments: "object" },
  "resources/list": { cursor: "string" },
  "resources/subscribe": { uri: "string!" },
  "resources/unsubscribe": { uri: "string!" },
};

/** The arguments of a request; throws if one is of another type than the protocol says. */
function paramsOf(method: string, request: unknown): Params {
  const { params = {} } = request as { params?: unknown };
  const found = isObject(params) ? params : {};
  for (const [name, wanted] of Object.entries(ARGUMENTS[method] ?? {})) {
    const value = found[name];
    const type = wanted.replace("!", "");
    if (value === undefined && type === wanted) continue;
    if (type === "object" ? isObject(value) : typeof value === type) continue;
    throw Object.assign(new Error(`${method}: ${name} must be of type ${type}`), { code: -32602 });
  }
  return found;
}

const isObject = (value: unknown): value is Params =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A schema that accepts everything, for each way in which the versions ask one. */
const ANYTHING = {
  parse: (data: unknown) => data,
  safeParse: (data: unknown) => ({ success: true, data }),
  "~standard": { version: 1, vendor: "kitbag", validate: (value: unknown) => ({ value }) },
};

/** How a server is told which method a handler is for. */
const named = (server: McpServer, method: string) =>
  isSecond(server) ? method : { ...ANYTHING, shape: { method: { value: method } } };

type Calls = Record<string, (...args: unknown[]) => unknown>;

/** Sets the handler of a method. It gets the arguments, and what the SDK tells of the request. */
export function onRequest(server: McpServer, method: string, handler: Handler): void {
  const calls = server.server as unknown as Calls;
  calls.setRequestHandler?.(named(server, method), async (request: unknown, extra: unknown) =>
    handler(paramsOf(method, request), extra as Extra, request),
  );
}

export function onNotification(server: McpServer, method: string, handler: () => void): void {
  const calls = server.server as unknown as Calls;
  calls.setNotificationHandler?.(named(server, method), handler);
}

/** Asks the client. The answer is as it came. */
export async function ask(server: McpServer, method: string): Promise<unknown> {
  return (server.server as unknown as Calls).request?.({ method }, ANYTHING);
}

/** Asks the client's user, where a server can ask. */
export async function elicit(server: McpServer, params: object, options: object): Promise<unknown> {
  return (server.server as unknown as Calls).elicitInput?.(params, options);
}

/** The server's handlers, which both versions keep to themselves. */
export const handlersOf = <T>(server: McpServer) =>
  Reflect.get(server.server, "_requestHandlers") as Map<string, T> | undefined;

/** What the server can as far as it was told, which version 1 keeps to itself. */
export const capabilitiesOf = (server: McpServer): { resources?: { subscribe?: boolean } } =>
  (server.server as unknown as Calls).getCapabilities?.() ?? {};

/** Says what the server can besides. */
export function announce(server: McpServer, capabilities: object): void {
  (server.server as unknown as Calls).registerCapabilities?.(capabilities);
}

/** Tells of a resource that has changed. */
export const updated = async (server: McpServer, uri: string): Promise<unknown> =>
  (server.server as unknown as Calls).sendResourceUpdated?.({ uri });

/** Changes the handler of a method that version 2 sets itself, whenever it does. */
export function beforeHandler<T>(server: McpServer, method: string, changed: (own: T) => T): void {
  if (!isSecond(server)) return;
  const calls = server.server as unknown as Calls;
  const set = calls.setRequestHandler?.bind(calls);
  calls.setRequestHandler = (name, handler, ...rest) =>
    set?.(name, name === method ? changed(handler as T) : handler, ...rest);
}

/** Registers the template of a URI with one variable, which `match` finds. */
export function registerTemplate(
  server: McpServer,
  name: string,
  uri: string,
  match: (uri: string) => { path: string } | null,
  metadata: { description: string },
  read: (uri: URL, extra: Extra) => unknown,
): void {
  const template = {
    uriTemplate: { variableNames: ["path"], match, toString: () => uri },
    listCallback: undefined,
    completeCallback: () => undefined,
  };
  const calls = server as unknown as Calls;
  calls.registerResource?.(name, template, metadata, (url: unknown, _: unknown, extra: unknown) =>
    read(url as URL, extra as Extra),
  );
}

/** The revision of 2026-07-28, in which each request says what its client can. */
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

/** What is known of a request, in either version. */
export interface Asked {
  id: string | number | undefined;
  signal: AbortSignal | undefined;
  /** It came over HTTP to a server without sessions, which has nothing to send later messages by. */
  stateless: boolean;
  /** What the client can, if the request says so itself: since 2026-07-28. */
  capabilities?: Record<string, unknown>;
  /** Answers to the questions of an earlier round, and what the server wanted back with them. */
  answers?: unknown;
  state?: unknown;
  /** Whose token came with the request, if the program checks tokens. */
  client?: unknown;
}

export function askedBy(extra: unknown): Asked {
  const { mcpReq, http, sessionId, requestInfo, requestId, signal } = (extra ?? {}) as {
    http?: { authInfo?: { clientId?: unknown } };
    mcpReq?: {
      id: string | number;
      signal?: AbortSignal;
      envelope?: Record<string, unknown>;
      inputResponses?: unknown;
      requestState?: () => unknown;
    };
    [name: string]: unknown;
  };
  if (mcpReq === undefined) {
    const stateless = requestInfo !== undefined && sessionId === undefined;
    return { id: requestId as string, signal: signal as AbortSignal, stateless };
  }
  const { envelope } = mcpReq;
  return {
    id: mcpReq.id,
    signal: mcpReq.signal,
    stateless: http !== undefined && sessionId === undefined,
    ...(envelope && { capabilities: (envelope[CAPABILITIES] ?? {}) as Record<string, unknown> }),
    answers: mcpReq.inputResponses,
    state: mcpReq.requestState?.(),
    client: http?.authInfo?.clientId,
  };
}
