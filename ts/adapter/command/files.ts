// `kitbag serve --files` and `--webdav`: the files of an address over HTTP, for `HttpBackend`, `curl`, other
// kitbag commands, and as a drive. Here a server of Node calls `serveFiles`.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { type AnyBackend, StateBackend, withPolicy } from "kitbag";
import { serveFiles } from "kitbag/server";
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

/** Bytes of an answer that is not worth a stream. */
const AT_ONCE = 64 << 10;

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
  let answer: ((request: Request) => Promise<Response>) | undefined;
  const server = createServer((request, response) => {
    void answered(request, response, answer);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { port: actual } = server.address() as { port: number };
  const isKnown = ({ headers }: Request) =>
    token === undefined || same(tokenIn(headers.get("authorization") ?? "", webdav), token);
  answer = serveFiles((request) => (isKnown(request) ? ruled : null), {
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
  answer: ((request: Request) => Promise<Response>) | undefined,
): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  // The rest of a body that was refused is not read.
  response.on("finish", () => request.complete || request.destroy());
  try {
    const answered = (await answer?.(given(request, gone.signal))) ?? refused(503);
    const { status, headers, body } = answered;
    response.writeHead(status, Object.fromEntries(headers));
    if (!body) return void response.end();
    if (Number(headers.get("content-length") ?? Number.NaN) <= AT_ONCE) {
      return void response.end(new Uint8Array(await answered.arrayBuffer()));
    }
    const pieces = Readable.fromWeb(body as ReadableStream);
    pieces.on("error", () => response.destroy());
    response.on("close", () => pieces.destroy());
    pieces.pipe(response);
  } catch {
    if (!response.headersSent) response.writeHead(400).end();
    else response.destroy();
  }
}

const refused = (status: number) => new Response(null, { status });

/** Throws for what is no request, such as a wrong address. */
function given(request: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (let at = 0; at + 1 < request.rawHeaders.length; at += 2) {
    headers.append(request.rawHeaders[at] as string, request.rawHeaders[at + 1] as string);
  }
  const hasBody = request.method !== "GET" && request.method !== "HEAD";
  const init = { method: request.method, headers, signal, duplex: "half" };
  return new Request(`http://${request.headers.host}${request.url}`, {
    ...init,
    ...(hasBody ? { body: Readable.toWeb(request) } : {}),
  } as RequestInit);
}
