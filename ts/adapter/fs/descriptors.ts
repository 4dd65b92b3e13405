// Operations on descriptors: `read`, `write` and others, in all forms of their arguments.

import { buffer as bufferOf, bytesOf, encodingOf, viewed, whole, wrongData } from "./content.js";
import { Problem, wrongArgument, wrongType } from "./errors.js";
import type { FsStats } from "./names.js";
import {
  close as closed,
  type Opened,
  openedBy,
  readInto,
  resize,
  statOf,
  writeFrom,
} from "./open.js";
import { plainly, type Steps } from "./steps.js";
import type { Tree } from "./tree.js";
import { setMode, setOwner, setTimes } from "./whole.js";
import { optionsOf, within } from "./within.js";

/** Where bytes go, or come from. */
interface Slice {
  buffer: ArrayBufferView;
  bytes: Uint8Array;
  position: number | null;
}

function positionOf(given: unknown): number | null {
  if (given === undefined || given === null) return null;
  const position = whole("position", given, -1);
  return position === -1 ? null : position;
}

function sliced(buffer: unknown, offset: unknown, length: unknown, position: unknown): Slice {
  if (!ArrayBuffer.isView(buffer)) {
    throw wrongType("buffer", "an instance of Buffer, TypedArray, or DataView", buffer);
  }
  const all = viewed(buffer);
  const from = whole("offset", offset ?? 0, 0);
  const count = whole("length", length ?? all.length - from, 0);
  const outside = (name: string, most: number, value: number) =>
    wrongArgument(
      "ERR_OUT_OF_RANGE",
      `The value of "${name}" is out of range. It must be <= ${most}. Received ${value}`,
    );
  if (from > all.length) throw outside("offset", all.length, from);
  if (count > all.length - from) throw outside("length", all.length - from, count);
  return { buffer, bytes: all.subarray(from, from + count), position: positionOf(position) };
}

/** The arguments of a read behind the file: separate, or in an object. */
function readArguments(args: unknown[]): Slice {
  let [buffer, offset, length, position] = args;
  const isOptions = (value: unknown) =>
    typeof value === "object" && value !== null && !ArrayBuffer.isView(value);
  if (isOptions(buffer) || buffer === undefined) {
    const options = (buffer ?? {}) as Record<string, unknown>;
    ({ offset, length, position } = options);
    buffer = options.buffer ?? bufferOf(new Uint8Array(16 * 1024));
  } else if (isOptions(offset)) {
    ({ offset, length, position } = offset as Record<string, unknown>);
  }
  return sliced(buffer, offset, length, position);
}

/** The same of a write, whose bytes may be a text with a position and an encoding. */
function writeArguments(args: unknown[]): Slice & { given: unknown } {
  const [data, offset, length, position] = args;
  if (typeof data === "string") {
    const bytes = bytesOf(data, encodingOf(length)) as Uint8Array;
    return { given: data, buffer: bytes, bytes, position: positionOf(offset) };
  }
  if (!ArrayBuffer.isView(data)) throw wrongData("buffer", data);
  return { given: data, ...readArguments([data, offset, length, position]) };
}

export function* readBy(tree: Tree, opened: Opened, args: unknown[]) {
  const { buffer, bytes, position } = readArguments(args);
  return { bytesRead: yield* readInto(tree, opened, bytes, position), buffer };
}

export function* writeBy(tree: Tree, opened: Opened, args: unknown[]) {
  const { bytes, given, position } = writeArguments(args);
  const copy = bytes.slice();
  return { bytesWritten: yield* writeFrom(tree, opened, copy, position), buffer: given };
}

function viewsOf(given: unknown): ArrayBufferView[] {
  if (Array.isArray(given) && given.every((one) => ArrayBuffer.isView(one))) return given;
  throw wrongType("buffers", "an instance of ArrayBufferView[]", given);
}

/** Reads into several buffers, one after the other. */
export function* readvBy(tree: Tree, opened: Opened, given: unknown, at: unknown) {
  const buffers = viewsOf(given);
  let position = positionOf(at);
  let bytesRead = 0;
  for (const view of buffers) {
    const count = yield* readInto(tree, opened, viewed(view), position);
    bytesRead += count;
    if (position !== null) position += count;
    if (count < view.byteLength) break;
  }
  return { bytesRead, buffers };
}

/** Writes several buffers as one. */
export function* writevBy(tree: Tree, opened: Opened, given: unknown, at: unknown) {
  const buffers = viewsOf(given);
  const size = buffers.reduce((sum, one) => sum + one.byteLength, 0);
  const bytes = new Uint8Array(size);
  let filled = 0;
  for (const view of buffers) {
    bytes.set(viewed(view), filled);
    filled += view.byteLength;
  }
  return { bytesWritten: yield* writeFrom(tree, opened, bytes, positionOf(at)), buffers };
}

/** An operation on a descriptor, under its name in errors. */
const on =
  <A extends unknown[], T>(
    syscall: string,
    work: (tree: Tree, opened: Opened, ...args: A) => Steps<T>,
  ) =>
  (tree: Tree, fd: unknown, ...args: A): Steps<T> =>
    within({ syscall }, function* () {
      return yield* work(tree, openedBy(whole("fd", fd, 0), syscall), ...args);
    });

/** One that sets something of the file. */
const setting = (
  syscall: string,
  set: (tree: Tree, path: string, a: unknown, b: unknown) => void,
) =>
  on(syscall, (tree: Tree, { file, path }: Opened, a?: unknown, b?: unknown) =>
    plainly(() => {
      if (!file?.unlinked) set(tree, file?.path ?? path, a, b);
    }),
  );

/** What is written is stored already. */
const syncing = (syscall: string) => on(syscall, () => plainly(() => undefined));

export const close = on("close", (tree, opened) => plainly(() => closed(tree, opened)));
export const fstat = on("fstat", function* (tree, opened, options?: unknown): Steps<FsStats> {
  return yield* statOf(tree, opened, optionsOf(options, "bigint").bigint === true);
});
export const ftruncate = on("ftruncate", function* (tree, opened, length?: unknown): Steps<void> {
  if (opened.file === undefined) throw new Problem("EINVAL");
  yield* resize(tree, opened, whole("len", length ?? 0));
});
export const fsync = syncing("fsync");
export const fdatasync = syncing("fdatasync");
export const fchmod = setting("fchmod", setMode);
export const fchown = setting("fchown", setOwner);
export const futimes = setting("futime", setTimes);
export const read = on("read", (tree, opened, ...args: unknown[]) => readBy(tree, opened, args));
export const readv = on("read", readvBy);
export const write = on("write", (tree, opened, ...args: unknown[]) => writeBy(tree, opened, args));
export const writev = on("write", writevBy);
