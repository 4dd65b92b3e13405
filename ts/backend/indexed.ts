// indexed: a search index beside any backend. The index itself is in Rust.

import chunk from "#chunk/index";
import { called } from "../core/called.js";
import { Options } from "../core/checks.js";
import { IndexGiven } from "../core/descriptions.js";
import { create } from "../core/given.js";
import { handleOf, sealClass } from "../core/handle.js";
import { glue } from "../core/instance.js";
import type { Reply } from "../core/reply.js";
import type { AnyBackend } from "../foreign/adapt.js";
import { withHandle } from "../foreign/calls.js";
import type { CallOptions, ExecuteResponse, Result } from "../types.js";
import { addShell, Backend, type ExecuteOptions } from "./backend.js";
import { type KeepIn, placeOf } from "./keep-in.js";
import { outside, passWatch } from "./passing.js";

/** Options of `withIndex`. */
export interface IndexOptions {
  /**
   * Where the index is. Default: in the directory `/.kitbag/index` of the backend itself. A directory
   * belongs to the index of one backend.
   */
  keepIn?: Partial<KeepIn>;
  /**
   * How searches learn of changes: `"listing"` (default) from a listing of all files, so that they find
   * exactly what a search without the index finds. With `"writers"` they list nothing: each change through this
   * backend is noted beside the index before it is made, which takes one request. **All programs that change
   * the files must do it through `withIndex` with `"writers"`** and the same `keepIn`; what
   * others change is found only after the next `updateIndex`.
   */
  freshness?: "listing" | "writers";
}

/** The result of `updateIndex`. */
export type IndexUpdate = Result<{
  /** Files that were added. */
  added: number;
  /** Segments that were merged into others. */
  merged: number;
  /** Files in the index now. */
  files: number;
  /** Files of the index itself, besides its manifest. */
  segments: number;
  /** Size of the index in bytes. */
  bytes: number;
}>;

function unpackUpdate(reply: Reply) {
  return {
    ...{ added: reply.f64(), merged: reply.f64() },
    ...{ files: reply.f64(), segments: reply.f64(), bytes: reply.f64() },
  };
}

/** A backend with a search index; the result of `withIndex`. */
export class IndexBackend extends Backend {
  /** Identifies the machine of the backend, if it can run commands. */
  declare readonly id?: string;
  /** Runs a command, if the backend can. */
  declare readonly execute?: (
    command: string,
    options?: ExecuteOptions,
  ) => Promise<ExecuteResponse>;

  /** Throws a `TypeError` if the backend is none, or an option is wrong. Reads nothing yet. */
  constructor(inner: AnyBackend, options?: IndexOptions) {
    const given = new Options("withIndex", options);
    const {
      backend: keep,
      path,
      key,
    } = placeOf("withIndex: keepIn", given.raw("keepIn") ?? {}, "/.kitbag/index");
    const freshness = given.oneOf("freshness", ["listing", "writers"] as const, "listing");
    given.done();
    chunk.load();
    const make = (inner: number, keep: number | undefined) =>
      create("withIndex", IndexGiven, { inner, keep, path, key, freshness }, glue.indexed_new);
    super(
      withHandle("withIndex: the backend", inner, (handle) =>
        keep === undefined
          ? make(handle, undefined)
          : withHandle("withIndex: keepIn.backend", keep, (kept) => make(handle, kept)),
      ),
    );
    addShell(this);
    passWatch(this, inner, keep === undefined ? { shows: outside(path) } : {});
  }

  /**
   * Adds what was written since the last update to the index, and removes what was deleted. Until
   * then a search reads these files. An update also merges what earlier ones have stored, so that the
   * index stays small; it writes at most 16 MiB for that. Several processes may update at once.
   */
  updateIndex(options?: CallOptions): Promise<IndexUpdate> {
    return called(
      options,
      (limit) => glue.indexed_update(handleOf(this), limit),
      unpackUpdate,
    ) as Promise<IndexUpdate>;
  }
}

sealClass(IndexBackend);

/**
 * Puts a search index beside the files of a backend: `grep` reads only files that may match, and
 * finds exactly what it finds without the index (with `freshness: "writers"`, see there).
 *
 * @example
 * import { withIndex } from "kitbag/indexed";
 * const files = withIndex(new S3Backend(bucket));
 * await files.updateIndex();
 * const { matches, stats } = await files.grep("retry_budget", "/", null, { stats: true });
 */
export function withIndex(inner: AnyBackend, options?: IndexOptions): IndexBackend {
  return new IndexBackend(inner, options);
}
