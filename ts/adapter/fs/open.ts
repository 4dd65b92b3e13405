// Open files: what a file descriptor and a handle of `fs.promises` are of. All that have one path open
// share its content, which is read anew whenever the file is opened and after every change made here.
// What others change meanwhile is seen with the next `open`, as in a network's file system.

import { modeOf, overlaid, resized } from "./content.js";
import { type Place, Problem } from "./errors.js";
import { type Flags, flagsOf } from "./flags.js";
import { seen } from "./looking.js";
import type { FsStats } from "./names.js";
import { targetOf } from "./paths.js";
import { added, changed, put, putNew } from "./put.js";
import type { Steps } from "./steps.js";
import type { OpenFile, Tree } from "./tree.js";
import { within } from "./within.js";

/** An open file, or an open directory, which has no content. */
export interface Opened {
  fd: number;
  path: string;
  flags: Flags;
  /** Undefined for a directory. */
  file: OpenFile | undefined;
  position: number;
}

/** The open files of the process, by their descriptors; the first three are the host's streams. */
const descriptors = new Map<number, Opened>();

function held(tree: Tree, path: string, flags: Flags, isFile: boolean): Opened {
  let file: OpenFile | undefined;
  if (isFile) {
    const { open } = tree.shared;
    file = open.get(path) ?? { path, bytes: undefined, unlinked: false, handles: 0 };
    file.handles += 1;
    file.bytes = undefined;
    // A handle may be used by another caller, who has another file there.
    if (!tree.perCaller) open.set(path, file);
  }
  let fd = 3;
  while (descriptors.has(fd)) fd++;
  const opened: Opened = { fd, path, flags, file, position: 0 };
  descriptors.set(fd, opened);
  return opened;
}

/** Sets the mode of a file that was created. */
export function created(tree: Tree, path: string, mode: number | undefined): void {
  if (mode !== undefined && mode !== 0o666) {
    tree.shared.modes.set(path, mode & 0o7777 & ~0o022);
  }
}

export function* open(tree: Tree, given: unknown, how?: unknown, bits?: unknown): Steps<Opened> {
  const target = targetOf(given, tree.cwd);
  const flags = flagsOf(how, "r");
  const mode = modeOf(bits);
  const { path } = target;
  return yield* within({ syscall: "open", path: target.given }, function* () {
    if (target.given === "") throw new Problem("ENOENT");
    if (flags.create && target.directory) {
      yield* tree.room(path);
      throw new Problem("EISDIR");
    }
    let entry = yield* tree.find(path);
    if (!entry && flags.create) {
      yield* tree.room(path);
      if (yield* putNew(tree, path, new Uint8Array())) {
        created(tree, path, mode);
        return held(tree, path, flags, true);
      }
      entry = yield* tree.find(path);
    }
    if (!entry) throw yield* tree.missing(path);
    if (flags.create && flags.exclusive) throw new Problem("EEXIST");
    if (entry.directory) {
      if (flags.write || flags.create || flags.truncate) throw new Problem("EISDIR");
      return held(tree, path, flags, false);
    }
    if (target.directory || flags.directory) throw new Problem("ENOTDIR");
    // Linux empties also what is opened to be read.
    if (flags.truncate && entry.size > 0) yield* put(tree, path, new Uint8Array());
    return held(tree, path, flags, true);
  });
}

/** The open file of a descriptor. */
export function openedBy(fd: unknown, syscall: string): Opened {
  const opened = descriptors.get(fd as number);
  if (!opened) throw new Problem("EBADF", undefined, { syscall });
  return opened;
}

/** Whether it is still open. */
export const isOpen = (opened: Opened): boolean => descriptors.get(opened.fd) === opened;

export function close(tree: Tree, opened: Opened): void {
  if (!isOpen(opened)) return;
  descriptors.delete(opened.fd);
  const { file } = opened;
  if (!file) return;
  file.handles -= 1;
  if (file.handles > 0) return;
  if (tree.shared.open.get(file.path) === file) tree.shared.open.delete(file.path);
}

const here = (syscall: string): Place => ({ syscall });

/** The whole content of an open file. */
export function* content(tree: Tree, { file, flags }: Opened): Steps<Uint8Array> {
  return yield* within(here("read"), function* () {
    if (!flags.read) throw new Problem("EBADF");
    if (!file) throw new Problem("EISDIR");
    const bytes = file.bytes ?? (yield* tree.read(file.path));
    if (!tree.perCaller) file.bytes = bytes;
    return bytes;
  });
}

/** Reads into a buffer; returns how many bytes. Without a position, from where the last read ended. */
export function* readInto(
  tree: Tree,
  opened: Opened,
  buffer: Uint8Array,
  position: number | null,
): Steps<number> {
  const bytes = yield* content(tree, opened);
  const from = position ?? opened.position;
  const part = bytes.subarray(from, from + buffer.length);
  buffer.set(part);
  if (position === null) opened.position += part.length;
  return part.length;
}

/** What is left to read of an open file. */
export function* remaining(tree: Tree, opened: Opened): Steps<Uint8Array> {
  const bytes = yield* content(tree, opened);
  const part = bytes.slice(opened.position);
  opened.position = Math.max(opened.position, bytes.length);
  return part;
}

/** Changes the content of an open file. */
function* altered(tree: Tree, file: OpenFile, change: (old: Uint8Array) => Uint8Array) {
  if (file.unlinked) file.bytes = change(file.bytes ?? new Uint8Array());
  else {
    const bytes = yield* changed(tree, file.path, change, file.bytes);
    if (!tree.perCaller) file.bytes = bytes;
  }
}

/** Writes at a position, or where the last write ended; a file that is open for additions, at its end. */
export function* writeFrom(
  tree: Tree,
  opened: Opened,
  bytes: Uint8Array,
  position: number | null,
): Steps<number> {
  const { file, flags } = opened;
  return yield* within(here("write"), function* () {
    if (!flags.write || !file) throw new Problem("EBADF");
    if (bytes.length === 0) return 0;
    if (flags.append && !file.unlinked) {
      if (!(yield* added(tree, file.path, bytes))) throw new Problem("ENOENT");
      // A write at a position leaves that of the file as it is.
      if (flags.read && position === null) {
        opened.position = (yield* content(tree, opened)).length;
      }
      return bytes.length;
    }
    const at = position ?? opened.position;
    yield* altered(tree, file, (old) => overlaid(old, flags.append ? old.length : at, bytes));
    if (position === null) opened.position = at + bytes.length;
    return bytes.length;
  });
}

export function* resize(tree: Tree, { file, flags }: Opened, length: number): Steps<void> {
  yield* within(here("ftruncate"), function* () {
    if (!flags.write || !file) throw new Problem("EINVAL");
    yield* altered(tree, file, (old) => resized(old, Math.max(0, length)));
  });
}

export function* statOf(tree: Tree, { path, file }: Opened, bigint: boolean): Steps<FsStats> {
  return yield* within(here("fstat"), function* () {
    if (file?.unlinked) {
      const entry = { directory: false, size: file.bytes?.length ?? 0, modified: undefined };
      return seen(tree, file.path, entry, bigint);
    }
    const at = file?.path ?? path;
    const entry = yield* tree.find(at);
    if (!entry) throw new Problem("ENOENT");
    return seen(tree, at, entry, bigint);
  });
}
