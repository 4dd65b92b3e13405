// One HTTP request with `fetch`, for WebAssembly: one call with all headers in a string, and one
// promise, because each value that crosses the boundary costs more than its content. This module
// does not know what a request means.

import type { MaybePromise } from "../types.js";
import type { Parts } from "./part-source.js";

/** A response. */
type Answer = [status: number, headers: string, body: Uint8Array];

/** Why there is no response. The host's message is left out: it may contain the signed URL. */
interface NoAnswer {
  /** Whether the response began and was then cut off. */
  broken: boolean;
  /** Whether a page sent the request to another origin, so that CORS may be the cause. */
  crossOrigin: boolean;
  /** The host's error code, such as `ECONNREFUSED`. */
  code: string | undefined;
}

/** The response headers that are used. Reading each is faster than iterating over all. */
const BUCKET_HEADERS = [
  "etag",
  "content-type",
  "content-length",
  "content-encoding",
  "content-range",
  "date",
  "last-modified",
  "retry-after",
  "x-amz-meta-kitbag",
];

/** What is used of a response. */
export interface Got {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** Gives a request up, whichever way it goes. */
export class GiveUp {
  #isOver = false;
  #stop: (() => void) | undefined;

  abort(): void {
    this.#isOver = true;
    this.#stop?.();
  }

  /** Says how. */
  by(stop: () => void): void {
    this.#stop = stop;
    if (this.#isOver) stop();
  }
}

/** Sends a request in a shorter way than `fetch`; undefined for one that it does not take. */
type ShortWay = (url: string, init: RequestInit, giveUp: GiveUp) => Promise<Got> | undefined;

let shortWay: ShortWay | undefined;

/** Names the short way of this host. */
export function takeShortWay(way: ShortWay): void {
  shortWay = way;
}

/** How requests are sent, where that differs from those to a bucket. */
export interface Sending {
  /** Instead of the host's `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Further headers, for each request. */
  headers?: () => MaybePromise<Record<string, string>>;
  /** The response headers that are used. */
  wanted?: readonly string[];
  /** Whether a page sends its cookies to its own site. */
  cookies?: boolean;
}

/** How long the server may take to answer a change that was given up. */
const LATE_MS = 60_000;

/** Cannot occur in a header's name or value. */
const SEPARATOR = "\0";

/** Browsers need options to disable cache and cookies. Some Workers reject these options. */
const inBrowser =
  typeof navigator === "object" && navigator?.userAgent?.startsWith("Mozilla/") === true;

/** Node itself: others that have its names know no such options. */
const inNode =
  (globalThis as { process?: { release?: { name?: string } } }).process?.release?.name === "node" &&
  !["Bun", "Deno", "WebSocketPair"].some((name) => name in globalThis);

type Sent = [answer: Promise<Answer | NoAnswer>, giveUp: Pick<GiveUp, "abort">];

/** A function that sends one request. The promise never rejects; `abort` gives the request up. */
export function sender(how: Sending) {
  return (
    method: string,
    url: string,
    flatHeaders: string,
    body: Uint8Array<ArrayBuffer> | Parts | undefined,
  ): Sent => {
    const headers: Record<string, string> = {};
    const parts = flatHeaders.split(SEPARATOR);
    for (let at = 0; at + 1 < parts.length; at += 2) {
      headers[parts[at] ?? ""] = parts[at + 1] ?? "";
    }
    const giveUp = new GiveUp();
    const init: RequestInit = {
      method: method === "QUERY" ? "POST" : method,
      ...{ headers, redirect: "manual" },
    };
    if (body instanceof Uint8Array) init.body = body;
    const inParts = body instanceof Uint8Array ? undefined : body;
    if (inBrowser) {
      init.cache = "no-store";
      init.credentials = how.cookies ? "same-origin" : "omit";
    }
    const answer = answered(url, init, how, inParts, giveUp);
    if (["GET", "HEAD", "QUERY"].includes(method)) return [answer, giveUp];
    return [answer, { abort: () => closeLate(answer, giveUp) }];
  };
}

/** Sends a request to a bucket. */
export const send = sender({});

/** A change that is given up may have arrived: only its answer tells when later ones are safe. */
function closeLate(answer: Promise<unknown>, giveUp: GiveUp): void {
  const timer = setTimeout(() => giveUp.abort(), LATE_MS);
  // A process waits for the request itself, if for anything.
  (timer as { unref?: () => void }).unref?.();
  void answer.then(() => clearTimeout(timer));
}

async function answered(
  url: string,
  init: RequestInit,
  how: Sending,
  parts: Parts | undefined,
  giveUp: GiveUp,
): Promise<Answer | NoAnswer> {
  let broken = false;
  let unread = false;
  if (how.headers) {
    try {
      // Ours win: they say what the body is.
      init.headers = { ...lower(await how.headers()), ...(init.headers as Record<string, string>) };
    } catch {
      return { broken, crossOrigin: false, code: "HEADERS_FUNCTION_FAILED" };
    }
  }
  try {
    if (parts) {
      const failed = () => {
        unread = true;
      };
      init.body = await parts.body(!inBrowser, failed);
      // Hosts that send streams want to be told that the answer comes behind them.
      Object.assign(init, { duplex: "half" });
      // Node copies a request that might be sent to another address, or by a window, and keeps all of it.
      if (inNode) Object.assign(init, { redirect: "error", window: null });
    }
    const short = how.fetch ? undefined : shortWay?.(url, init, giveUp);
    const response = await (short ?? fetched(url, init, how, giveUp));
    broken = true;
    let headers = "";
    for (const name of how.wanted ?? BUCKET_HEADERS) {
      const value = response.headers.get(name);
      if (value !== null) headers += `${name}${SEPARATOR}${value}${SEPARATOR}`;
    }
    return [response.status, headers, new Uint8Array(await response.arrayBuffer())];
  } catch (error) {
    if (unread) return { broken, crossOrigin: false, code: "BODY_FAILED" };
    return { broken, crossOrigin: !broken && isCrossOrigin(url), code: codeOf(error) };
  }
}

function fetched(url: string, init: RequestInit, how: Sending, giveUp: GiveUp): Promise<Got> {
  const controller = new AbortController();
  giveUp.by(() => controller.abort());
  return (how.fetch ?? fetch)(url, { ...init, signal: controller.signal });
}

/** Headers with their names in lower case. */
export function lower(headers: Record<string, string>): Record<string, string> {
  const all = Object.entries(headers ?? {});
  return Object.fromEntries(all.map(([name, value]) => [name.toLowerCase(), value]));
}

function isCrossOrigin(url: string): boolean {
  const origin = globalThis.location?.origin;
  if (typeof origin !== "string") return false;
  try {
    return new URL(url).origin !== origin;
  } catch {
    return false;
  }
}

/** The code of an error or of its cause, if it looks like an error code. */
export function codeOf(error: unknown): string | undefined {
  const own = (value: unknown) => {
    const code = (value as { code?: unknown } | null | undefined)?.code;
    return typeof code === "string" && /^[A-Z_]{1,40}$/.test(code) ? code : undefined;
  };
  return own(error) ?? own((error as { cause?: unknown } | null | undefined)?.cause);
}
