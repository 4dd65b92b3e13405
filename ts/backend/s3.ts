// S3Backend: files in S3-compatible object storage, through `fetch`. R2Backend: the same through
// the R2 binding of a Worker. This module checks the options; the rest is in WebAssembly.

import chunk from "#chunk/s3";
import { received } from "../core/call.js";
import { Options, shown } from "../core/checks.js";
import {
  BucketUse,
  PresignGiven,
  R2Given,
  S3Given,
  type S3Keys,
  S3Place,
  S3RetryGiven,
} from "../core/descriptions.js";
import { create, pack, take, takeAll, type Values } from "../core/given.js";
import { sealClass } from "../core/handle.js";
import { send } from "../core/http.js";
import { enter, glue } from "../core/instance.js";
import { addWatch } from "../core/listeners.js";
import { instead, nearest } from "../core/nearest.js";
import { Backend } from "./backend.js";
import { loadParts } from "./in-parts.js";
import { Polling, pollingTime } from "./polling.js";
import { type PresignRequest, seconds, signable } from "./presign.js";

/** Keys that sign requests. */
export interface S3Credentials {
  /** Access key ID. */
  accessKeyId: string;
  /** Secret access key. */
  secretAccessKey: string;
  /** Session token of temporary keys. */
  sessionToken?: string;
  /** When the keys expire (ms if a number). A credentials function is called again 2 min before. */
  expiration?: Date | string | number;
}

/** A request that the `sign` callback must sign. */
export interface S3SignRequest {
  /** HTTP method. */
  method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** Object key, including the backend's prefix; empty for the bucket (listing, batch delete). */
  key: string;
  /** Query parameters. */
  query: Record<string, string>;
  /** Headers that will be sent. Those that begin with `x-amz-` must be covered by the signature. */
  headers: Record<string, string>;
}

/** A request that the `sign` callback has signed. */
export interface S3SignedRequest {
  /** The signed URL. */
  url: string;
  /** Headers to add to those of the request, or to replace them. */
  headers?: Record<string, string>;
}

/** How failed requests are repeated. */
export interface S3Retry {
  /** Attempts in all, including the first. Default 6; 1 never repeats a request. */
  attempts?: number;
  /** Upper limit of the random pause after the first attempt, in ms; it doubles. Default 100. */
  baseMs?: number;
  /** Longest pause, and longest `Retry-After` that is waited for, in ms. Default 20,000. */
  maxMs?: number;
  /** Time limit of one attempt, in ms. Default 60,000. */
  timeoutMs?: number;
}

/** Where a bucket is. */
export interface S3Location {
  /** URL of the server. Default: the one of AWS for the region. */
  endpoint?: string;
  /** Region, such as `"eu-central-1"`; `"auto"` for R2. */
  region: string;
  /** Name of the bucket. */
  bucket: string;
  /**
   * Put the bucket into the path of the URL and not into the host name. Default: true if there is
   * an `endpoint`, otherwise false.
   */
  forcePathStyle?: boolean;
}

/** Options that S3Backend and R2Backend have in common. */
interface S3CommonOptions {
  /** A directory of keys that the backend never leaves. Default: the whole bucket. */
  prefix?: string;
  /** What `write` does if the file exists: fail (`"create"`, the default) or replace it. */
  writeMode?: "create" | "overwrite";
  /** Requests at the same time. Default: as many as the server takes, 16 at first, 64 at most. */
  concurrency?: number;
  /** Cache of file bodies by ETag: `false` for none, or its size in bytes. Default 64 MiB. */
  cache?:
    | boolean
    | {
        /** Size of the cache in bytes. Default 64 MiB. */
        maxBytes?: number;
      };
  /** How failed requests are repeated; `false` for never. See `S3Retry` for the defaults. */
  retry?: false | S3Retry;
  /**
   * Adds `watch`, which lists the bucket as often: so many milliseconds after the last list, at least
   * 1,000. Each list costs one request for 1,000 objects. Default: no `watch`.
   */
  watchEveryMs?: number;
}

