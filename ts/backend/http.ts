// HttpBackend: the files of a server that runs `serveFiles` of `kitbag/server`. This module checks the
// options and listens to changes; the rest is in WebAssembly.

import chunk from "#chunk/http";
import { Options } from "../core/checks.js";
import { HttpGiven } from "../core/descriptions.js";
import { create, take } from "../core/given.js";
import { sealClass } from "../core/handle.js";
import { type Sending, sender } from "../core/http.js";
import { glue } from "../core/instance.js";
import { addWatch } from "../core/listeners.js";
import { Backend } from "./backend.js";
import { Events } from "./http-events.js";
import { loadParts } from "./in-parts.js";

/** Options of HttpBackend. */
export interface HttpBackendOptions {
  /** Where `serveFiles` answers: `https://…`, or in a page also a path such as `/files`. */
  url: string;
  /** Headers of each request, such as `authorization`, or a function that returns them. */
  headers?:
    | Record<string, string>
    | (() => Record<string, string> | Promise<Record<string, string>>);
  /**
   * Sends the requests instead of the host's `fetch`. Without it, requests to a server on the same machine go past
   * `fetch` in Node, in half its time, unless somebody replaced it or its dispatcher.
   */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Time limit of one attempt, in milliseconds; a request is sent up to six times. Default 60,000. */
  timeoutMs?: number;
  /**
   * Adds `watch`. Where the server's backend cannot be watched, a listener is asked once to list the files
   * again. Default false.
   */
  watch?: boolean;
}

/** The response headers that are used. */
const WANTED = [
  ...["content-encoding", "content-length", "content-range", "content-type"],
  ...["kitbag-stale", "kitbag-ticket", "retry-after"],
];

/**
 * The files of another server, over HTTP. That server decides what is allowed; `capability` is what its
 * backend guarantees, from the first call on.
 *
 * @example
 * const files = new HttpBackend({
 *   url: "/files",
 *   headers: () => ({ authorization: `Bearer ${token()}` }),
 * });
 */
export class HttpBackend extends Backend {
  readonly #events: Events | undefined;

  /** Throws a `TypeError` that names the wrong option. No request is sent yet. */
  constructor(options: HttpBackendOptions) {
    const given = new Options("HttpBackend", options);
    const values = take(given, HttpGiven);
    const url = addressOf(given);
    const sending = { headers: headersOf(given), wanted: WANTED };
    const how: Sending = { ...sending, cookies: true };
    const own = given.callback("fetch") as Sending["fetch"];
    if (own) how.fetch = own;
    const isWatched = given.boolean("watch", false);
    given.done();
    chunk.load();
    loadParts();
    super(create("HttpBackend", HttpGiven, { ...values, url, send: sender(how) }, glue.http_new));
    if (!isWatched) return;
    this.#events = new Events(url, how);
    addWatch(this, this.#events.add);
  }

  /** Frees what this object holds, and ends its watchers; see `Backend.dispose`. */
  override dispose(): void {
    this.#events?.close();
    super.dispose();
  }
}

sealClass(HttpBackend);

function addressOf(given: Options): string {
  const text = given.requiredText("url");
  const base = (globalThis as { location?: { href?: unknown } }).location?.href;
  const wrong = () =>
    given.refuse(
      "url",
      "an http or https address without a user, `?` and `#`; a path only in a page",
      text,
    );
  let url: URL;
  try {
    url = new URL(text, typeof base === "string" ? base : undefined);
  } catch {
    return wrong();
  }
  const isPlain =
    url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!/^https?:$/.test(url.protocol) || !isPlain) return wrong();
  return url.href.replace(/\/+$/, "");
}

function headersOf(given: Options): NonNullable<Sending["headers"]> {
  const value = given.raw("headers");
  if (typeof value === "function") return value as NonNullable<Sending["headers"]>;
  const isRecord = typeof value === "object" && value !== null && !(Symbol.iterator in value);
  const isText = isRecord && Object.values(value).every((one) => typeof one === "string");
  if (value !== undefined && !isText) {
    given.refuse("headers", "an object with strings, or a function that returns one", value);
  }
  const headers = { ...(value as Record<string, string> | undefined) };
  return () => headers;
}
