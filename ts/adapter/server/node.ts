// Node's own server: what its requests say, and answers to them, without a `Request` and a `Response` for each,
// which take longer to make than a small file to read. Nothing of Node is imported: its objects bring all that is
// needed.

import { failed, headersOf } from "./answers.js";
import type { Answer } from "./handler.js";
import type { Incoming } from "./served.js";
import { BadRequest } from "./wire.js";

/**
 * How long the rest of a body that was refused is still read. A connection that ends with unread bytes is reset, and
 * the client may lose the answer.
 */
const LINGER_MS = 1_000;

/** A request of Node's server, as far as it is used. */
interface NodeRequest {
  method?: string;
  url?: string;
  rawHeaders: string[];
  complete: boolean;
  destroy(): unknown;
  once(event: "close", listener: () => void): unknown;
  iterator(options: { destroyOnReturn: boolean }): AsyncIterator<Uint8Array>;
}

/** What it is answered with, as far as it is used. */
interface NodeResponse {
  writableFinished: boolean;
  headersSent: boolean;
  writeHead(status: number, headers?: Record<string, string | string[]>): NodeResponse;
  write(bytes: Uint8Array): boolean;
  end(bytes?: Uint8Array): unknown;
  destroy(): unknown;
  on(event: "close" | "finish", listener: () => void): unknown;
  once(event: "drain", listener: () => void): unknown;
}

/**
 * Answers one request; the promise never rejects. With `shown` the owner's functions see a `Request`, else what
 * `answer` is given.
 */
export async function answerNode(
  request: NodeRequest,
  response: NodeResponse,
  answer: (request: Incoming) => Promise<Answer>,
  shown = false,
): Promise<void> {
  const gone = new AbortController();
  let onClose = () => gone.abort();
  response.on("close", () => response.writableFinished || onClose());
  response.on("finish", () => request.complete || void linger(request));
  try {
    const headers = headersIn(request);
    const asked = incoming(request, headers, gone);
    const done = await answer(shown ? { ...asked, view: viewOf(asked, headers) } : asked);
    if (!(done instanceof Response)) return answerWhole(response, done);
    response.writeHead(done.status, {
      ...Object.fromEntries(done.headers),
      // The one header that may come more than once, of a response of the owner.
      ...(done.headers.has("set-cookie") ? { "set-cookie": done.headers.getSetCookie() } : {}),
    });
    if (!done.body) return void response.end();
    const reader = done.body.getReader();
    const stop = onClose;
    let drained = () => {};
    onClose = () => {
      stop();
      drained();
      void reader.cancel().catch(() => {});
    };
    for (;;) {
      const piece = await reader.read();
      if (gone.signal.aborted) return void response.destroy();
      if (piece.done) break;
      if (response.write(piece.value)) continue;
      await new Promise<void>((resolve) => {
        drained = resolve;
        response.once("drain", resolve);
      });
    }
    response.end();
  } catch (error) {
    // An answer that has begun is broken off, so that nobody takes it for whole.
    if (response.headersSent) return void response.destroy();
    answerWhole(response, failed(unread(error), false));
  }
}

const answerWhole = (response: NodeResponse, kept: Exclude<Answer, Response>): void =>
  void response.writeHead(kept.status, headersOf(kept)).end(kept.body ?? undefined);

/** Why a request has no address. */
const unread = (error: unknown) =>
  error instanceof BadRequest
    ? { error: error.message, code: error.code }
    : { error: "The request has no address that can be read", code: "invalid_path" };

/** Reads what still comes of a body for a while, and then ends the connection. */
async function linger(request: NodeRequest): Promise<void> {
  const timer = setTimeout(() => request.destroy(), LINGER_MS);
  request.once("close", () => clearTimeout(timer));
  const pieces = request.iterator({ destroyOnReturn: false });
  try {
    while (!(await pieces.next()).done);
  } catch {
    // The client has gone.
  }
}

/** Reads a body. */
function readerOf(request: NodeRequest) {
  const pieces = request.iterator({ destroyOnReturn: false });
  type Piece = { done?: boolean; value?: Uint8Array };
  let isStopped = false;
  let stop: (() => void) | undefined;
  return {
    // A race with one promise for all pieces would keep each of them.
    read: () =>
      new Promise<Piece>((resolve, reject) => {
        stop = () => resolve({ done: true });
        if (isStopped) return stop();
        pieces.next().then(resolve, reject);
      }),
    cancel: async () => {
      isStopped = true;
      stop?.();
    },
  };
}

/** The headers by names in lower case; several of one name are one. */
function headersIn({ rawHeaders }: NodeRequest): Map<string, string> {
  const headers = new Map<string, string>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    const value = rawHeaders[at + 1] as string;
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}

/** The request as the web has it, without its body. Only what is looked at is made. */
function viewOf({ method, url, signal }: Incoming, given: Map<string, string>): Request {
  let headers: Headers | undefined;
  const named = () => {
    headers ??= new Headers([...given]);
    return headers;
  };
  let made: Request | undefined;
  const whole = () => {
    made ??= new Request(url, { method, headers: named(), signal });
    return made;
  };
  const at = { method, url, signal };
  return new Proxy(at as unknown as Request, {
    get(_, name) {
      if (name === "headers") return named();
      if (Object.hasOwn(at, name)) return at[name as keyof typeof at];
      const value: unknown = Reflect.get(whole(), name);
      return typeof value === "function" ? value.bind(whole()) : value;
    },
    has: (_, name) => name in Request.prototype,
    getPrototypeOf: () => Request.prototype,
  });
}

/** A host as a header has it, with or without a port. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d*)?$/i;
/** The beginning of a whole address, which proxies send. */
const WHOLE = /^https?:\/\/([^/?#]*)/i;
/** What a `URL` would write in another way, so that a file had several addresses. */
const ODD = /[^!-~]|^[^?#]*(?:\\|\/(?:\.|%2e){1,2}(?:[/?#]|$))/i;
/** For a client that names no host; nobody has this name. */
const NO_HOST = "host.invalid";

/** Reads the host; that of a whole address counts, and not the header. */
function hostOf(headers: Map<string, string>, named: string | undefined): string {
  const host = named ?? headers.get("host");
  if (host === undefined || (host === "" && named === undefined)) {
    headers.delete("host");
    return NO_HOST;
  }
  if (!HOST.test(host)) throw new BadRequest("The host of the request is none");
  headers.set("host", host);
  return host;
}

/** The address of a request. Its path is what the first line says, whatever the headers are. */
function addressOf({ url: line = "" }: NodeRequest, headers: Map<string, string>): string {
  const [begin = "", named] = WHOLE.exec(line) ?? [];
  const rest = line.slice(begin.length);
  const path = named === undefined || rest.startsWith("/") ? rest : `/${rest}`;
  if (!path.startsWith("/") || ODD.test(path)) {
    throw new BadRequest(
      "The path of the address must have plain names in ASCII between slashes",
      "invalid_path",
    );
  }
  return `http://${hostOf(headers, named)}${path}`;
}

/** What is asked. Throws for a wrong address. */
function incoming(
  request: NodeRequest,
  headers: Map<string, string>,
  gone: AbortController,
): Incoming {
  const { method = "GET" } = request;
  const url = addressOf(request, headers);
  const hasBody = method !== "GET" && method !== "HEAD";
  return {
    ...{ method, url, signal: gone.signal, abort: () => gone.abort() },
    headers: { get: (name) => headers.get(name) ?? null, has: (name) => headers.has(name) },
    body: hasBody ? { getReader: () => readerOf(request) } : null,
  };
}
