// Whole files: read, written, appended to, cut, and their times and modes.

import {
  bytesOf,
  decoded,
  encodingOf,
  gathered,
  isPieces,
  modeOf,
  resized,
  whole,
  wrongData,
} from "./content.js";
import { aborted, Problem, wrongType } from "./errors.js";
import { type Flags, flagsOf } from "./flags.js";
import {
  close,
  content,
  created,
  type Opened,
  open,
  openedBy,
  remaining,
  writeFrom,
} from "./open.js";
import { type Target, targetOf } from "./paths.js";
import { added, addedOrNew, changed, put, putNew } from "./put.js";
import { ask, type Steps } from "./steps.js";
import type { Tree } from "./tree.js";
import { optionsOf, within } from "./within.js";

/** The open file that an argument is: a descriptor, or an object with one. */
function openedOf(given: unknown, syscall: string): Opened | undefined {
  const fd = typeof given === "number" ? given : (given as { fd?: unknown } | null | undefined)?.fd;
  return Number.isInteger(fd) ? openedBy(fd, syscall) : undefined;
}

function signalOf(options: Record<string, unknown>): AbortSignal | undefined {
  const signal = options.signal as AbortSignal | undefined;
  if (signal !== undefined && typeof signal?.addEventListener !== "function") {
    throw wrongType("options.signal", "an instance of AbortSignal", signal);
  }
  return signal;
}

/** Ends with the signal's error, before and after a call that it cancels. */
function* ending<T>(signal: AbortSignal | undefined, work: () => Steps<T>): Steps<T> {
  if (signal?.aborted) throw aborted(signal);
  try {
    return yield* work();
  } catch (error) {
    if (signal?.aborted) throw aborted(signal);
    throw error;
  }
}

/** The content of the file at a path; a problem if there is none, or a directory. */
export function* bytesAt(tree: Tree, target: Target, signal?: AbortSignal): Steps<Uint8Array> {
  if (target.directory || target.given === "") yield* tree.get(target);
  try {
    return yield* tree.read(target.path, signal);
  } catch (error) {
    const { code } = error as Problem;
    const none = code === "ENOENT" || code === "EISDIR" || target.path === "/";
    if (!(error instanceof Problem) || !none) throw error;
    const entry = yield* tree.get(target);
    throw entry.directory ? new Problem("EISDIR", undefined, { syscall: "read" }) : error;
  }
}

export function* readFile(tree: Tree, path: unknown, given?: unknown): Steps<string | Uint8Array> {
  const options = optionsOf(given, "encoding");
  const encoding = encodingOf(options.encoding);
  const signal = signalOf(options);
  return yield* within({ syscall: "read" }, function* () {
    const opened = openedOf(path, "read");
    if (opened) return decoded(yield* remaining(tree, opened), encoding);
    const target = targetOf(path, tree.cwd);
    const flags = flagsOf(options.flag, "r");
    if (flags.create || flags.write || flags.truncate) {
      const one = yield* open(tree, path, options.flag);
      try {
        return decoded((yield* content(tree, one)).slice(), encoding);
      } finally {
        close(tree, one);
      }
    }
    return yield* within({ syscall: "open", path: target.given }, () =>
      ending(signal, function* () {
        return decoded(yield* bytesAt(tree, target, signal), encoding);
      }),
    );
  });
}

/** Replaces a file, creates it, or adds to it; none of them opens it first. */
function* store(
  tree: Tree,
  target: Target,
  bytes: Uint8Array,
  flags: Flags,
  options: Record<string, unknown>,
): Steps<void> {
  const { path } = target;
  const signal = options.signal as AbortSignal | undefined;
  if (target.given === "") throw new Problem("ENOENT");
  // Without a look at what is there: most additions are to a file that exists.
  if (flags.append && !flags.exclusive && !target.directory && path !== "/") {
    if (bytes.length > 0 && (yield* added(tree, path, bytes, signal))) return;
  }
  if (target.directory) {
    yield* tree.room(path);
    throw new Problem("EISDIR");
  }
  const entry = yield* tree.find(path);
  if (entry && flags.exclusive) throw new Problem("EEXIST");
  if (entry?.directory) throw new Problem("EISDIR");
  if (!entry) yield* tree.room(path);
  if (flags.exclusive) {
    if (!(yield* putNew(tree, path, bytes))) throw new Problem("EEXIST");
  } else if (flags.append) {
    if (entry && bytes.length === 0) return;
    yield* addedOrNew(tree, path, bytes, signal);
  } else yield* put(tree, path, bytes, signal);
  if (!entry) created(tree, path, modeOf(options.mode));
}

