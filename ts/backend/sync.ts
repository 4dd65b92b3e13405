// sync: brings two trees together. The engine is in Rust.

import chunk from "#chunk/sync";
import { limitOf, NOT_BEGUN, settled } from "../core/call.js";
import { callOptions, kindOf, Options, refused, refusedAsResult } from "../core/checks.js";
import { SyncGiven } from "../core/descriptions.js";
import { pack, take } from "../core/given.js";
import { glue } from "../core/instance.js";
import type { Reply } from "../core/reply.js";
import type { AnyBackend } from "../foreign/adapt.js";
import { withHandle } from "../foreign/calls.js";
import type { CallOptions, ErrorCode, Result } from "../types.js";
import { again } from "./again.js";
import { type KeepIn, placeElsewhere } from "./keep-in.js";

/** What is done about a file that both sides changed at the same place. */
type Choice = "both" | "a" | "b" | "leave";

/** Options of `sync`. */
export interface SyncOptions extends CallOptions {
  /**
   * Where is kept what both sides agreed on last: one of them or another backend, and a directory for
   * this pair, which is `/.kitbag/sync` by default. Each pair needs its own.
   */
  keepIn: KeepIn;
  /** Patterns of the paths that are synced, such as `["/notes/**"]`. Default: all. */
  paths?: string[];
  /** Names of ignore files such as `[".gitignore"]`: what they name on either side is not synced. */
  ignore?: string[];
  /** The names of the sides in those of conflict copies. Default `["a", "b"]`. */
  names?: [a: string, b: string];
  /**
   * What to do about a file that both sides changed at the same place: keep both (`"both"`, the default:
   * that of `b` under its name, that of `a` beside it), take the file of a side, leave both sides as
   * they are, or what a function returns.
   */
  onConflict?:
    | Choice
    | ((conflict: {
        /** The file. */
        path: string;
      }) => Choice | Promise<Choice>);
  /**
   * How to find files that were changed: by size and time (`"time"`, the default), or by reading all of
   * them (`"content"`).
   */
  compare?: "time" | "content";
  /** Whether a side without any file may delete all files of the other one. Default `false`. */
  allowEmpty?: boolean;
  /** Only returns what would be done. */
  dryRun?: boolean;
  /** Called after some changes were made. */
  onProgress?: (progress: {
    /** Changes that were made. */
    done: number;
    /** All changes of this run. */
    total: number;
  }) => unknown;
}

/** The result of `sync`. */
export type SyncResult = Result<{
  /** What was changed; with `dryRun`, what would be. */
  changed: Array<{
    /** The file. */
    path: string;
    /** Where. */
    side: "a" | "b";
    /** What happened to it. */
    what: "created" | "replaced" | "merged" | "deleted" | "moved";
    /** For a moved file, its path before. */
    from?: string;
  }>;
  /** Files that both sides had changed at the same place, or that are no texts. */
  conflicts: Array<{
    /** The file. */
    path: string;
    /** What was done about it. With `dryRun`, all that both sides changed are here, and left. */
    took: Choice;
    /** Where the content of `a` is now, if both stay. */
    copy?: string;
  }>;
  /** What a side refused or could not do. These files stay as they are until the next run. */
  refused: Array<{
    /** The file. */
    path: string;
    /** Who refused. */
    side: "a" | "b";
    /** Why. */
    error: string;
    /** The kind of error. */
    code: ErrorCode;
  }>;
  /** What may be lost because a side cannot compare and swap, a sentence each. */
  risks: string[];
  /** What it cost. */
  stats: {
    /** Files of `a`. */
    filesA: number;
    /** Files of `b`. */
    filesB: number;
    /** Files that were read to compare them. */
    read: number;
    /** Their bytes. */
    readBytes: number;
    /** Bytes that were written to either side. */
    sentBytes: number;
  };
}>;

const CHOICES = ["both", "a", "b", "leave"] as const;

function namesOf(given: Options): [string, string] {
  const names = given.raw("names") ?? ["a", "b"];
  const areTwo =
    Array.isArray(names) && names.length === 2 && names.every((name) => typeof name === "string");
  return areTwo
    ? (names as [string, string])
    : given.refuse("names", 'two names such as ["laptop", "bucket"]', names);
}

/** What the option says: always the same, or a function. */
function choiceOf(given: Options): { always: Choice; onConflict: unknown } {
  const value = given.raw("onConflict") ?? "both";
  if (typeof value === "function") return { always: "both", onConflict: value };
  return CHOICES.includes(value as Choice)
    ? { always: value as Choice, onConflict: undefined }
    : given.refuse("onConflict", `a function, or one of ${CHOICES.join(", ")}`, value);
}

