// What `presignS3` signs. The request comes from a page, and a signature authorizes all of it: a
// header such as `x-amz-copy-source` would read another object, `x-amz-acl` would publish one, and
// a query such as `policy` would change the bucket. So this module lists what a backend's own
// requests contain, and refuses everything else with its name.

import { shown as quoted } from "../core/checks.js";
import { instead } from "../core/nearest.js";

/** A request that a page asks to have signed; see `S3SignRequest`. */
export interface PresignRequest {
  /** HTTP method. */
  method: string;
  /** Object key, including the prefix; empty or absent for the bucket. */
  key?: string;
  /** Query parameters. */
  query?: Record<string, string>;
  /** Headers of the request. */
  headers?: Record<string, string>;
}

/** A request that may be signed. */
export interface Signable {
  method: string;
  key: string;
  query: Record<string, string>;
  /** The headers that the signature covers. */
  headers: Record<string, string>;
}

/** Query parameters with their allowed values (undefined: any), and headers of a request. */
interface Kind {
  query: Record<string, string | undefined>;
  headers: readonly string[];
}

const OBJECT: Record<string, Kind> = {
  GET: { query: {}, headers: ["if-none-match", "range"] },
  HEAD: { query: {}, headers: [] },
  PUT: {
    query: {},
    headers: ["content-type", "x-amz-meta-kitbag", "if-match", "if-none-match"],
  },
  DELETE: { query: {}, headers: ["if-match"] },
};

/** Requests of the bucket: listings, and deletes of many files. */
const BUCKET: Record<string, Kind> = {
  GET: {
    query: {
      "list-type": "2",
      prefix: undefined,
      delimiter: "/",
      "continuation-token": undefined,
    },
    headers: [],
  },
  POST: { query: { delete: "" }, headers: ["content-md5", "content-type"] },
};

/** A header that is sent, but not covered by the signature. */
const UNSIGNED = "range";
/** A week: the longest validity that S3 accepts. */
const LONGEST = 604_800;

/** Checks a request. Anything that no backend sends throws a TypeError with its name. */
export function signable(request: PresignRequest): Signable {
  if (typeof request !== "object" || request === null) refuse("the request must be an object");
  const names = ["method", "key", "query", "headers"];
  for (const name of Object.keys(request)) {
    if (names.includes(name)) continue;
    refuse(`a request has no ${shown(name)}; ${instead(name, names, "fields")}`);
  }
  const { method, key = "" } = request;
  if (typeof key !== "string") refuse("the request's key must be a string");
  const kinds = key === "" ? BUCKET : OBJECT;
  const what = key === "" ? "the bucket itself" : "a key";
  if (typeof method !== "string" || !Object.hasOwn(kinds, method)) {
    refuse(
      `the method ${shown(method)} is not signed for ${what}, only ${Object.keys(kinds).join(", ")}`,
    );
  }
  const kind = kinds[method] as Kind;
  return { method, key, query: queryOf(request, kind), headers: headersOf(request, kind) };
}

/** Checks the validity of a URL, in seconds. */
export function seconds(given: unknown): number {
  if (Number.isSafeInteger(given) && (given as number) >= 1 && (given as number) <= LONGEST) {
    return given as number;
  }
  return refuse(`expiresInSeconds must be a whole number from 1 to ${LONGEST}`);
}

function queryOf(request: PresignRequest, kind: Kind): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of pairs("query", request.query)) {
    if (!Object.hasOwn(kind.query, name)) {
      refuse(
        `the query parameter ${shown(name)} is not signed for ${request.method}${known(Object.keys(kind.query))}`,
      );
    }
    const wanted = kind.query[name];
    if (wanted !== undefined && value !== wanted) {
      refuse(`the query parameter ${shown(name)} must be ${shown(wanted)}`);
    }
    query[name] = value;
  }
  // Without these parameters the request would be another one. `delimiter` is optional.
  for (const [name, wanted] of Object.entries(kind.query)) {
    if (name !== "delimiter" && wanted !== undefined && !Object.hasOwn(query, name)) {
      refuse(`the query parameter ${shown(name)} is missing`);
    }
  }
  return query;
}

function headersOf(request: PresignRequest, kind: Kind): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [given, value] of pairs("headers", request.headers)) {
    const name = given.toLowerCase();
    if (!kind.headers.includes(name)) {
      refuse(
        `the header ${shown(given)} is not signed for ${request.method}${known(kind.headers)}`,
      );
    }
    if (Object.hasOwn(headers, name)) refuse(`the header ${shown(given)} is given twice`);
    if (/[\u0000-\u001f\u007f]/.test(value)) {
      refuse(`the header ${shown(given)} holds a control character`);
    }
    headers[name] = value;
  }
  delete headers[UNSIGNED];
  return headers;
}

function known(names: readonly string[]): string {
  return names.length === 0 ? "" : `, only ${names.join(", ")}`;
}

function pairs(what: string, given: unknown): Array<[string, string]> {
  if (given === undefined) return [];
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    return refuse(`the request's ${what} must be a record of names to strings`);
  }
  const entries = Object.entries(given);
  for (const [name, value] of entries) {
    if (typeof value !== "string") refuse(`${what}: the value of ${shown(name)} must be a string`);
  }
  return entries as Array<[string, string]>;
}

/** A name from the page, cut for use in a message. */
function shown(name: unknown): string {
  return quoted(String(name).slice(0, 1000));
}

function refuse(why: string): never {
  throw new TypeError(`presignS3: ${why}`);
}
