// Files and trees: removed, renamed and copied. The backend moves and copies by itself, so the content
// does not pass through here.

import type { BackendProtocolV2 } from "kitbag";
import { moveBelow, moveFile } from "../changes.js";
import { type Answered, Problem, problemOf, systemError } from "./errors.js";
import { constants } from "./flags.js";
import { allowed, erase, keep, make, removeEmpty } from "./making.js";
import { notEmpty, parentOf, type Target, targetOf } from "./paths.js";
import { put, putNew, tried } from "./put.js";
import { ask, type Steps } from "./steps.js";
import { isAt, type Tree } from "./tree.js";
import { bitsOf, checkRemoval, optionsOf, within } from "./within.js";

/**
 * Deletes a file and nothing below its path: where directories are derived from paths, a file can have
 * the path of one.
 */
export function* eraseFile(tree: Tree, path: string): Steps<void> {
  if (!tree.own || tree.real || !(yield* tree.holds(path))) return yield* erase(tree, path);
  const gone = yield* keep(tree, path);
  const unchanged = yield* tree.read(path);
  const files = tree.files as { delete(path: string, how: object): Answered };
  const answer = yield* ask(() => files.delete(path, { unchanged }));
  if (answer.error !== undefined) throw problemOf(answer, path);
  gone();
  tree.changed(path);
}

export function* unlink(tree: Tree, path: unknown): Steps<void> {
  const target = targetOf(path, tree.cwd);
  yield* within({ syscall: "unlink", path: target.given }, function* () {
    if ((yield* tree.get(target)).directory) throw new Problem("EISDIR");
    yield* eraseFile(tree, target.path);
  });
}

export function* rm(tree: Tree, path: unknown, options?: unknown): Steps<void> {
  const given = optionsOf(options, "recursive");
  checkRemoval(given);
  const { recursive, force } = given;
  const target = targetOf(path, tree.cwd);
  const place = { syscall: "rm", path: target.given };
  const entry = yield* within({ ...place, syscall: "lstat" }, function* () {
    try {
      return yield* tree.get(target);
    } catch (error) {
      const none = error instanceof Problem && error.code === "ENOENT";
      if (none && force === true) return undefined;
      throw error;
    }
  });
  if (!entry) return;
  if (entry.directory && recursive !== true) {
    throw systemError("ERR_FS_EISDIR", "Path is a directory", ["is a directory", "EISDIR"], place);
  }
  yield* within(place, function* () {
    if (target.path === "/") throw new Problem("EBUSY", "the root cannot be removed");
    yield* entry.directory ? erase(tree, target.path) : eraseFile(tree, target.path);
  });
}

/** Moves or copies in the backend. False: it has no way of its own. */
function* carried(
  tree: Tree,
  operation: "move" | "copy",
  from: string,
  to: string,
  overwrite: boolean,
): Steps<boolean> {
  const files = tree.files as Partial<
    Record<typeof operation, (from: string, to: string, how: object) => Answered>
  >;
  if (!tree.own || !files[operation]) return false;
  const answer = yield* ask(() => files[operation]?.(from, to, { overwrite }));
  if (answer?.error === undefined) return true;
  if (answer.code === "unsupported") return false;
  throw problemOf(answer, from);
}

const moving = { replace: true, name: (path: string) => path };

function* renameFile(tree: Tree, from: string, to: string, replace = true): Steps<void> {
  const gone = yield* keep(tree, to);
  if (!(yield* carried(tree, "move", from, to, replace))) {
    const how = { ...moving, replace };
    yield* tried(from, () => moveFile(tree.files as BackendProtocolV2, from, to, how));
  }
  gone();
}

/** Renames a file, whether or not the directory of its new name exists. */
export function* movedFile(tree: Tree, from: string, to: string, replace: boolean): Steps<void> {
  yield* renameFile(tree, from, to, replace);
  renamed(tree, from, to);
}

/** Makes the empty directories below `to` that are below `from`, where they exist by themselves. */
function* remade(tree: Tree, from: string, to: string): Steps<void> {
  let leaf = true;
  for (const { name, directory } of yield* tree.list(from)) {
    if (!directory) continue;
    leaf = false;
    yield* remade(tree, `${from}/${name}`, `${to}/${name}`);
  }
  if (leaf) yield* make(tree, to);
}

