// The answer to a request: it is checked, limited, and given to the route that it is for. Everything that
// needs the backend is a route (`routes.ts`).

import type { AnyBackend } from "kitbag";
import { type Address, Addresses } from "./addresses.js";
import { failed, shownFailure, withHeaders } from "./answers.js";
import { arriving } from "./arriving.js";
import { bodyOf, checkDoors, type Doors, doorHeaders, preflight, Refused } from "./guard.js";
import { Running, within } from "./limits.js";
import { inLines } from "./lines.js";
import { type Kept, Memories } from "./memory.js";
import type { checkServer } from "./options.js";
import { inPieces, type Pieces } from "./pieces.js";
import { FIRST, ROUTES, type Route, type Rows } from "./routes.js";
import { type Call, type Incoming, servedBy } from "./served.js";
import { digestOf } from "./stored.js";
import { watched } from "./watch.js";
import { BadRequest, joined, utf8 } from "./wire.js";

/** What says whose files a request is about. */
export type BackendOf<R extends Incoming> = (
  request: R,
) => AnyBackend | Response | null | undefined | Promise<AnyBackend | Response | null | undefined>;

/** A whole answer, or one that is still being made. */
export type Answer = Kept | Response;

/** What drives need beside the routes of files. */
export interface Drives {
  routes: readonly Route[];
  /** The answer to their first question. */
  greeting(): Kept;
  /** Makes a change of another client while nothing of it is locked. */
  beside<T>(call: Call, fields: Record<string, unknown>, work: () => Promise<T>): Promise<T | Kept>;
}

/** Answers requests with the files of a backend; the promise never rejects, save for what has no address. */
export function handlerOf<R extends Incoming>(
  backendOf: BackendOf<R>,
  given: ReturnType<typeof checkServer>,
  drives?: Drives,
): (request: Incoming) => Promise<Answer> {
  const server: Server = {
    ...given,
    webdav: drives,
    routes: [FIRST, ...(drives?.routes ?? []), ...ROUTES],
    backendOf: backendOf as BackendOf<Incoming>,
    running: new Running(given.maxParallel),
    watching: new Running(given.maxParallel),
    memories: new Memories(),
  };
  const addresses = new Addresses();
  return async (request) => {
    const url = addresses.read(request.url);
    try {
      return withDoors(request, server, await answer(request, url, server));
    } catch (error) {
      return withDoors(request, server, refused(error, server, request));
    }
  };
}

interface Server extends ReturnType<typeof checkServer> {
  webdav: Drives | undefined;
  routes: readonly Route[];
  backendOf: BackendOf<Incoming>;
  running: Running;
  watching: Running;
  memories: Memories;
}

function withDoors(request: Incoming, doors: Doors, answer: Answer): Answer {
  const headers = doorHeaders(request, doors);
  if (!headers) return answer;
  if (!(answer instanceof Response)) return withHeaders(answer, headers);
  for (const [name, value] of Object.entries(headers)) {
    try {
      answer.headers.set(name, value);
    } catch {
      // The caller's own response, whose headers are its own.
    }
  }
  return answer;
}

/** The answer to what was thrown: a refusal, or a failure about which the client learns nothing more. */
function refused(error: unknown, server: Server, request: Incoming): Kept {
  if (error instanceof Refused) {
    return failed({ error: error.message, code: error.code }, false, error.status);
  }
  if (error instanceof BadRequest) {
    return failed({ error: error.message, code: error.code }, false);
  }
  tell(server, error, request);
  return failed(shownFailure({ code: "internal" }), false);
}

/** Who asks, unless the owner says it. */
const clientOf = ({ headers }: Incoming) =>
  headers.get("authorization") ?? headers.get("cookie") ?? "";

/** What the owner's functions see of a request. */
const shown = (request: Incoming) => request.view ?? (request as Request);

function tell({ onError }: Server, error: unknown, request: Incoming): void {
  try {
    onError?.(error, shown(request));
  } catch {
    // The owner's function must not decide what a client sees.
  }
}

/** The path of a request below that of the server. Each name is decoded once. */
export function pathOf(url: Address, base: string): string {
  if (url.pathname === base) return "/";
  if (!url.pathname.startsWith(`${base}/`)) throw new Refused(404, "Nothing is here", "not_found");
  const names = url.pathname.slice(base.length + 1).split("/");
  const decoded = names.map((name, at) => {
    let plain = name;
    try {
      if (name.includes("%")) plain = decodeURIComponent(name);
    } catch {
      throw new BadRequest("The path of the address is not encoded as UTF-8", "invalid_path");
    }
    // One spelling for each path: what a cache or a proxy took for another one is refused.
    const isOdd = plain.includes("/") || plain === "." || plain === "..";
    if (isOdd || (plain === "" && at < names.length - 1)) {
      throw new BadRequest(
        "The path of the address must have plain names between slashes",
        "invalid_path",
      );
    }
    return plain;
  });
  return `/${decoded.join("/")}`;
}

