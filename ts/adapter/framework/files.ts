// What the file systems of several frameworks do alike, of the operations of `kitbag/fs`: a file is
// written with the directories above it, and one is deleted.

import { Problem } from "../fs/errors.js";
import { parentOf, type Target } from "../fs/paths.js";
import { put } from "../fs/put.js";
import { eraseFile } from "../fs/removing.js";
import type { Steps } from "../fs/steps.js";
import type { Tree } from "../fs/tree.js";

const is = (error: unknown, code: string) => error instanceof Problem && error.code === code;

/** Checks that no directory of a path is a file. Those that do not exist are made by the file. */
export function* roomFor(tree: Tree, path: string): Steps<void> {
  for (let dir = parentOf(path); dir !== "/"; dir = parentOf(dir)) {
    try {
      const entry = yield* tree.find(dir);
      if (entry && !entry.directory) throw new Problem("ENOTDIR");
      if (entry) return;
    } catch (error) {
      // A rule may hide a directory and allow a file in it.
      if (!is(error, "EACCES")) throw error;
    }
  }
}

/** Writes a file, which is created or replaced. */
export function* stored(tree: Tree, target: Target, bytes: Uint8Array, signal?: AbortSignal) {
  const entry = yield* tree.find(target.path);
  if (entry?.directory || target.directory) throw new Problem("EISDIR");
  if (!entry) yield* roomFor(tree, target.path);
  yield* put(tree, target.path, bytes, signal);
}

/** Deletes a file. False: there is none. */
export function* deleted(tree: Tree, target: Target): Steps<boolean> {
  let entry: { directory: boolean };
  try {
    entry = yield* tree.get(target);
  } catch (error) {
    if (is(error, "ENOENT")) return false;
    throw error;
  }
  if (entry.directory) throw new Problem("EISDIR");
  yield* eraseFile(tree, target.path);
  return true;
}
