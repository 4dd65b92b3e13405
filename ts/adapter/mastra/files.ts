// The operations on files. Each is one that `kitbag/fs` is made of, with Mastra's options.

import { type CopyOptions, StaleFileError, type WriteOptions } from "@mastra/core/workspace";
import { roomFor } from "../framework/files.js";
import { cp } from "../fs/copying.js";
import { Problem } from "../fs/errors.js";
import { makeAll } from "../fs/making.js";
import { parentOf, type Target, targetOf } from "../fs/paths.js";
import { added, addedOrNew, put, putNew, replaced } from "../fs/put.js";
import { copied, movedFile, rename } from "../fs/removing.js";
import type { Steps } from "../fs/steps.js";
import type { Tree } from "../fs/tree.js";

/** The time that `stat` shows for a file. */
export const timeOf = (modified: number | undefined): Date => new Date(modified ?? 0);

/** Replaces a file that still has the time, and the content that it had then. */
function* writeUnchanged(tree: Tree, target: Target, bytes: Uint8Array, expected: Date) {
  const { path, given } = target;
  const entry = yield* tree.find(path);
  if (!entry) return false;
  const current = timeOf(entry.modified);
  const old = yield* tree.read(path);
  if (current.getTime() === expected.getTime()) {
    const still = yield* tree.find(path);
    if (still?.modified === entry.modified && (yield* replaced(tree, path, old, bytes)))
      return true;
  }
  const now = yield* tree.find(path);
  throw new StaleFileError(given, expected, now ? timeOf(now.modified) : current);
}

export function* write(
  tree: Tree,
  target: Target,
  bytes: Uint8Array,
  options: WriteOptions,
): Steps<void> {
  const { path } = target;
  const entry = yield* tree.find(path);
  if (entry && options.overwrite === false) throw new Problem("EEXIST");
  if (entry?.directory || target.directory) throw new Problem("EISDIR");
  if (options.recursive === false) yield* tree.room(path);
  else if (!entry) yield* roomFor(tree, path);
  if (options.expectedMtime) {
    if (yield* writeUnchanged(tree, target, bytes, options.expectedMtime)) {
      tree.wrote(path);
      return;
    }
    // There is none. One that somebody creates meanwhile stays.
    if (yield* putNew(tree, path, bytes)) return;
    const now = yield* tree.find(path);
    throw new StaleFileError(target.given, options.expectedMtime, timeOf(now?.modified));
  }
  if (options.overwrite === false) {
    if (!(yield* putNew(tree, path, bytes))) throw new Problem("EEXIST");
  } else yield* put(tree, path, bytes);
}

export function* append(tree: Tree, target: Target, bytes: Uint8Array): Steps<void> {
  const { path } = target;
  if (path === "/" || target.directory) throw new Problem("EISDIR");
  if (bytes.length > 0 && (yield* added(tree, path, bytes))) return;
  const entry = yield* tree.find(path);
  if (entry?.directory) throw new Problem("EISDIR");
  if (!entry) yield* roomFor(tree, path);
  yield* addedOrNew(tree, path, bytes);
}

export function* copy(tree: Tree, src: string, dest: string, options: CopyOptions): Steps<void> {
  const [from, to] = [targetOf(src, tree.cwd), targetOf(dest, tree.cwd)];
  const overwrite = options.overwrite !== false;
  const entry = yield* tree.get(from);
  if (entry.directory) {
    if (options.recursive !== true) throw new Problem("EISDIR");
    if (from.path === to.path) return;
    return yield* cp(tree, src, dest, { recursive: true, force: overwrite });
  }
  if ((yield* tree.find(to.path))?.directory) throw new Problem(overwrite ? "EISDIR" : "EEXIST");
  yield* roomFor(tree, to.path);
  yield* copied(tree, from.path, to.path, overwrite);
}

export function* move(tree: Tree, src: string, dest: string, options: CopyOptions): Steps<void> {
  const [from, to] = [targetOf(src, tree.cwd), targetOf(dest, tree.cwd)];
  const replace = options.overwrite !== false;
  const entry = yield* tree.get(from);
  if (entry.directory && !replace) throw new Problem("EISDIR");
  if (from.path === to.path) {
    if (!replace) throw new Problem("EEXIST");
    return;
  }
  const there = yield* tree.find(to.path);
  if (there && !replace) throw new Problem("EEXIST");
  if (entry.directory) {
    yield* makeAll(tree, parentOf(to.path));
    return yield* rename(tree, src, dest);
  }
  if (there?.directory) throw new Problem("EISDIR");
  yield* roomFor(tree, to.path);
  yield* movedFile(tree, from.path, to.path, replace);
}
