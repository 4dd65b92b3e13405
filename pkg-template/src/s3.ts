// S3Backend: files in object storage that speaks S3, by fetch. R2Backend: the same over the R2
// binding of a Worker. Options are looked at here; everything else is in wasm.

import chunk from "#chunk/s3";
import { Backend } from "./backend.js";
import { Options } from "./core/checks.js";
import { sealClass } from "./core/handle.js";
import { send } from "./core/http.js";
import { enter, glue } from "./core/instance.js";
import { type PresignRequest, seconds, signable } from "./presign.js";

/** Keys to sign requests with. */
export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  /** The token that comes with keys lent for a while. */
  sessionToken?: string;
  /** When they end; a function that gave them is asked again two minutes before. */
  expiration?: Date | string | number;
}

/** A request that a host is asked to sign. */
export interface S3SignRequest {
  method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** The key, the backend's prefix included; empty for the bucket itself (listing, batches). */
  key: string;
  query: Record<string, string>;
  /** What will be sent beside it, and must be covered by the signature where it begins with `x-amz-`. */
  headers: Record<string, string>;
}

/** A request that a host has signed. */
export interface S3SignedRequest {
  url: string;
  /** Headers to send beside those of the request, or in their place. */
  headers?: Record<string, string>;
}

/** How patiently requests are repeated. */
export interface S3Retry {
  /** Tries in all; 6 unless given, 1 for none but the first. */
  attempts?: number;
  /** The longest pause behind the first try; it doubles each time. 100 unless given. */
  baseMs?: number;
  /** The longest pause of all, and the longest `Retry-After` that is waited for. 20,000 unless given. */
  maxMs?: number;
  /** How long one try may take. 60,000 unless given. */
  timeoutMs?: number;
}

/** Where a bucket is. */
export interface S3Location {
  /** The server; AWS's for the region unless given. */
  endpoint?: string;
  region: string;
  bucket: string;
  /** Whether the bucket stands in the path and not in the host; true unless given where there is an `endpoint`. */
  forcePathStyle?: boolean;
}

interface S3CommonOptions {
  /** A directory of keys to stay inside. */
  prefix?: string;
  /** What `write` does where the file exists: refuse (`"create"`, the default) or replace it. */
  writeMode?: "create" | "overwrite";
  /** Requests at once; 16 unless given. */
  concurrency?: number;
  /** Bodies to keep by ETag: `false` for none, or the most bytes; 64 MiB unless given. */
  cache?: boolean | { maxBytes?: number };
  /** How patiently requests are repeated; `false` for not at all. */
  retry?: false | S3Retry;
}

/** How an S3Backend is made. */
export interface S3BackendOptions extends S3Location, S3CommonOptions {
  /** Keys, or a function that lends them. Either this or `sign`. */
  credentials?: S3Credentials | (() => S3Credentials | Promise<S3Credentials>);
  /** Signs a request in place of keys, typically by asking a server of one's own. */
  sign?: (request: S3SignRequest) => S3SignedRequest | Promise<S3SignedRequest>;
  /**
   * How it is known whether the server honours conditional writes: tried out at the first write
   * (`"probe"`, the default), believed (`"trust"`), or not relied on (`"ignore"`).
   */
  conditions?: "probe" | "trust" | "ignore";
  /** Told what the owner of this backend should know, such as a server that ignores conditions. */
  onWarning?: (message: string) => void;
}

/** What this package needs of a Worker's R2 binding. */
export interface R2BucketLike {
  head(key: string): Promise<unknown>;
  get(key: string, options?: unknown): Promise<unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: the binding's own type takes many kinds of body
  put(key: string, value: any, options?: any): Promise<unknown>;
  delete(keys: string | string[]): Promise<void>;
  list(options?: unknown): Promise<unknown>;
}

/** How an R2Backend is made. */
export interface R2BackendOptions extends S3CommonOptions {
  /** The binding, such as `env.BUCKET`. */
  bucket: R2BucketLike;
}

/** Files in object storage that speaks S3. */
export class S3Backend extends Backend {
  constructor(options: S3BackendOptions) {
    super(makeS3(new Options("S3Backend", options)));
  }
}

/** Files in an R2 bucket, by the binding of a Worker. */
export class R2Backend extends Backend {
  constructor(options: R2BackendOptions) {
    super(makeR2(new Options("R2Backend", options)));
  }
}

sealClass(S3Backend);
sealClass(R2Backend);

/**
 * Makes presigned addresses, for a server that signs on behalf of pages (`sign`). Only requests that
 * a backend makes are signed: a method, header or query parameter that no file needs throws a
 * `TypeError` that names it. Whether this user may use this key is for the server to decide.
 */