const list = <T>(reply: Reply, one: () => T): T[] => Array.from({ length: reply.u32() }, one);

function unpack(reply: Reply) {
  const changed = list(reply, () => {
    const change = { path: reply.text(), side: reply.text(), what: reply.text() };
    const from = reply.optionalText();
    return from === undefined ? change : { ...change, from };
  });
  const conflicts = list(reply, () => {
    const conflict = { path: reply.text(), took: reply.text() };
    const copy = reply.optionalText();
    return copy === undefined ? conflict : { ...conflict, copy };
  });
  const refused = list(reply, () => ({
    path: reply.text(),
    side: reply.text(),
    error: reply.text(),
    code: reply.text(),
  }));
  const risks = list(reply, () => reply.text());
  const stats = {
    filesA: reply.f64(),
    filesB: reply.f64(),
    read: reply.f64(),
    readBytes: reply.f64(),
    sentBytes: reply.f64(),
  };
  return { changed, conflicts, refused, risks, stats };
}

/**
 * Brings two trees together: edits, new files, moves and deletions of each side are made on the other
 * one. Edits of both sides are merged by lines; where they touch, both stay. Nothing is lost if it is
 * broken off: the next run goes on.
 *
 * @example
 * import { sync } from "kitbag/sync";
 * const { changed, conflicts } = await sync(local, bucket, {
 *   keepIn: { backend: local, path: "/.kitbag/sync/bucket" },
 * });
 */
export async function sync(
  a: AnyBackend,
  b: AnyBackend,
  options: SyncOptions,
): Promise<SyncResult> {
  try {
    const given = new Options("sync", options);
    const place = placeElsewhere(given, "/.kitbag/sync");
    const [nameA, nameB] = namesOf(given);
    const choice = choiceOf(given);
    const call = { signal: given.raw("signal"), timeoutMs: given.raw("timeoutMs") };
    const values = take(given, SyncGiven);
    given.done();
    if (a === b)
      throw new TypeError(`sync: the two sides must be two backends, not one ${kindOf(a)} twice`);
    let limits: CallOptions | undefined;
    const refusal = refused(() => {
      limits = callOptions(call);
    });
    if (refusal) return refusal as SyncResult;
    if (limits?.signal?.aborted) return { ...NOT_BEGUN } as SyncResult;
    chunk.load();
    return await withHandle("sync: the first side", a, (first) =>
      withHandle("sync: the second side", b, (second) =>
        withHandle("sync: keepIn.backend", place.backend, (kept) => {
          const room = { backend: kept, path: place.path, key: place.key };
          const all = { ...values, ...choice, a: first, b: second, room, nameA, nameB };
          const { length, hosts } = pack("sync", SyncGiven, all);
          const start = () => glue.sync_run(length, limitOf(limits), hosts);
          return settled(start, unpack, limits) as Promise<SyncResult>;
        }),
      ),
    );
  } catch (error) {
    return refusedAsResult(error) as SyncResult;
  }
}

/** How long after a run `sync.watch` begins the next one, in milliseconds, and the least. */
const EVERY_MS = 30_000;
const LEAST_MS = 100;

/**
 * Syncs at once and then again and again: `everyMs` after the end of each run, later after runs that failed,
 * and in a browser not while it is offline. `onResult` gets each result. Returns a function that ends it;
 * its promise is done when a run that was going on has ended, too.
 *
 * @example
 * const stop = sync.watch(local, bucket, { keepIn: { backend: local }, everyMs: 60_000, onResult: console.log });
 */
sync.watch = (
  a: AnyBackend,
  b: AnyBackend,
  options: Omit<SyncOptions, "dryRun" | "signal"> & {
    /** Milliseconds between the end of a run and the next one. Default 30,000. */
    everyMs?: number;
    /** Called with the result of each run. */
    onResult?: (result: SyncResult) => unknown;
  },
): (() => Promise<void>) => {
  const given = new Options("sync.watch", options);
  const everyMs = given.amount("everyMs") ?? EVERY_MS;
  if (everyMs < LEAST_MS) given.refuse("everyMs", `at least ${LEAST_MS}`, everyMs);
  given.callback("onResult");
  for (const name of ["dryRun", "signal"]) {
    if (given.raw(name) !== undefined) {
      given.excess(name, "because the function that is returned ends it");
    }
  }
  const { everyMs: _, onResult, ...rest } = options;
  return again(
    (signal) => sync(a, b, { ...rest, signal }),
    everyMs,
    (result) => onResult?.(result),
  );
};
