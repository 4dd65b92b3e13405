// mergeIndex: merging the segments of a search index. It is no method of the index, so that a page
// which only searches has none of its code.

import chunk from "#chunk/merge";
import { called } from "../core/called.js";
import { optionNames, refused, wrong } from "../core/checks.js";
import { handleOf } from "../core/handle.js";
import { glue } from "../core/instance.js";
import type { Reply } from "../core/reply.js";
import type { CallOptions, Result } from "../types.js";
import { IndexedBackend } from "./indexed.js";

/** No number of an operation: only the options of every call are known. */
const NO_OPERATION = -1;

/** What `mergeIndex` did. */
export type IndexMerge = Result<{
  /** Segments that were merged into others. */
  merged: number;
  /** Entries that were dropped, since their files were changed or deleted. */
  dropped: number;
  /** Segments now. */
  segments: number;
  /** Size of the index in bytes. */
  bytes: number;
}>;

function unpack(reply: Reply): IndexMerge {
  return { merged: reply.f64(), dropped: reply.f64(), segments: reply.f64(), bytes: reply.f64() };
}

/**
 * Merges the segments of an index into few large ones, and drops the entries of files that were
 * changed or deleted. It lists the files and reads none. Call it in the background, from a timer for
 * example: searches and updates go on meanwhile, and several processes may merge at once.
 *
 * @param files What `withIndex` returned.
 *
 * @example
 * import { withIndex, mergeIndex } from "kitbag/indexed";
 * const files = withIndex(new S3Backend(bucket));
 * const { merged, segments } = await mergeIndex(files);
 */
export function mergeIndex(files: IndexedBackend, options?: CallOptions): Promise<IndexMerge> {
  const refusal = refused(() => {
    if (!(files instanceof IndexedBackend))
      wrong("mergeIndex: files", "what withIndex returns", files);
    optionNames(NO_OPERATION, options);
  });
  if (refusal) return Promise.resolve(refusal);
  chunk.load();
  return called(
    options,
    (limit) => glue.indexed_merge(handleOf(files), limit),
    unpack,
  ) as Promise<IndexMerge>;
}
