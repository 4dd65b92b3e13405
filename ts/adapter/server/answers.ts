// Answers as HTTP: the status of an error, and the headers that every answer has.

import type { Kept } from "./memory.js";
import { encode, JSON_TYPE, PACKED } from "./wire.js";

const STATUS: Record<string, number> = {
  not_found: 404,
  already_exists: 409,
  ambiguous_edit: 409,
  no_match: 409,
  conflict: 409,
  invalid_path: 400,
  invalid_pattern: 400,
  invalid_argument: 400,
  permission_denied: 403,
  is_directory: 409,
  too_large: 413,
  quota_exceeded: 507,
  rate_limited: 429,
  unsupported: 501,
  timeout: 504,
  unavailable: 503,
};

/** The status of an error with this code. */
export const statusOf = (code: unknown): number => STATUS[String(code)] ?? 500;

/** A refusal or failure, as a client sees it. */
export interface Failed {
  error: string;
  code: string;
  retryAfterMs?: number;
}

const HIDDEN = "The server could not do this. Look at the files before it is tried again";

/** A sentence without the place where a link leads: a client may have another name for it, and other rules. */
function withoutPlace(sentence: string): string {
  const at = sentence.indexOf(" (resolves to ");
  return at >= 0 && sentence.endsWith(")") ? sentence.slice(0, at) : sentence;
}

/**
 * What a client may see of a failure. The sentences about failures of the storage may name the server's own
 * places; causes are never passed on.
 */
export function shownFailure(failure: { error?: unknown; code?: unknown }): Failed {
  const code = typeof failure.code === "string" ? failure.code : "internal";
  const { retryAfterMs } = failure as { retryAfterMs?: unknown };
  const hidden = code === "unavailable" || code === "internal" || STATUS[code] === undefined;
  return {
    error: hidden ? HIDDEN : withoutPlace(String(failure.error)),
    code: STATUS[code] === undefined ? "internal" : code,
    ...(typeof retryAfterMs === "number" ? { retryAfterMs } : {}),
  };
}

/**
 * What a browser is told about every answer: it runs nothing of it, guesses nothing, keeps nothing. An object that is
 * written out is made in a fifth of the time in which one is copied.
 */
export const safe = (): Record<string, string> => ({
  "cache-control": "private, no-cache",
  "content-security-policy": "sandbox; default-src 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  vary: "accept, authorization, cookie, origin",
  "x-content-type-options": "nosniff",
});

/** An answer with a value. */
export function answered(value: object, packed: boolean, status = 200): Kept {
  const headers = { "content-type": packed ? PACKED : JSON_TYPE };
  return { status, headers, body: encode(value, packed) };
}

/** An answer with a failure. */
export function failed(failure: Failed, packed: boolean, status = statusOf(failure.code)): Kept {
  const answer = answered(failure, packed, status);
  const { retryAfterMs } = failure;
  if (retryAfterMs !== undefined) {
    answer.headers["retry-after"] = String(Math.ceil(retryAfterMs / 1000));
  }
  return answer;
}

/** What is left of that for an answer that only a script can have asked for. */
const apart = (): Record<string, string> => ({
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
});

/** All headers of an answer. */
export function headersOf({ headers, body, isApart }: Kept): Record<string, string> {
  const all = isApart ? apart() : safe();
  if (body) all["content-length"] = String(body.length);
  for (const name in headers) all[name] = headers[name] as string;
  return all;
}

/** An answer with further headers. */
export function withHeaders<A extends Pick<Kept, "headers">>(
  answer: A,
  more: Record<string, string>,
): A {
  const headers: Record<string, string> = {};
  for (const name in answer.headers) headers[name] = answer.headers[name] as string;
  for (const name in more) headers[name] = more[name] as string;
  return { ...answer, headers };
}

/** The answer as a response. */
export function responseOf(answer: Kept): Response {
  return new Response(answer.body, { status: answer.status, headers: headersOf(answer) });
}