/** Options of S3Backend. */
export interface S3BackendOptions extends S3Location, S3CommonOptions {
  /**
   * Keys, or a function that returns them. Pass either `credentials` or `sign`. The function is
   * called again two minutes before the keys expire.
   */
  credentials?: S3Credentials | (() => S3Credentials | Promise<S3Credentials>);
  /** Signs each request instead of keys, typically by asking your own server (`presignS3`). */
  sign?: (request: S3SignRequest) => S3SignedRequest | Promise<S3SignedRequest>;
  /**
   * How to find out whether the server honours conditional writes: test it at the first write
   * (`"probe"`, the default), assume that it does (`"trust"`), or use none (`"ignore"`).
   */
  conditions?: "probe" | "trust" | "ignore";
  /** Called with one sentence per warning, such as that the server ignores conditions. */
  onWarning?: (message: string) => void;
}

/** The methods of a Worker's R2 binding that R2Backend uses. */
export interface R2BucketLike {
  /** Returns an object's metadata, or null. */
  head(key: string): Promise<unknown>;
  /** Returns an object with its body, or null. */
  get(key: string, options?: unknown): Promise<unknown>;
  /** Stores an object; null if a condition in `options` does not hold. */
  // biome-ignore lint/suspicious/noExplicitAny: the binding's own type takes many kinds of body
  put(key: string, value: any, options?: any): Promise<unknown>;
  /** Deletes objects. */
  delete(keys: string | string[]): Promise<void>;
  /** Lists objects. */
  list(options?: unknown): Promise<unknown>;
}

/** Options of R2Backend. */
export interface R2BackendOptions extends S3CommonOptions {
  /** The R2 binding, such as `env.BUCKET`. */
  bucket: R2BucketLike;
}

/** Files in a bucket, by whatever way. */
abstract class BucketBackend extends Backend {
  readonly #polling: Polling | undefined;

