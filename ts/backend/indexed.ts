// indexed: a search index beside any backend. The index itself is in Rust.

import chunk from "#chunk/index";
import { made } from "../core/call.js";
import { called } from "../core/called.js";
import { flag, isRecord, Options, refused } from "../core/checks.js";
import { handleOf, sealClass } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import type { Reply } from "../core/reply.js";
import type { AnyBackend } from "../foreign/adapt.js";
import { withHandle } from "../foreign/calls.js";
import type { CallOptions, ExecuteResponse, GrepOptions, GrepResult, Result } from "../types.js";
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
}

/** The result of `updateIndex`. */
export type IndexUpdate = Result<{
  /** Files that were added. */
  added: number;
  /** Files in the index now. */
  files: number;
  /** Files of the index itself, besides its manifest. */
  segments: number;
  /** Size of the index in bytes. */
  bytes: number;
}>;

function unpackUpdate(reply: Reply) {
  return { added: reply.f64(), files: reply.f64(), segments: reply.f64(), bytes: reply.f64() };
}

/** Options of `grep` on a backend with a search index. */
export interface RankedGrepOptions extends GrepOptions {
  /**
   * Puts the best matches first: likely definitions, then newer files. `maxCount` then keeps the best,
   * and every file that may match is searched. Default false.
   */
  rank?: boolean;
}

/** The same files and index as an `IndexedBackend`; `grep` puts the best matches first. */
class Ranked extends Backend {}

/** A backend with a search index; the result of `withIndex`. */
export class IndexedBackend extends Backend {
  /** Identifies the machine of the backend, if it can run commands. */
  declare readonly id?: string;
  /** Runs a command, if the backend can. */
  declare readonly execute?: (
    command: string,
    options?: ExecuteOptions,
  ) => Promise<ExecuteResponse>;

  readonly #ranked: Ranked;

  /** Throws a `TypeError` if the backend is none, or an option is wrong. Reads nothing yet. */
  constructor(inner: AnyBackend, options?: IndexOptions) {
    const given = new Options("withIndex", options);
    const { backend: keep, path } = placeOf(
      "withIndex: keepIn",
      given.raw("keepIn") ?? {},
      "/.kitbag/index",
    );
    given.done();
    chunk.load();
    let ranked = 0;
    const make = (handle: number, kept: number) => {
      enter(() => glue.indexed_new(handle, kept, path));
      const both = made("withIndex", (reply) => reply.u32());
      ranked = both.rest;
      return both.handle;
    };
    super(
      withHandle("withIndex: the backend", inner, (handle) =>
        keep === undefined
          ? make(handle, 0)
          : withHandle("withIndex: keepIn.backend", keep, (kept) => make(handle, kept)),
      ),
    );
    this.#ranked = new Ranked(ranked);
    addShell(this);
    passWatch(this, inner, keep === undefined ? { shows: outside(path) } : {});
  }

  /**
   * Searches as every backend does, and reads only files that may match. The option `rank` puts the
   * best matches first; otherwise they are ordered by path, then line.
   *
   * @param pattern The text. One with a line feed matches nothing, an empty one every line.
   * @param path File or directory to search. Default `/`.
   * @param glob Searches only matching files. Without `/` it is matched against file names, with
   *   `/` against the path below `path`.
   * @param maxCount Most matches to return; if there are more, `truncated` is set. Default: no
   *   limit but 128 MiB of results. The options may be in its place.
   */
  override grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | RankedGrepOptions | null,
    options?: RankedGrepOptions,
  ): Promise<GrepResult> {
    const given = options ?? maxCount;
    if (typeof given !== "object" || given === null) {
      return super.grep(pattern, path, glob, maxCount, options);
    }
    let ranks = false;
    let own: GrepOptions = given;
    const refusal = refused(() => {
      if (!isRecord(given) || !("rank" in given)) return;
      const { rank, ...others } = given as RankedGrepOptions;
      ranks = flag("options.rank", rank);
      own = others;
    });
    if (refusal) return Promise.resolve(refusal);
    const most = given === maxCount ? undefined : maxCount;
    if (!ranks) return super.grep(pattern, path, glob, most, own);
    return this.#ranked.grep(pattern, path, glob, most, own);
  }

  /**
   * Adds what was written since the last update to the index, and removes what was deleted. Until
   * then a search reads these files. Several processes may do so at once.
   */
  updateIndex(options?: CallOptions): Promise<IndexUpdate> {
    return called(
      options,
      (limit) => glue.indexed_update(handleOf(this), limit),
      unpackUpdate,
    ) as Promise<IndexUpdate>;
  }
}

sealClass(IndexedBackend);

/**
 * Puts a search index beside the files of a backend: `grep` reads only files that may match, and
 * finds exactly what it finds without the index.
 *
 * @example
 * import { withIndex } from "kitbag/indexed";
 * const files = withIndex(new S3Backend(bucket));
 * await files.updateIndex();
 * const { matches, stats } = await files.grep("retry_budget", "/", null, { stats: true });
 */
export function withIndex(inner: AnyBackend, options?: IndexOptions): IndexedBackend {
  return new IndexedBackend(inner, options);
}
