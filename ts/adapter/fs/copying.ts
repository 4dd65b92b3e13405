// `cp`: a file, or a directory with all below it.

import { Problem, systemError, wrongType } from "./errors.js";
import { makeAll } from "./making.js";
import { below, type Target, targetOf } from "./paths.js";
import { copied } from "./removing.js";
import { ask, type Steps } from "./steps.js";
import { isAt, type Tree } from "./tree.js";
import { checkBooleans, within } from "./within.js";

interface Options {
  recursive?: boolean;
  force?: boolean;
  errorOnExist?: boolean;
  preserveTimestamps?: boolean;
  filter?: (source: string, destination: string) => unknown;
}

const INVALID = "Invalid src or dest";

/** What cannot be copied there. */
function* refused(tree: Tree, from: Target, to: Target, isDirectory: boolean) {
  const place = { syscall: "cp", path: to.given };
  if (from.path === to.path) {
    const said = "src and dest cannot be the same";
    throw systemError("ERR_FS_CP_EINVAL", INVALID, [said, "EINVAL"], place);
  }
  const target = yield* within({ syscall: "lstat", path: to.given }, function* () {
    const found = yield* tree.find(to.path);
    const problem = found ? undefined : yield* tree.missing(to.path);
    if (problem?.code === "ENOTDIR") throw problem;
    return found;
  });
  if (target && isDirectory && !target.directory) {
    const said = `cannot overwrite non-directory ${to.given} with directory ${from.given}`;
    const what = "Cannot overwrite non-directory with directory";
    throw systemError("ERR_FS_CP_DIR_TO_NON_DIR", what, [said, "EISDIR"], place);
  }
  if (target && !isDirectory && target.directory) {
    const said = `cannot overwrite directory ${to.given} with non-directory ${from.given}`;
    const what = "Cannot overwrite directory with non-directory";
    throw systemError("ERR_FS_CP_NON_DIR_TO_DIR", what, [said, "ENOTDIR"], place);
  }
  if (isDirectory && isAt(to.path, from.path)) {
    const said = `cannot copy ${from.given} to a subdirectory of self ${to.given}`;
    throw systemError("ERR_FS_CP_EINVAL", INVALID, [said, "EINVAL"], place);
  }
  return target;
}

function* copyOne(tree: Tree, from: Target, to: Target, options: Options): Steps<void> {
  const { force = true, errorOnExist, preserveTimestamps } = options;
  const exists = yield* tree.find(to.path);
  if (exists && !force) {
    if (!errorOnExist) return;
    const place = { syscall: "cp", path: to.given };
    const said = `${to.given} already exists`;
    throw systemError("ERR_FS_CP_EEXIST", "Target already exists", [said, "EEXIST"], place);
  }
  const place = { syscall: "copyfile", path: from.given, dest: to.given };
  yield* within(place, function* () {
    if (to.directory) throw new Problem(exists ? "ENOTDIR" : "EISDIR");
    yield* copied(tree, from.path, to.path, force);
  });
  if (preserveTimestamps !== true) return;
  const known = tree.shared.times.get(from.path);
  const { modified } = yield* tree.get(from);
  const times = known ?? (modified === undefined ? undefined : { accessed: modified, modified });
  if (times) tree.shared.times.set(to.path, times);
}

function* copyBelow(tree: Tree, from: Target, to: Target, options: Options): Steps<void> {
  const { filter } = options;
  if (filter && !(yield* ask(() => filter(from.given, to.given)))) return;
  const entry = yield* within({ syscall: "lstat", path: from.given }, () => tree.get(from));
  yield* refused(tree, from, to, entry.directory);
  if (!entry.directory) return yield* copyOne(tree, from, to, options);
  yield* within({ syscall: "mkdir", path: to.given }, () => makeAll(tree, to.path));
  for (const { name } of yield* tree.list(from.path)) {
    const inner = targetOf(below(from.given, name), tree.cwd);
    yield* copyBelow(tree, inner, targetOf(below(to.given, name), tree.cwd), options);
  }
}

export function* cp(tree: Tree, src: unknown, dest: unknown, given?: unknown): Steps<void> {
  const from = targetOf(src, tree.cwd, "src");
  const to = targetOf(dest, tree.cwd, "dest");
  if (given !== undefined && (typeof given !== "object" || given === null)) {
    throw wrongType("options", "of type object", given);
  }
  const options = (given ?? {}) as Options;
  checkBooleans(options, "recursive", "force", "errorOnExist", "preserveTimestamps");
  const entry = yield* within({ syscall: "lstat", path: from.given }, () => tree.get(from));
  yield* refused(tree, from, to, entry.directory);
  if (entry.directory && options.recursive !== true) {
    const place = { syscall: "cp", path: from.given };
    const said = `${from.given} is a directory (not copied)`;
    throw systemError("ERR_FS_EISDIR", "Path is a directory", [said, "EISDIR"], place);
  }
  const dir = to.path.slice(0, to.path.lastIndexOf("/")) || "/";
  const parent = { syscall: "mkdir", path: below(to.given.replace(/\/[^/]*\/*$/, ""), "") };
  yield* within(parent, function* () {
    try {
      yield* makeAll(tree, dir);
    } catch (error) {
      const isFile = error instanceof Problem && error.code === "EEXIST";
      throw isFile ? new Problem("ENOTDIR") : error;
    }
  });
  yield* copyBelow(tree, from, to, options);
}
