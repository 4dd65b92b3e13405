// Requests by Node's own client of HTTP, which takes half the time of `fetch`. Whoever replaced `fetch`, or told it how to
// reach servers, has all requests go there.

import type { IncomingMessage } from "node:http";
import type { GiveUp, Got } from "./http.js";

type Client = typeof import("node:https");
type Zlib = typeof import("node:zlib");

const THIS_MACHINE = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:\/|$)/;

/** A server that is silent for so long has gone, as for `fetch`. */
const SILENT_MS = 300_000;

/** An idle connection is closed after this time: servers of Node close theirs after five seconds. */
const IDLE_MS = 4_000;

/** Headers about a connection and the length of a body are made here; `fetch` says what is wrong with others. */
const CONNECTION =
  /^(?:connection|content-length|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/** Where `fetch` finds what sends its requests. */
const DISPATCHERS = ["undici.globalDispatcher.1", "undici.globalDispatcher.2"].map(Symbol.for);

/** What reaches servers by `http:` or `https:`. */
interface Way {
  client: Client;
  agent: InstanceType<Client["Agent"]>;
}

const ways: Record<string, Way> = {};

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

function wayOf(scheme: string): Way | undefined {
  const known = ways[scheme];
  if (known) return known;
  const client = process.getBuiltinModule?.(`node:${scheme}`) as Client | undefined;
  if (!client) return undefined;
  const way = { client, agent: new client.Agent({ keepAlive: true, timeout: IDLE_MS }) };
  ways[scheme] = way;
  return way;
}

/** Sends a request, or returns undefined if that is for `fetch`. */
export function sendByNode(
  url: string,
  init: RequestInit,
  giveUp: GiveUp,
): Promise<Got> | undefined {
  const { method = "GET", body } = init;
  const isWhole = body === undefined || body instanceof Uint8Array;
  const scheme = /^(https?):/.exec(url)?.[1];
  if (!isWhole || scheme === undefined || !isUntouched()) return undefined;
  const given = init.headers as Record<string, string>;
  if (Object.keys(given).some((name) => CONNECTION.test(name))) return undefined;
  const way = wayOf(scheme);
  if (!way) return undefined;
  const headers = {
    ...{ accept: "*/*", "user-agent": "node", ...given },
    // Here it costs more than it saves.
    "accept-encoding": THIS_MACHINE.test(url) ? "identity" : "gzip, deflate, br",
  };
  const options = { method, headers, agent: way.agent, timeout: SILENT_MS };
  return new Promise((resolve, reject) => {
    // Looked up each time, as others replace it.
    const { request } = way.client;
    const sent = request(url, options, (response) => {
      const { statusCode = 0, headers: got } = response;
      const get = (name: string) => {
        const value = got[name];
        return Array.isArray(value) ? value.join(", ") : (value ?? null);
      };
      const arrayBuffer = async () =>
        decoded(await bodyOf(response), get("content-encoding") ?? "");
      resolve({ status: statusCode, headers: { get }, arrayBuffer });
    });
    sent.on("error", reject);
    sent.on("timeout", () => {
      sent.destroy(Object.assign(new Error("The server is silent"), { code: "ETIMEDOUT" }));
    });
    giveUp.by(() => sent.destroy(new Error("It was given up")));
    sent.end(body);
  });
}

/** All bytes of a response. */
function bodyOf(response: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
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
      resolve(whole);
    });
  });
}

/** What undoes an encoding. `deflate` means either of two. */
function decoderOf(zlib: Zlib, coding: string, bytes: Uint8Array) {
  if (coding === "br") return zlib.brotliDecompress;
  if (coding !== "deflate") return zlib.gunzip;
  return ((bytes[0] ?? 0) & 15) === 8 ? zlib.inflate : zlib.inflateRaw;
}

/** Bytes as they were before they were encoded, as `fetch` returns them: if it knows all encodings. */
async function decoded(bytes: Uint8Array<ArrayBuffer>, encoding: string): Promise<ArrayBuffer> {
  const codings = encoding.split(",").map((name) => name.trim().toLowerCase());
  const isKnown = codings.every((name) => /^(?:x-)?gzip$|^deflate$|^br$/.test(name));
  const zlib = isKnown && process.getBuiltinModule?.("node:zlib");
  if (!zlib || bytes.length === 0) return bytes.buffer;
  let plain: Uint8Array = bytes;
  for (const coding of codings.reverse()) {
    const decode = decoderOf(zlib, coding, plain);
    plain = await new Promise<Uint8Array>((resolve, reject) => {
      decode(plain, (error, result) => (error ? reject(error) : resolve(result)));
    });
  }
  return new Uint8Array(plain).buffer;
}
