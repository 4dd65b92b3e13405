// `kitbag serve --files` and `--webdav`: the files of an address over HTTP, for `HttpBackend`, `curl`, other
// kitbag commands, and as a drive. Here a server of Node asks what answers for `serveFiles`, without a
// `Request` and a `Response` for each file, which take longer to make than a small file to read.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { type AnyBackend, StateBackend, withPolicy } from "kitbag";
import { headersOf } from "../server/answers.js";
import type { Incoming } from "../server/served.js";
import { serving } from "../server/serving.js";
import { keepSecret, tell } from "./output.js";
import {
  addressOf,
  type HttpPlace,
  LOCAL,
  needToken,
  rulesOf,
  type ServeRules,
  same,
} from "./serve.js";

/** Serves files at the root of an address. Returns its URL. */
export async function serveTree(
  backend: AnyBackend,
  rules: ServeRules,
  { port, host, token }: HttpPlace,
  webdav: boolean,
): Promise<{ url: string; close: () => Promise<void> }> {
  needToken(host, token);
  keepSecret(token);
  const ruled = withPolicy(backend, rulesOf(rules).options.policy ?? {});
  let answer: ReturnType<typeof serving> | undefined;
  const server = createServer((request, response) => {
    void answered(request, response, answer);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { port: actual } = server.address() as { port: number };
  const isKnown = ({ headers }: Incoming) =>
    token === undefined || same(tokenIn(headers.get("authorization") ?? "", webdav), token);
  answer = serving((request) => (isKnown(request) ? ruled : null), {
    // Without a token, other names that point to this machine are somebody else's.
    ...(token ? {} : { hosts: [...LOCAL, host].flatMap((name) => hostsOf(name, actual)) }),
    // Whatever name a drive's user chose, the files are the same.
    ...(webdav ? { webdav: { keepIn: { backend: new StateBackend() } }, client: nameOf } : {}),
    onError: (error) => tell(`kitbag: ${error instanceof Error ? error.message : error}`),
  });
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `${addressOf(host, actual)}/`, close };
}

/** The token of a request; a drive sends it as a password, under any name. */
function tokenIn(header: string, webdav: boolean): string {
  const [, scheme = "", value = ""] = /^(\w+) +(\S+)$/.exec(header) ?? [];
  if (scheme.toLowerCase() === "bearer") return value;
  if (!webdav || scheme.toLowerCase() !== "basic") return "";
  const text = Buffer.from(value, "base64").toString("utf8");
  return text.slice(text.indexOf(":") + 1);
}

/** Names who asks, without the token. */
function nameOf({ headers }: Request): string {
  const [, value = ""] = /^basic +(\S+)$/i.exec(headers.get("authorization") ?? "") ?? [];
  return Buffer.from(value, "base64").toString("utf8").split(":")[0] ?? "";
}

/** A host with its port, as addresses have it. */
function hostsOf(name: string, port: number): string[] {
  try {
    return [new URL(addressOf(name, port)).host];
  } catch {
    return [];
  }
}

/** Answers one request of Node's server. */
async function answered(
  request: IncomingMessage,
  response: ServerResponse,
  answer: ReturnType<typeof serving> | undefined,
): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => response.writableFinished || gone.abort());
  // The rest of a body that was refused is not read.
  response.on("finish", () => request.complete || request.destroy());
  try {
    const done = await answer?.(given(request, gone.signal));
    if (!done) return void response.writeHead(503).end();
    if (!(done instanceof Response)) {
      return void response.writeHead(done.status, headersOf(done)).end(done.body ?? undefined);
    }
    response.writeHead(done.status, Object.fromEntries(done.headers));
    if (!done.body) return void response.end();
    const pieces = Readable.fromWeb(done.body as ReadableStream);
    pieces.on("error", () => response.destroy());
    response.on("close", () => pieces.destroy());
    pieces.pipe(response);
  } catch {
    if (!response.headersSent) response.writeHead(400).end();
    else response.destroy();
  }
}

/** Reads a body; the rest of one that is not read on goes away with the connection. */
function readerOf(request: IncomingMessage) {
  const pieces = request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
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

/** What is asked of a request, without an object of its own. Throws for a wrong address. */
function given(request: IncomingMessage, signal: AbortSignal): Incoming {
  const { method = "GET", rawHeaders } = request;
  const url = `http://${request.headers.host}${request.url}`;
  const { username, password } = new URL(url);
  if (username !== "" || password !== "") throw new TypeError("An address with a password");
  const headers = new Map<string, string>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    const value = rawHeaders[at + 1] as string;
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  const hasBody = method !== "GET" && method !== "HEAD";
  return {
    ...{ method, url, signal },
    headers: { get: (name) => headers.get(name) ?? null, has: (name) => headers.has(name) },
    body: hasBody ? { getReader: () => readerOf(request) } : null,
  };
}