function* writeBy(
  tree: Tree,
  path: unknown,
  data: unknown,
  given: unknown,
  flag: string,
): Steps<void> {
  const options = optionsOf(given, "encoding");
  const encoding = encodingOf(options.encoding);
  const signal = signalOf(options);
  yield* within({ syscall: "write" }, function* () {
    const opened = openedOf(path, "write");
    const target = opened ? undefined : targetOf(path, tree.cwd);
    const flags = flagsOf(options.flag, flag);
    modeOf(options.mode);
    const direct = bytesOf(data, encoding);
    if (!direct && !isPieces(data)) throw wrongData("data", data);
    const bytes = direct ?? (yield* ask(() => gathered(data as Iterable<unknown>, encoding)));
    if (!target) {
      yield* writeFrom(tree, opened as Opened, bytes, null);
      return;
    }
    yield* within({ syscall: "open", path: target.given }, () =>
      ending(signal, function* () {
        const simple = flags.write && flags.create && (flags.truncate || flags.append);
        if (simple) return yield* store(tree, target, bytes, flags, options);
        const one = yield* open(tree, path, options.flag, options.mode);
        try {
          yield* writeFrom(tree, one, bytes, null);
        } finally {
          close(tree, one);
        }
      }),
    );
  });
}

export const writeFile = (tree: Tree, path: unknown, data: unknown, options?: unknown) =>
  writeBy(tree, path, data, options, "w");

export const appendFile = (tree: Tree, path: unknown, data: unknown, options?: unknown) =>
  writeBy(tree, path, data, options, "a");

export function* truncate(tree: Tree, path: unknown, length?: unknown): Steps<void> {
  const target = targetOf(path, tree.cwd);
  const size = Math.max(0, whole("len", length ?? 0));
  yield* within({ syscall: "open", path: target.given }, function* () {
    if ((yield* tree.get(target)).directory) throw new Problem("EISDIR");
    if (size === 0) yield* put(tree, target.path, new Uint8Array());
    else yield* changed(tree, target.path, (old) => resized(old, size));
  });
}

/** A time of a call, in milliseconds. */
export function timeOf(name: string, given: unknown): number {
  const value = typeof given === "string" ? Number(given) : given;
  if (typeof value === "number" && !Number.isNaN(value)) return value * 1000;
  const time = value instanceof Date ? value.getTime() : Number.NaN;
  if (Number.isNaN(time)) throw wrongType(name, "an instance of Date or of type number", given);
  return time;
}

/** An operation that sets something of a path, which is kept beside the backend. */
const setting =
  (syscall: string, set: (tree: Tree, path: string, first: unknown, second: unknown) => void) =>
  (tree: Tree, path: unknown, first?: unknown, second?: unknown): Steps<void> => {
    const target = targetOf(path, tree.cwd);
    return within({ syscall, path: target.given }, function* () {
      yield* tree.get(target);
      set(tree, target.path, first, second);
    });
  };

export function setTimes(tree: Tree, path: string, atime: unknown, mtime: unknown): void {
  const accessed = timeOf("atime", atime);
  tree.shared.times.set(path, { accessed, modified: timeOf("mtime", mtime) });
}

export function setMode(tree: Tree, path: string, mode: unknown): void {
  tree.shared.modes.set(path, (modeOf(mode) ?? whole("mode", mode)) & 0o7777);
}

/** All files belong to the user and group 0. */
export function setOwner(_tree: Tree, _path: string, uid: unknown, gid: unknown): void {
  const other = (id: unknown) => id !== 0 && id !== -1;
  if (other(whole("uid", uid)) || other(whole("gid", gid))) {
    throw new Problem("EPERM", "these files have no owners");
  }
}

export const utimes = setting("utime", setTimes);
export const lutimes = setting("lutime", setTimes);
export const chmod = setting("chmod", setMode);
export const chown = setting("chown", setOwner);
export const lchown = setting("lchown", setOwner);

/** Refuses a link, as file systems do that have none. */
const linking = (syscall: string, looks: boolean) =>
  function* (tree: Tree, existing: unknown, path: unknown): Steps<void> {
    const from = targetOf(existing, tree.cwd, looks ? "existingPath" : "target");
    const to = targetOf(path, tree.cwd, looks ? "newPath" : "path");
    yield* within({ syscall, path: from.given, dest: to.given }, function* () {
      if (looks) yield* tree.get(from);
      if (yield* tree.find(to.path)) throw new Problem("EEXIST");
      yield* tree.room(to.path);
      throw new Problem("EPERM", "these files have no links");
    });
  };

export const symlink = linking("symlink", false);
export const link = linking("link", true);
