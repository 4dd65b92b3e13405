// Requests to a server on this machine by Node's own client of HTTP, which takes half the time of `fetch`. Whoever
// replaced `fetch`, or told it how to reach servers, has all requests go there.

import type { GiveUp, Got } from "./http.js";

type Http = typeof import("node:http");

const THIS_MACHINE = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:\/|$)/;

/** An idle connection is closed after this time: servers of Node close theirs after five seconds. */
const IDLE_MS = 4_000;

/** Headers about a connection and the length of a body are made here; `fetch` says what is wrong with others. */
const CONNECTION =
  /^(?:connection|content-length|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/** Where `fetch` finds what sends its requests. */
const DISPATCHERS = ["undici.globalDispatcher.1", "undici.globalDispatcher.2"].map(Symbol.for);

let http: Http | undefined;
let agent: InstanceType<Http["Agent"]> | undefined;

interface Dispatcher {
  constructor: { prototype: { dispatch?: unknown } };
  dispatch?: unknown;
}

/** What was found about functions: whether Node made them. */
const made = new WeakMap<object, boolean>();

/** Whether a function is of Node itself: the text of others does not have this in it. */
function isOfNode(one: object, sign: RegExp): boolean {
  const known = made.get(one) ?? sign.test(String(one));
  made.set(one, known);
  return known;
}

/** Whether nobody gave the dispatcher another method, as by `compose`. */
function isNodesDispatcher(one: Dispatcher): boolean {
  const { constructor: type, dispatch } = one;
  const sign =
    /^class (?:\w+ )?extends \w+ \{\s*static \{\s*__name\(this, "(?:Agent|Dispatcher1Wrapper)"\)/;
  return dispatch === type.prototype.dispatch && isOfNode(type, sign);
}

/** Whether `fetch` would send a request as Node does if nobody has changed anything. */
function isUntouched(): boolean {
  if (typeof fetch !== "function") return false;
  if (!isOfNode(fetch, /require\('internal\/deps\/undici\/undici'\)/)) return false;
  return DISPATCHERS.every((name) => {
    const one: unknown = Reflect.get(globalThis, name);
    return one === undefined || isNodesDispatcher(one as Dispatcher);
  });
}

/** Sends a request, or returns undefined if that is for `fetch`. */
export function sendNear(url: string, init: RequestInit, giveUp: GiveUp): Promise<Got> | undefined {
  const { method = "GET", body } = init;
  const isWhole = body === undefined || body instanceof Uint8Array;
  if (!isWhole || !THIS_MACHINE.test(url) || !isUntouched()) return undefined;
  const headers = init.headers as Record<string, string>;
  if (Object.keys(headers).some((name) => CONNECTION.test(name))) return undefined;
  http ??= process.getBuiltinModule?.("node:http");
  if (!http) return undefined;
  agent ??= new http.Agent({ keepAlive: true, timeout: IDLE_MS });
  const { request } = http;
  const options = { method, agent, headers: { ...headers, "accept-encoding": "identity" } };
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (response) => {
      const { statusCode = 0, headers: got } = response;
      const get = (name: string) => {
        const value = got[name];
        return Array.isArray(value) ? value.join(", ") : (value ?? null);
      };
      resolve({ status: statusCode, headers: { get }, arrayBuffer: () => bodyOf(response) });
    });
    sent.on("error", reject);
    giveUp.by(() => sent.destroy(new Error("It was given up")));
    sent.end(body);
  });
}

/** All bytes of a response. */
function bodyOf(response: InstanceType<Http["IncomingMessage"]>): Promise<ArrayBuffer> {
  return new Promise((resolve, reject) => {
    const pieces: Uint8Array[] = [];
    let length = 0;
    response.on("data", (piece: Uint8Array) => {
      pieces.push(piece);
      length += piece.length;
    });
    response.on("error", reject);
    response.on("close", () => {
      if (!response.readableEnded) reject(new Error("The connection was closed amid the answer"));
    });
    response.on("end", () => {
      const whole = new Uint8Array(length);
      let at = 0;
      for (const piece of pieces) {
        whole.set(piece, at);
        at += piece.length;
      }
      resolve(whole.buffer);
    });
  });
}
