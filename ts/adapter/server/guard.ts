// Who may send what: the checks of a request before anything of it is read. A page of another site can send
// simple requests with the cookies of its visitor, so what changes something needs a header that such a page
// cannot send without a permission, which it gets only if its origin is named in `origins`.

import type { Address } from "./addresses.js";
import { within } from "./limits.js";
import type { Incoming } from "./served.js";
import { BadRequest } from "./wire.js";

/** The header that every request but `GET` and `HEAD` must have. */
export const OWN_HEADER = "x-kitbag";

/** The options of the checks. */
export interface Doors {
  origins: readonly string[];
  hosts: readonly string[] | undefined;
  /** WebDAV, whose clients cannot send a header of ours. */
  webdav: unknown;
}

/** Why a request is refused, with the status. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly code = "permission_denied",
  ) {
    super(message);
  }
}

/** Refuses a request from a page of another site, or for another host. */
export function checkDoors(request: Incoming, url: Address, doors: Doors): void {
  const { headers } = request;
  // As the client wrote it: a proxy may call this server by another address.
  const host = (headers.get("host") ?? url.host).toLowerCase();
  if (doors.hosts !== undefined && !doors.hosts.includes(host)) {
    throw new Refused(421, "This server does not answer for that host");
  }
  const origin = headers.get("origin");
  if (origin !== null && !isOwn(origin, host, url) && !doors.origins.includes(origin)) {
    throw new Refused(403, "Pages of that origin may not use these files");
  }
  const site = headers.get("sec-fetch-site");
  if (origin === null && site !== null && site !== "same-origin" && site !== "none") {
    throw new Refused(403, "Pages of another site may not use these files");
  }
  // A page sends no other method to another site before that site has allowed it.
  const free = ["GET", "HEAD", "OPTIONS"].includes(request.method);
  const needs = doors.webdav ? request.method === "POST" : !free;
  if (needs && headers.get(OWN_HEADER) !== "1") {
    throw new Refused(403, `A ${request.method} needs the header ${OWN_HEADER}: 1`);
  }
}

/** Whether an origin is that of the server itself. */
function isOwn(origin: string, host: string, url: Address): boolean {
  if (origin === url.origin) return true;
  try {
    return new URL(origin).host === host;
  } catch {
    return false;
  }
}

/** The headers by which a page of an allowed origin may read an answer. */
export function doorHeaders(request: Incoming, doors: Doors): Record<string, string> | undefined {
  const origin = request.headers.get("origin");
  if (origin === null || !doors.origins.includes(origin)) return undefined;
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers":
      "accept-ranges, content-range, etag, kitbag-ticket, last-modified, retry-after",
    "cross-origin-resource-policy": "cross-origin",
  };
}

/** The answer to a page's question before a request. */
export function preflight(request: Incoming, doors: Doors): Response {
  const allowed = doorHeaders(request, doors);
  if (!allowed) {
    throw new Refused(403, "Pages of that origin may not use these files");
  }
  const wanted = request.headers.get("access-control-request-headers") ?? "";
  const names = wanted.split(",").map((name) => name.trim().toLowerCase());
  const headers = {
    ...allowed,
    "access-control-allow-methods": "GET, HEAD, PUT, DELETE, POST",
    "access-control-allow-headers": names
      .filter((name) => /^[a-z0-9-]{1,64}$/.test(name))
      .join(", "),
    "access-control-max-age": "600",
    vary: "origin, access-control-request-headers",
  };
  return new Response(null, { status: 204, headers });
}

/** Reads the body of a request, as far as the limits allow. */
export async function bodyOf(
  request: Incoming,
  most: number,
  timeoutMs: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () =>
    new BadRequest(`The body must be at most ${most} bytes; send less at a time`, "too_large");
  const announced = Number(request.headers.get("content-length") ?? "0");
  if (announced > most) throw tooLarge();
  if (!request.body) return new Uint8Array(0);
  const { signal, end } = within(request, timeoutMs, false);
  const pieces: Uint8Array[] = [];
  let length = 0;
  const reader = request.body.getReader();
  const stop = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", stop);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (signal.aborted) throw new BadRequest("The body did not arrive in time", "timeout");
      if (done || !value) break;
      length += value.length;
      if (length > most) {
        stop();
        throw tooLarge();
      }
      pieces.push(value);
    }
  } catch (error) {
    if (error instanceof BadRequest) throw error;
    throw new BadRequest("The body did not arrive whole");
  } finally {
    signal.removeEventListener("abort", stop);
    end();
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
