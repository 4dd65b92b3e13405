// Operations that change no file: what is at a path, and what is in a directory.

import { named } from "./content.js";
import { Problem } from "./errors.js";
import { constants } from "./flags.js";
import type { FsDirent, FsStats } from "./names.js";
import { below, type Target, targetOf } from "./paths.js";
import { direntOf, statsOf } from "./stats.js";
import type { Steps } from "./steps.js";
import type { Entry, Tree } from "./tree.js";
import { bitsOf, optionsOf, within } from "./within.js";

const modeOf = (tree: Tree, path: string, { directory }: Entry) =>
  tree.shared.modes.get(path) ?? (directory ? 0o755 : 0o644);

/** Entries as the statistics of Node. */
export function seen(tree: Tree, path: string, entry: Entry, bigint: boolean): FsStats {
  const time = entry.modified ?? tree.shared.made;
  const times = tree.shared.times.get(path) ?? { accessed: time, modified: time };
  const { directory, size } = entry;
  return statsOf({ path, directory, size, ...times, mode: modeOf(tree, path, entry) }, bigint);
}

/** `lstat` reports a file in the way, as Node does. */
const isBelowFile = ({ code }: Problem, syscall: string) =>
  code === "ENOTDIR" && syscall === "stat";

function* statBy(tree: Tree, syscall: string, path: unknown, options: unknown) {
  const { bigint, throwIfNoEntry } = optionsOf(options, "bigint");
  const target = targetOf(path, tree.cwd);
  return yield* within({ syscall, path: target.given }, function* () {
    try {
      return seen(tree, target.path, yield* tree.get(target), bigint === true);
    } catch (error) {
      const none =
        error instanceof Problem && (error.code === "ENOENT" || isBelowFile(error, syscall));
      if (none && throwIfNoEntry === false) return undefined;
      throw error;
    }
  });
}

export const stat = (tree: Tree, path: unknown, options?: unknown) =>
  statBy(tree, "stat", path, options);

export const lstat = (tree: Tree, path: unknown, options?: unknown) =>
  statBy(tree, "lstat", path, options);

export function* access(tree: Tree, path: unknown, mode?: unknown): Steps<void> {
  const target = targetOf(path, tree.cwd);
  const wanted = bitsOf(mode);
  yield* within({ syscall: "access", path: target.given }, function* () {
    const entry = yield* tree.get(target);
    const runs = entry.directory || (modeOf(tree, target.path, entry) & 0o111) !== 0;
    if (wanted & constants.X_OK && !runs) throw new Problem("EACCES");
    const { capability } = tree.files as { capability?: { writable?: boolean } };
    if (wanted & constants.W_OK && capability?.writable === false) throw new Problem("EACCES");
  });
}

export function* exists(tree: Tree, path: unknown): Steps<boolean> {
  try {
    const target = targetOf(path, tree.cwd);
    yield* tree.get(target);
    return true;
  } catch {
    return false;
  }
}

export function* realpath(tree: Tree, path: unknown, options?: unknown) {
  const { encoding } = optionsOf(options, "encoding");
  const target = targetOf(path, tree.cwd);
  return yield* within({ syscall: "realpath", path: target.given }, function* () {
    yield* tree.get(target);
    return named(target.path, encoding);
  });
}

export function* readlink(tree: Tree, path: unknown): Steps<string> {
  const target = targetOf(path, tree.cwd);
  return yield* within({ syscall: "readlink", path: target.given }, function* (): Steps<string> {
    yield* tree.get(target);
    // There are no links.
    throw new Problem("EINVAL");
  });
}

/** The entries of a directory; a problem if it is none. */
export function* entriesOf(tree: Tree, target: Target) {
  if (target.given === "") throw new Problem("ENOENT");
  const found = yield* tree.list(target.path);
  if (found.length === 0 && !(yield* tree.get(target)).directory) throw new Problem("ENOTDIR");
  return found;
}

export function* readdir(tree: Tree, path: unknown, options?: unknown) {
  const { encoding, withFileTypes, recursive } = optionsOf(options, "encoding");
  const target = targetOf(path, tree.cwd);
  return yield* within({ syscall: "scandir", path: target.given }, function* () {
    const names: Array<string | Uint8Array> = [];
    const dirents: FsDirent[] = [];
    // Level by level, as Node does.
    const open = [{ target, from: "" }];
    for (let dir = open.shift(); dir; dir = open.shift()) {
      for (const { name, directory } of yield* entriesOf(tree, dir.target)) {
        const from = dir.from === "" ? name : `${dir.from}/${name}`;
        names.push(named(from, encoding));
        const parent = named(dir.target.given, encoding === "buffer" ? undefined : encoding);
        dirents.push(direntOf(named(name, encoding), parent, directory));
        if (!directory || recursive !== true) continue;
        const given = below(dir.target.given, name);
        open.push({ target: targetOf(given, tree.cwd), from });
      }
    }
    return withFileTypes === true ? dirents : names;
  });
}
