// Directories: made, and removed.

import { extended } from "../extended.js";
import { modeOf } from "./content.js";
import { type Answered, Problem, problemOf } from "./errors.js";
import { notEmpty, parentOf, targetOf } from "./paths.js";
import { putNew } from "./put.js";
import { ask, type Steps } from "./steps.js";
import { isAt, type Tree } from "./tree.js";
import { checkBooleans, checkRemoval, optionsOf, within } from "./within.js";

const NOTHING = new Uint8Array();
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/** Letters that nobody else uses. */
export function random(length: number): string {
  const numbers = crypto.getRandomValues(new Uint8Array(length));
  return Array.from(numbers, (one) => LETTERS[one % LETTERS.length]).join("");
}

/** Whether that is a file of `madeReal`. */
export const isMaking = (name: string): boolean => /^\.making-\w{12}$/.test(name);

/** In a folder: an empty directory remains where a file was for a moment, which watchers are not told. */
function* madeReal(tree: Tree, path: string): Steps<void> {
  const file = `${path}/.making-${random(12)}`;
  if (!(yield* putNew(tree, file, NOTHING))) throw new Problem("EEXIST");
  const files = extended(tree.files as never);
  const answer = yield* ask(() => files.delete(file, { unchanged: NOTHING }));
  if (answer.error !== undefined && answer.code !== "not_found") throw problemOf(answer, file);
}

/**
 * Elsewhere nothing is stored, so nobody would ask the rules. An addition of nothing to a file that does
 * not exist asks them, and changes nothing.
 */
export function* allowed(tree: Tree, path: string): Steps<void> {
  if (!tree.own) return;
  const files = tree.files as { append(path: string, bytes: Uint8Array): Answered };
  const answer = yield* ask(() => files.append(path, NOTHING));
  if (answer.error === undefined) throw new Problem("EEXIST");
  const { code } = answer;
  if (code === "not_found" || code === "is_directory" || code === "unsupported") return;
  throw problemOf(answer, path);
}

/** Makes a directory where nothing is. */
export function* make(tree: Tree, path: string, mode?: number): Steps<void> {
  if (tree.real) yield* madeReal(tree, path);
  else {
    yield* allowed(tree, path);
    tree.shared.directories.add(path);
  }
  if (mode !== undefined) tree.shared.modes.set(path, mode & 0o7777 & ~0o022);
  tree.changed(path);
}

/** Whether a call is the first of those at once that would report a directory as made. */
function reports(making: Tree["shared"]["making"], dir: string): boolean {
  const known = making.get(dir);
  if (!known || known.reported) return false;
  known.reported = true;
  return true;
}

/** Makes a directory and those above it; returns the first that was made, to one of the calls at once. */
export function* makeAll(tree: Tree, path: string, mode?: number): Steps<string | undefined> {
  if (path === "/") return undefined;
  const { making } = tree.shared;
  const dirs: string[] = [];
  for (let dir = path; dir !== "/"; dir = parentOf(dir)) dirs.push(dir);
  for (const dir of dirs) {
    const known = making.get(dir) ?? { calls: 0, reported: false };
    known.calls += 1;
    making.set(dir, known);
  }
  try {
    let missing = 0;
    for (const dir of dirs) {
      const found = yield* tree.find(dir);
      if (found && !found.directory) throw new Problem(dir === path ? "EEXIST" : "ENOTDIR");
      if (found && dir === path) return undefined;
      if (found) break;
      missing += 1;
    }
    const absent = dirs.slice(0, missing);
    // Who finds that a directory is absent reports it, so that of calls at once the others do not.
    const mine = absent.filter((dir) => reports(making, dir));
    try {
      yield* make(tree, path, mode);
    } catch (error) {
      for (const dir of mine) {
        const known = making.get(dir);
        if (known) known.reported = false;
      }
      throw error;
    }
    // What another call would have reported, and could not make.
    mine.push(...absent.filter((dir) => reports(making, dir)));
    return absent.findLast((dir) => mine.includes(dir));
  } finally {
    for (const dir of dirs) {
      const known = making.get(dir);
      if (known && --known.calls === 0) making.delete(dir);
    }
  }
}

/** A directory that was made, above the path or the path itself, as the caller wrote it. */
function asGiven(made: string, path: string, given: string): string {
  if (made === path) return given;
  if (/(^|\/)\.\.(\/|$)/.test(given)) return made;
  let [text, at] = [given.replace(/\/+$/, ""), path];
  for (; at !== made; at = parentOf(at)) text = text.replace(/\/+[^/]*$/, "");
  return text;
}

