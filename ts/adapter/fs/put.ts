// Changes of the content of one file, each under a condition that the backend checks: nothing that
// another writer stored meanwhile is lost. kitbag's own backends have these conditions; for other
// objects the functions of `changes.ts` do without.

import type { BackendProtocolV2 } from "kitbag";
import { appended, bodyOf, create, swap, TRIES, Trouble } from "../changes.js";
import { joined } from "./content.js";
import { type Answered, Problem, problemOf } from "./errors.js";
import { ask, type Steps } from "./steps.js";
import { signalled, type Tree } from "./tree.js";

/** A step of `changes.ts`, whose failure is a problem. */
export function* tried<T>(path: string, work: () => Promise<T>): Steps<T> {
  try {
    return yield* ask(work) as Steps<T>;
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    throw problemOf({ error: error.message, code: error.code }, path);
  }
}

/** Stores a file, replacing one that exists. */
export function* put(
  tree: Tree,
  path: string,
  bytes: Uint8Array,
  signal?: AbortSignal,
): Steps<void> {
  const files = tree.files as { uploadFiles(files: unknown[], how?: object): unknown };
  const answers = yield* ask(() => files.uploadFiles([[path, bytes]], ...signalled(signal)));
  const [one] = (answers ?? []) as Answered[];
  if (!one || one.error) throw problemOf(one, path);
  tree.wrote(path);
}

/** Creates a file. False if one exists, which is left as it is. */
export function* putNew(tree: Tree, path: string, bytes: Uint8Array): Steps<boolean> {
  if (!tree.own) {
    const made = yield* tried(path, () => create(plain(tree), path, bodyOf(bytes)));
    if (made) tree.wrote(path);
    return made;
  }
  const files = tree.files as { write(path: string, bytes: Uint8Array, how: object): Answered };
  const answer = yield* ask(() => files.write(path, bytes, { ifAbsent: true }));
  if (answer.error === undefined) {
    tree.wrote(path);
    return true;
  }
  if (answer.code === "already_exists") return false;
  throw problemOf(answer, path);
}

const plain = (tree: Tree) => tree.files as BackendProtocolV2;

/** Replaces the whole content. False if it is not `old` any more, and was left as it is. */
export function* replaced(
  tree: Tree,
  path: string,
  old: Uint8Array,
  fresh: Uint8Array,
): Steps<boolean> {
  if (!tree.own) {
    return yield* tried(path, () => swap(plain(tree), path, bodyOf(old), bodyOf(fresh)));
  }
  const files = tree.files as { edit(path: string, old: Uint8Array, fresh: Uint8Array): Answered };
  const answer = yield* ask(() => files.edit(path, old, fresh));
  if (answer.error === undefined) return true;
  if (answer.code === "conflict") return false;
  throw problemOf(answer, path);
}

/**
 * Changes the content of a file: `change` gets it and returns what it becomes, again if another writer
 * was faster. `known` is what it was the last time, which saves a read.
 */
export function* changed(
  tree: Tree,
  path: string,
  change: (old: Uint8Array) => Uint8Array | Promise<Uint8Array>,
  known?: Uint8Array,
): Steps<Uint8Array> {
  let old = known ?? (yield* tree.read(path));
  for (let tries = 0; tries < TRIES; tries++) {
    const fresh = yield* ask(() => change(old));
    if (yield* replaced(tree, path, old, fresh)) {
      tree.wrote(path);
      return fresh;
    }
    old = yield* tree.read(path);
  }
  throw new Problem("EBUSY", "other writers keep changing it");
}

/** Adds to the end of a file. False if there is none. */
export function* added(
  tree: Tree,
  path: string,
  bytes: Uint8Array,
  signal?: AbortSignal,
): Steps<boolean> {
  if (!tree.own) {
    if (yield* tried(path, () => appended(plain(tree), path, bytes, signal))) {
      tree.wrote(path);
      return true;
    }
    try {
      yield* changed(tree, path, (old) => joined([old, bytes]));
      return true;
    } catch (error) {
      if (error instanceof Problem && error.code === "ENOENT") return false;
      throw error;
    }
  }
  const files = tree.files as {
    append(path: string, bytes: Uint8Array, how?: object): Answered;
  };
  const answer = yield* ask(() => files.append(path, bytes, ...signalled(signal)));
  if (answer.error === undefined) {
    tree.wrote(path);
    return true;
  }
  if (answer.code === "not_found" || answer.code === "is_directory") return false;
  throw problemOf(answer, path);
}

/** Adds to the end of a file, or creates it. */
export function* addedOrNew(
  tree: Tree,
  path: string,
  bytes: Uint8Array,
  signal?: AbortSignal,
): Steps<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    if (yield* added(tree, path, bytes, signal)) return;
    if (yield* putNew(tree, path, bytes)) return;
  }
  throw new Problem("EBUSY", "other writers keep creating and deleting it");
}