async function answer(request: Incoming, url: Address, server: Server): Promise<Answer> {
  checkDoors(request, url, server);
  if (url.hash !== "") throw new BadRequest("An address here has no #");
  if (request.method === "OPTIONS") {
    const asks = request.headers.has("access-control-request-method");
    return server.webdav && !asks ? server.webdav.greeting() : preflight(request, server);
  }
  const path = pathOf(url, server.path);
  const query = url.search === "" ? undefined : new URLSearchParams(url.search);
  const watch = query?.get("watch") ?? null;
  const isWatch = request.method === "GET" && path === "/" && watch !== null;
  if (query && !(isWatch && query.size === 1)) {
    throw new BadRequest("An address here has no query, but for ?watch=PATH");
  }
  const backend = await server.backendOf(shown(request));
  if (backend instanceof Response) return backend;
  if (backend === null || backend === undefined) {
    const error = "There are no files for this request; sign in first";
    const no = failed({ error, code: "permission_denied" }, false, 401);
    // Drives ask their user for a name and a password only then.
    const how: Record<string, string> = server.webdav
      ? { "www-authenticate": 'Basic realm="files", charset="UTF-8"' }
      : {};
    return withHeaders(no, how);
  }
  const served = servedBy(backend);
  const client = server.client ? server.client(shown(request)) : clientOf(request);
  const leave = (isWatch ? server.watching : server.running).enter(client);
  if (!leave) {
    const error = `At most ${server.maxParallel} calls may run at once; wait for one of them`;
    return failed({ error, code: "rate_limited", retryAfterMs: 1000 }, false);
  }
  if (isWatch) {
    let stream: Response | undefined;
    try {
      stream = watched(request, served, watch, leave);
    } finally {
      if (!stream) leave();
    }
    if (stream) return stream;
    const error = "These files cannot be watched";
    return failed({ error, code: "unsupported" }, false);
  }
  const { method } = request;
  const isMeant = ({ header }: Route) => header === undefined || request.headers.has(header);
  const route = server.routes.find(
    (one) => one.fits(path) && one.methods.includes(method) && isMeant(one),
  );
  if (!route) {
    leave();
    const fitting = server.routes.filter((one) => one.fits(path));
    const allow = [...new Set(fitting.flatMap((one) => one.methods))].join(", ");
    const no = failed(
      { error: `Here is no ${method}; there is ${allow}`, code: "unsupported" },
      false,
      405,
    );
    return withHeaders(no, { allow });
  }
  let stays = false;
  // An answer that is still being read keeps its place.
  const keep = () => {
    stays = true;
    return leave;
  };
  try {
    return await routed(request, route, path, served, client, server, keep);
  } finally {
    if (!stays) leave();
  }
}

async function routed(
  request: Incoming,
  route: Route,
  path: string,
  backend: Call["backend"],
  client: string,
  server: Server,
  keep: () => () => void,
): Promise<Answer> {
  const memory = server.memories.of(client);
  const arrives = route.arrives ? arriving(request, server) : undefined;
  const body = arrives
    ? utf8(`${arrives.size}`)
    : await bodyOf(request, server.maxBodyBytes, server.timeoutMs);
  const planned = route.plan({ request, path, body });
  const key = request.headers.get("idempotency-key");
  // A change whose client may ask for its answer later is made to its end, though the client has gone.
  const stays = planned.changes === true && key !== null;
  const callWith = (signal: AbortSignal): Call => ({
    ...{ request, backend, client, options: { signal } },
    ...{ base: server.path, limits: server, arrives },
  });
  const run = async () => {
    const { signal, end } = arrives?.begin() ?? within(request, server.timeoutMs, stays);
    const call = callWith(signal);
    const { posted } = planned;
    try {
      if (!server.webdav || !posted) return await planned.run(call);
      return await server.webdav.beside(call, posted, () => planned.run(call));
    } finally {
      end();
    }
  };
  const ticket = () => ({ "kitbag-ticket": memory.ticket });
  let done: Kept | Rows | Pieces;
  if (stays) {
    const answered = async () => {
      try {
        return (await run()) as Kept;
      } catch (error) {
        if (error instanceof BadRequest) {
          return failed({ error: error.message, code: error.code }, false);
        }
        tell(server, error, request);
        return failed(shownFailure({ code: "internal" }), false);
      }
    };
    // Of a file that has not arrived nothing was stored: who sends it again begins anew.
    const kept = async () => ({ ...(await answered()), isOpen: arrives?.isWhole === false });
    const answer = memory.once(key as string, await digestOf(identity(request, body)), kept);
    if (!answer) {
      const error =
        "What became of a change with this idempotency-key is not known here any more, and nothing was done. Begin the key with the kitbag-ticket of this answer if it is sent for the first time; else look at the files";
      const stale = failed({ error, code: "conflict" }, false, 409);
      return withHeaders(stale, { ...ticket(), "kitbag-stale": "1" });
    }
    done = await answer;
  } else {
    done = await run();
  }
  if ("outcome" in done) {
    return inLines(done, server.maxResultBytes, ticket());
  }
  if ("first" in done) {
    return inPieces(callWith(request.signal), withHeaders(done, ticket()), keep());
  }
  if (done.body && done.body.length > server.maxResultBytes) {
    const error = `The answer has more than ${server.maxResultBytes} bytes; ask for less`;
    done = failed({ error, code: "too_large" }, false);
  }
  return withHeaders(done, ticket());
}

/** What makes two requests the same. */
function identity(request: Incoming, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const named = [
    ...["accept", "content-type", "depth", "destination", "if", "if-match", "if-none-match"],
    ...["lock-token", "overwrite"],
  ];
  const headers = named.map((name) => request.headers.get(name) ?? "");
  return joined([utf8(`${[request.method, request.url, ...headers].join("\n")}\n`), body]);
}