function* renameDirectory(tree: Tree, from: string, to: string): Steps<void> {
  const { directories } = tree.shared;
  if (yield* tree.find(to)) yield* removeEmpty(tree, to);
  const found = yield* ask(() => tree.files.glob("**", from));
  if (found.error !== undefined) throw problemOf(found, from);
  if ((found.files ?? []).length > 0) {
    if (!(yield* carried(tree, "move", from, to, false))) {
      yield* tried(from, () => moveBelow(tree.files as BackendProtocolV2, from, to, moving));
    }
  } else if (tree.real || (yield* tree.isEmpty(from))) {
    yield* remade(tree, from, to);
    yield* erase(tree, from);
  } else {
    // Nothing is stored, but the rules are asked.
    yield* allowed(tree, from);
    yield* make(tree, to);
  }
  directories.move(from, to);
}

/** What is known of a path goes with it to its new name. */
function renamed(tree: Tree, from: string, to: string): void {
  const { modes, times, open, directories } = tree.shared;
  for (const kept of [modes, times] as Array<Map<string, unknown>>) {
    for (const path of [...kept.keys()]) if (isAt(path, to)) kept.delete(path);
    for (const [path, value] of [...kept]) {
      if (!isAt(path, from)) continue;
      kept.delete(path);
      kept.set(to + path.slice(from.length), value);
    }
  }
  for (const [path, file] of [...open]) {
    if (!isAt(path, from)) continue;
    open.delete(path);
    file.path = to + path.slice(from.length);
    open.set(file.path, file);
  }
  if (!tree.real) directories.add(parentOf(from));
  if (!directories.has(to)) directories.filled(parentOf(to));
  tree.changed(from);
  tree.changed(to);
}

export function* rename(tree: Tree, oldPath: unknown, newPath: unknown): Steps<void> {
  const from = targetOf(oldPath, tree.cwd, "oldPath");
  const to = targetOf(newPath, tree.cwd, "newPath");
  const place = { syscall: "rename", path: from.given, dest: to.given };
  yield* within(place, function* () {
    notEmpty(from);
    notEmpty(to);
    if (from.path === "/" || to.path === "/") throw new Problem("EBUSY");
    const entry = yield* tree.find(from.path);
    if (!entry) {
      yield* tree.room(from.path);
      yield* tree.room(to.path);
      throw new Problem("ENOENT");
    }
    const target = yield* tree.find(to.path);
    if (!target) yield* tree.room(to.path);
    if (!entry.directory && (from.directory || to.directory)) throw new Problem("ENOTDIR");
    if (from.path === to.path) return;
    if (isAt(to.path, from.path)) throw new Problem(entry.directory ? "EINVAL" : "ENOTDIR");
    if (isAt(from.path, to.path)) throw new Problem("ENOTEMPTY");
    if (target && target.directory !== entry.directory) {
      throw new Problem(target.directory ? "EISDIR" : "ENOTDIR");
    }
    yield* entry.directory
      ? renameDirectory(tree, from.path, to.path)
      : renameFile(tree, from.path, to.path);
    renamed(tree, from.path, to.path);
  });
}

/** Copies one file. */
export function* copied(tree: Tree, from: string, to: string, overwrite: boolean): Steps<void> {
  if (from === to) return;
  if (!(yield* carried(tree, "copy", from, to, overwrite))) {
    const bytes = yield* tree.read(from);
    if (overwrite) yield* put(tree, to, bytes);
    else if (!(yield* putNew(tree, to, bytes))) throw new Problem("EEXIST");
  }
  const mode = tree.shared.modes.get(from);
  if (mode !== undefined) tree.shared.modes.set(to, mode);
  tree.wrote(to);
}

function* checkCopy(tree: Tree, from: Target, to: Target, exclusive: boolean): Steps<void> {
  const entry = yield* tree.get(from);
  const target = yield* tree.find(to.path);
  if (!target) {
    yield* tree.room(to.path);
    if (to.directory) throw new Problem("EISDIR");
  }
  if (target && exclusive) throw new Problem("EEXIST");
  if (target?.directory || entry.directory) throw new Problem("EISDIR");
  if (target && to.directory) throw new Problem("ENOTDIR");
}

export function* copyFile(tree: Tree, src: unknown, dest: unknown, mode?: unknown): Steps<void> {
  const from = targetOf(src, tree.cwd, "src");
  const to = targetOf(dest, tree.cwd, "dest");
  const bits = bitsOf(mode);
  const exclusive = (bits & constants.COPYFILE_EXCL) !== 0;
  const place = { syscall: "copyfile", path: from.given, dest: to.given };
  yield* within(place, function* () {
    notEmpty(to);
    yield* checkCopy(tree, from, to, exclusive);
    // No backend lets two files share their content.
    if (bits & constants.COPYFILE_FICLONE_FORCE) throw new Problem("ENOSYS");
    yield* copied(tree, from.path, to.path, !exclusive);
  });
}
