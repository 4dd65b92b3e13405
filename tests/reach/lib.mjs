// What the tests of `kitbag/server` share: a server on loopback, and backends to serve.

import { createServer } from "node:http";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { serveFiles } from "../../pkg/dist/serve_files.js";
import { folder, sqlite } from "../fs/lib.mjs";
import { FilesystemBackend, HttpBackend, StateBackend } from "../lib/kitbag.mjs";

export * from "../lib/kitbag.mjs";
export { folder, serveFiles };

/** The body of a request. Who wants no more of it does not end the connection, on which the answer comes. */
function bodyOf(request) {
  const pieces = request.iterator({ destroyOnReturn: false });
  const pull = async (to) => {
    const { done, value } = await pieces.next();
    if (done) to.close();
    else to.enqueue(new Uint8Array(value));
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}

/** Reads the rest of a body that was refused, for a second. */
async function linger(request) {
  const timer = setTimeout(() => request.destroy(), 1_000);
  request.once("close", () => clearTimeout(timer));
  try {
    for await (const _ of request.iterator({ destroyOnReturn: false }));
  } catch {
    // The client has gone.
  }
}

/** Whether `listener` of `serveFiles` is tested, which makes no `Request` and no `Response`. */
const isOwn = process.env.KITBAG_REACH_LISTENER === "1";

/** Whether clients send by `fetch`, as they do to other machines: they do where somebody has replaced it. */
if (process.env.KITBAG_REACH_FETCH === "1") {
  const own = globalThis.fetch;
  globalThis.fetch = (...given) => own(...given);
}

/** Answers the requests of a Node server with a function from `Request` to `Response`. */
export async function listen(answer) {
  const converted = async (request, response) => {
    const controller = new AbortController();
    response.on("close", () => controller.abort());
    const hasBody = !["GET", "HEAD"].includes(request.method);
    const headers = new Headers();
    for (let at = 0; at < request.rawHeaders.length; at += 2) {
      headers.append(request.rawHeaders[at], request.rawHeaders[at + 1]);
    }
    let given;
    try {
      given = new Request(`http://${request.headers.host}${request.url}`, {
        method: request.method,
        headers,
        body: hasBody ? bodyOf(request) : undefined,
        duplex: "half",
        signal: controller.signal,
      });
    } catch {
      response.writeHead(400).end();
      return;
    }
    response.on("finish", () => request.complete || void linger(request));
    const answered = await answer(given);
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    if (!answered.body) return response.end();
    const body = Readable.fromWeb(answered.body);
    body.on("error", () => response.destroy());
    response.on("close", () => body.destroy());
    body.pipe(response);
  };
  const server = createServer((isOwn && answer.listener) || converted);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

/** Serves backends until the test is done; `backendOf` as of `serveFiles`. */
export async function served(t, backendOf, options) {
  const listening = await listen(serveFiles(backendOf, options));
  t.after(() => listening.close());
  return listening;
}

/** A client of one backend. */
export async function over(t, backend, { client = {}, ...options } = {}) {
  const listening = await served(t, () => backend, options);
  return { ...listening, files: new HttpBackend({ url: listening.url, ...client }) };
}

export const BACKENDS = {
  memory: (_t, writeMode) => new StateBackend({ writeMode }),
  disk: (t, writeMode) => new FilesystemBackend({ rootDir: folder(t), writeMode }),
  SQLite: (_t, writeMode) => sqlite({ writeMode }),
};

/** The body of an operation. */
export const posted = (url, fields, headers = {}) =>
  fetch(`${url}/`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-kitbag": "1", ...headers },
    body: typeof fields === "string" ? fields : JSON.stringify(fields),
  });

/**
 * What a server answers to bytes on a socket, which it must do before five seconds are over. With `wait` the
 * socket stays open.
 */
export const answerTo = (port, text, { wait = 0 } = {}) =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.on("data", (bytes) => {
      answer += bytes;
    });
    socket.on("error", () => resolve(answer));
    socket.on("close", () => resolve(answer));
    socket.setTimeout(5000, () => reject(new Error("no answer")));
    socket.write(text);
    if (wait === 0) socket.end();
  });