export function* mkdir(tree: Tree, path: unknown, options?: unknown): Steps<string | undefined> {
  const given = optionsOf(options, "mode");
  checkBooleans(given, "recursive");
  const { recursive, mode: bits } = given;
  const mode = modeOf(bits);
  const target = targetOf(path, tree.cwd);
  return yield* within({ syscall: "mkdir", path: target.given }, function* () {
    notEmpty(target);
    if (recursive === true) {
      if (target.directory && (yield* tree.find(target.path))?.directory === false) {
        throw new Problem("ENOTDIR");
      }
      const made = yield* makeAll(tree, target.path, mode);
      return made && asGiven(made, target.path, target.given);
    }
    if (yield* tree.find(target.path)) throw new Problem("EEXIST");
    yield* tree.room(target.path);
    yield* make(tree, target.path, mode);
    return undefined;
  });
}

export function* mkdtemp(tree: Tree, prefix: unknown): Steps<string> {
  const { given } = targetOf(prefix, tree.cwd, "prefix");
  return yield* within({ syscall: "mkdtemp", path: `${given}XXXXXX` }, function* () {
    for (;;) {
      const made = given + random(6);
      const { path } = targetOf(made, tree.cwd);
      if (yield* tree.find(path)) continue;
      yield* tree.room(path);
      yield* make(tree, path, 0o700);
      return made;
    }
  });
}

/** Keeps the content of the open files at and below a path, which is going to be deleted. */
export function* keep(tree: Tree, path: string): Steps<() => void> {
  const kept = [...tree.shared.open.values()].filter((file) => isAt(file.path, path));
  for (const file of kept) file.bytes ??= yield* tree.readOrNothing(file.path);
  return () => {
    for (const file of kept) {
      file.unlinked = true;
      tree.shared.open.delete(file.path);
    }
  };
}

/** Deletes a file, or a directory with all below it. */
export function* erase(tree: Tree, path: string): Steps<void> {
  const gone = yield* keep(tree, path);
  const answer = yield* ask(() => tree.files.delete?.(path));
  // A directory without files is none for the backend.
  const none = answer?.code === "not_found" && tree.shared.directories.has(path);
  if (answer?.error !== undefined && !none) throw problemOf(answer, path);
  gone();
  tree.left(path);
}

/**
 * Removes a directory that exists by itself, unless something is in it by now. False: the backend cannot
 * do that, such as one of another library.
 */
function* removedReal(tree: Tree, path: string): Steps<boolean> {
  if (!tree.own) return false;
  const files = tree.files as { delete(path: string, how: object): Answered };
  const answer = yield* ask(() => files.delete(path, { unchanged: NOTHING }));
  if (answer.code === "is_directory" || answer.code === "unsupported") return false;
  if (answer.code === "conflict") {
    if ((yield* tree.list(path)).length > 0) throw new Problem("ENOTEMPTY");
    // What a process that was killed has left is not shown, and goes with the directory.
    return false;
  }
  if (answer.error !== undefined && answer.code !== "not_found") throw problemOf(answer, path);
  tree.left(path);
  return true;
}

/** Removes an empty directory. */
export function* removeEmpty(tree: Tree, path: string): Steps<void> {
  if ((yield* tree.list(path)).length > 0) throw new Problem("ENOTEMPTY");
  // One of a folder that is mounted exists there, whatever is remembered of it.
  if (tree.real || (yield* tree.isEmpty(path))) {
    if (!(yield* removedReal(tree, path))) yield* erase(tree, path);
  } else {
    yield* allowed(tree, path);
    tree.left(path);
  }
}

export function* rmdir(tree: Tree, path: unknown, options?: unknown): Steps<void> {
  const given = optionsOf(options, "recursive");
  checkRemoval(given);
  const { recursive } = given;
  const target = targetOf(path, tree.cwd);
  yield* within({ syscall: "rmdir", path: target.given }, function* () {
    const entry = yield* tree.get(target);
    if (!entry.directory) throw new Problem("ENOTDIR");
    if (/(^|\/)\.\/*$/.test(target.given)) throw new Problem("EINVAL");
    if (target.path === "/") throw new Problem("EBUSY");
    if (recursive === true) yield* erase(tree, target.path);
    else yield* removeEmpty(tree, target.path);
  });
}