  /** Called by the classes below only. */
  protected constructor(given: Options, make: (given: Options) => number) {
    const everyMs = pollingTime(given);
    super(make(given));
    if (everyMs === undefined) return;
    this.#polling = new Polling((path) => super.glob("**", path), everyMs);
    addWatch(this, this.#polling.add);
  }

  /** Frees what this object holds, and ends its watchers; see `Backend.dispose`. */
  override dispose(): void {
    this.#polling?.close();
    super.dispose();
  }
}

/**
 * Files in S3-compatible object storage: AWS S3, R2, MinIO, Ceph and others.
 *
 * @example
 * const backend = new S3Backend({
 *   region: "eu-central-1",
 *   bucket: "agent-files",
 *   prefix: "user-17",
 *   credentials: { accessKeyId, secretAccessKey },
 * });
 */
export class S3Backend extends BucketBackend {
  /** Throws a `TypeError` that names the wrong option. No request is sent yet. */
  constructor(options: S3BackendOptions) {
    super(new Options("S3Backend", options), makeS3);
  }
}

/**
 * Files in an R2 bucket, through the binding of a Worker.
 *
 * @example
 * const backend = new R2Backend({ bucket: env.BUCKET });
 */
export class R2Backend extends BucketBackend {
  /** Throws a `TypeError` that names the wrong option. */
  constructor(options: R2BackendOptions) {
    super(new Options("R2Backend", options), makeR2);
  }
}

sealClass(S3Backend);
sealClass(R2Backend);

/**
 * Makes a presigned URL, on a server that signs for pages (`sign`). It signs only what a backend's
 * own requests contain: for any other method, header or query parameter it throws a `TypeError`
 * with the name. Your server must decide whether this user may access this key.
 *
 * @param request What a page's `sign` callback was called with.
 * @param expiresInSeconds How long the URL is valid: 1 to 604,800 seconds. Default 300.
 */
export function presignS3(
  location: S3Location & {
    /** Keys that may do what is asked. */
    credentials: S3Credentials;
  },
  request: PresignRequest,
  expiresInSeconds = 300,
): {
  /** The URL with its signature. */
  url: string;
} {
  const read = new Options("presignS3", location);
  const place = take(read, S3Place);
  const credentials = keysOf(read, read.raw("credentials"), KEYS);
  read.done();
  const { method, key, query, headers } = signable(request);
  const values = {
    ...{ place, credentials, method, key, seconds: seconds(expiresInSeconds) },
    ...{ query: pairs(query), headers: pairs(headers) },
  };
  chunk.load();
  loadParts();
  const { length } = pack("presignS3", PresignGiven, values);
  enter(() => glue.s3_presign(length));
  const answer = received((reply) => ({ url: reply.text() }));
  if (!("url" in answer)) throw new TypeError(`presignS3: ${answer.error}`);
  return answer;
}

const pairs = (record: Record<string, string>) =>
  Object.entries(record).map(([name, value]) => ({ name, value }));

/** How a bucket is used; where an option is absent, WebAssembly has the default. */
function usageOf(options: Options): Values<typeof BucketUse> {
  const common = take(options, BucketUse);
  return { ...common, cacheBytes: cacheBytes(options), retry: retryOf(options) };
}

function cacheBytes(options: Options): number | undefined {
  const cache = options.raw("cache");
  if (cache === undefined || cache === true) return undefined;
  if (cache === false) return 0;
  if (typeof cache !== "object" || cache === null) {
    return options.refuse("cache", "true, false or { maxBytes }", cache);
  }
  const inside = new Options(`${options.of}: cache`, cache);
  const bytes = inside.amount("maxBytes");
  inside.done();
  return bytes;
}

function retryOf(options: Options): Values<typeof S3RetryGiven> {
  const retry = options.raw("retry");
  if (retry !== undefined && retry !== false && (typeof retry !== "object" || retry === null)) {
    return options.refuse("retry", "false or { attempts, baseMs, maxMs, timeoutMs }", retry);
  }
  const given = retry === false ? { attempts: 1 } : retry;
  return takeAll(`${options.of}: retry`, given, S3RetryGiven);
}

const KEYS = "{ accessKeyId, secretAccessKey, sessionToken? }";

/** Keys, checked and copied. */
function keysOf(options: Options, value: unknown, wanted: string): Values<typeof S3Keys> {
  // The value is never shown: it may be a secret in the wrong option.
  if (typeof value !== "object" || value === null) {
    return options.refuse("credentials", wanted, value === undefined ? value : {});
  }
  const names = ["accessKeyId", "secretAccessKey", "sessionToken", "expiration"];
  // Clients of AWS add fields of their own, so only a misspelled name is refused.
  const wrongly = Object.keys(value).find(
    (name) => !names.includes(name) && nearest(name, names) !== undefined,
  );
  if (wrongly !== undefined) {
    throw new TypeError(
      `${options.of}: credentials have no ${shown(wrongly)}; ${instead(wrongly, names, "names")}`,
    );
  }
  const { accessKeyId, secretAccessKey, sessionToken, expiration } =
    value as Partial<S3Credentials>;
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
  if (expiration !== undefined && !isTime(expiration)) {
    return options.refuse("credentials.expiration", "a Date, a number or a text", expiration);
  }
  const millis = expiration === undefined ? Number.NaN : new Date(expiration).getTime();
  return {
    accessKeyId: accessKeyId as string,
    secretAccessKey: secretAccessKey as string,
    sessionToken,
    expiration: Number.isFinite(millis) ? millis : undefined,
  };
}

const isTime = (value: unknown) =>
  value instanceof Date || typeof value === "string" || typeof value === "number";

function makeS3(options: Options): number {
  const place = take(options, S3Place);
  const usage = usageOf(options);
  const values = take(options, S3Given);
  const given = options.raw("credentials");
  if (values.sign && given !== undefined) {
    options.excess("sign", "where there are `credentials`");
  }
  const keysBy = typeof given === "function" ? given : undefined;
  const isSigned = values.sign !== undefined || keysBy !== undefined;
  const wanted = `${KEYS}, or a function that answers such`;
  const credentials = isSigned ? undefined : keysOf(options, given, wanted);
  options.done();
  chunk.load();
  loadParts();
  const all = { ...values, place, usage, credentials, keysBy, send };
  return create(options.of, S3Given, all, glue.s3_new);
}

function makeR2(options: Options): number {
  const usage = usageOf(options);
  const bucket = options.object("bucket");
  const methods = ["head", "get", "put", "delete", "list"] as const;
  if (!bucket || !methods.every((name) => typeof bucket[name] === "function")) {
    return options.refuse("bucket", "an R2 binding, such as env.BUCKET", bucket);
  }
  options.done();
  chunk.load();
  loadParts();
  return create(options.of, R2Given, { usage, bucket }, glue.r2_new);
}