export function presignS3(
  location: S3Location & { credentials: S3Credentials },
  request: PresignRequest,
  expiresInSeconds = 300,
): { url: string } {
  const read = new Options("presignS3", location);
  const where = place(read, "");
  const keys = credentialsOf(read, read.raw("credentials"));
  read.done();
  const { method, key, query, headers } = signable(request);
  const good = seconds(expiresInSeconds);
  const url = thrownBy(read, () => glue.s3_presign(where, keys, method, key, query, headers, good));
  return { url };
}

/** Runs what refuses an option with its name and what it must be, a line each. */
function thrownBy<T>(options: Options, run: () => T): T {
  chunk.load();
  try {
    return enter(run);
  } catch (error) {
    if (typeof error !== "string") throw error;
    const [name = "", wanted = ""] = error.split("\n");
    // Keys and places are told by name only: what was given may be a secret.
    return options.refuse(name, wanted, name === "credentials" ? undefined : options.raw(name));
  }
}

function place(options: Options, prefix: string) {
  const pathStyle = options.checked(
    "forcePathStyle",
    "true or false",
    (value): value is boolean => typeof value === "boolean",
  );
  return {
    endpoint: options.text("endpoint"),
    region: options.requiredText("region"),
    bucket: options.requiredText("bucket"),
    prefix,
    pathStyle,
  };
}

/** How a bucket is used; what is absent is the default, which stands in wasm. */
function use(options: Options) {
  const concurrency = options.amount("concurrency");
  if (concurrency === 0) options.refuse("concurrency", "at least 1", concurrency);
  return { concurrency, cacheBytes: cacheBytes(options), ...patience(options) };
}

function cacheBytes(options: Options): number | undefined {
  const cache = options.raw("cache");
  if (cache === undefined || cache === true) return undefined;
  if (cache === false) return 0;
  if (typeof cache !== "object" || cache === null) {
    return options.refuse("cache", "true, false or { maxBytes }", cache);
  }
  const inside = new Options("S3Backend cache", cache);
  const bytes = inside.amount("maxBytes");
  inside.done();
  return bytes;
}

function patience(options: Options): S3Retry {
  const retry = options.raw("retry");
  if (retry === undefined) return {};
  if (retry === false) return { attempts: 1 };
  if (typeof retry !== "object" || retry === null) {
    return options.refuse("retry", "false or { attempts, baseMs, maxMs, timeoutMs }", retry);
  }
  const inside = new Options("S3Backend retry", retry);
  const read: S3Retry = {};
  for (const name of ["attempts", "baseMs", "maxMs", "timeoutMs"] as const) {
    const amount = inside.amount(name);
    if (amount !== undefined) read[name] = amount;
  }
  if (read.attempts === 0) inside.refuse("attempts", "at least 1", read.attempts);
  inside.done();
  return read;
}

function credentialsOf(options: Options, value: unknown): object {
  const wanted = "{ accessKeyId, secretAccessKey, sessionToken? }, or a function that answers such";
  if (typeof value === "function") return value;
  // Never shown, whatever it is: it may be a secret in the wrong place.
  if (typeof value !== "object" || value === null) {
    return options.refuse("credentials", wanted, value === undefined ? value : {});
  }
  const { accessKeyId, secretAccessKey, sessionToken } = value as Partial<S3Credentials>;
  for (const [name, text] of Object.entries({ accessKeyId, secretAccessKey })) {
    if (typeof text !== "string" || text === "") {
      return options.refuse(
        `credentials.${name}`,
        "a non-empty string",
        typeof text === "string" ? "" : text,
      );
    }
  }
  if (sessionToken !== undefined && typeof sessionToken !== "string") {
    return options.refuse("credentials.sessionToken", "a string", sessionToken);
  }
  return value;
}

function common(options: Options) {
  return {
    prefix: options.text("prefix") ?? "",
    overwrite: options.oneOf("writeMode", ["create", "overwrite"], "create") === "overwrite",
  };
}

function makeS3(options: Options): number {
  const { prefix, overwrite } = common(options);
  const conditions = options.oneOf("conditions", ["probe", "trust", "ignore"], "probe");
  const how = { ...place(options, prefix), ...use(options), conditions };
  const sign = options.callback("sign");
  const warn = options.callback("onWarning");
  const given = options.raw("credentials");
  if (sign && given !== undefined) {
    options.refuse("sign", "left out where there are `credentials`", sign);
  }
  const keys = sign ? undefined : credentialsOf(options, given);
  options.done();
  return thrownBy(options, () => glue.s3_new(how, keys, sign, overwrite, warn, send));
}

function makeR2(options: Options): number {
  const { prefix, overwrite } = common(options);
  const bucket = options.object("bucket");
  const methods = ["head", "get", "put", "delete", "list"] as const;
  if (!bucket || !methods.every((name) => typeof bucket[name] === "function")) {
    return options.refuse("bucket", "an R2 binding, such as env.BUCKET", bucket);
  }
  const where = { region: "auto", bucket: "r2-binding", prefix };
  const how = { ...where, ...use(options), conditions: "trust" };
  options.done();
  return thrownBy(options, () => glue.r2_new(how, bucket, overwrite));
}
