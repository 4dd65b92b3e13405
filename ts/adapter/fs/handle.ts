// The handle that `fs.promises.open` returns, and the directory of `opendir`.

import { named } from "./content.js";
import * as descriptors from "./descriptors.js";
import { fsError, located, wrongArgument } from "./errors.js";
import { entriesOf } from "./looking.js";
import type { FsDir, FsDirent } from "./names.js";
import { isOpen, type Opened } from "./open.js";
import { type Target, targetOf } from "./paths.js";
import { direntOf } from "./stats.js";
import { later, now, plainly, type Steps } from "./steps.js";
import type { Streams } from "./streams.js";
import type { Tree } from "./tree.js";
import type { FsFileHandle } from "./types.js";
import { appendFile, readFile, writeFile } from "./whole.js";
import { optionsOf, within } from "./within.js";

const CHUNK = 64 * 1024;

/** The methods of a handle that are operations on its descriptor. */
const METHODS = {
  read: descriptors.read,
  readv: descriptors.readv,
  write: descriptors.write,
  writev: descriptors.writev,
  readFile,
  writeFile,
  appendFile,
  stat: descriptors.fstat,
  truncate: descriptors.ftruncate,
  sync: descriptors.fsync,
  datasync: descriptors.fdatasync,
  chmod: descriptors.fchmod,
  chown: descriptors.fchown,
  utimes: descriptors.futimes,
};

const asyncDispose: symbol =
  (Symbol as { asyncDispose?: symbol }).asyncDispose ?? Symbol.for("Symbol.asyncDispose");

const dispose: symbol = (Symbol as { dispose?: symbol }).dispose ?? Symbol.for("Symbol.dispose");

const invalidState = (what: string) =>
  Object.assign(new Error(`Invalid state: The FileHandle is ${what}`), {
    code: "ERR_INVALID_STATE",
  });

export function handleOf(tree: Tree, opened: Opened, streams: Streams): FsFileHandle {
  const fd = () => (isOpen(opened) ? opened.fd : -1);
  const handle: Record<PropertyKey, unknown> = {};
  let streaming = false;
  for (const [name, method] of Object.entries(METHODS)) {
    const run = method as (tree: Tree, fd: unknown, ...args: unknown[]) => Steps<unknown>;
    handle[name] = async (...args: unknown[]) => {
      if (fd() === -1) throw fsError("EBADF", { syscall: name === "stat" ? "fstat" : name });
      return later(run(tree, opened.fd, ...args));
    };
  }
  const close = async () => {
    if (fd() !== -1) await later(descriptors.close(tree, opened.fd));
  };
  const streamed =
    <T>(make: (of: unknown, options?: unknown) => T) =>
    (options?: unknown) => {
      if (fd() !== -1) return make(handle, options);
      const range = "It must be >= 0 && <= 2147483647. Received -1";
      throw wrongArgument("ERR_OUT_OF_RANGE", `The value of "fd" is out of range. ${range}`);
    };
  return Object.defineProperty(
    Object.assign(handle, {
      close,
      [asyncDispose]: close,
      createReadStream: streamed((...of) => streams.reading(...of)),
      createWriteStream: streamed((...of) => streams.writing(...of)),
      readableWebStream: () => {
        if (fd() === -1) throw invalidState("closed");
        if (streaming) throw invalidState("locked");
        streaming = true;
        return webStream(handle as unknown as FsFileHandle);
      },
    }),
    "fd",
    { get: fd, enumerable: true },
  ) as unknown as FsFileHandle;
}

/** The content of a file from the start, as a stream of the web. */
function webStream(handle: FsFileHandle): ReadableStream<Uint8Array> {
  let position = 0;
  return new ReadableStream({
    async pull(controller) {
      const { bytesRead, buffer } = await handle.read(new Uint8Array(CHUNK), 0, CHUNK, position);
      position += bytesRead;
      if (bytesRead === 0) controller.close();
      else controller.enqueue(buffer.subarray(0, bytesRead));
    },
  });
}

/** The entries of a directory, of those below it as well if that is wanted. */
function* direntsOf(tree: Tree, target: Target, encoding: unknown, recursive: boolean) {
  const found: FsDirent[] = [];
  const open = [target];
  for (let dir = open.shift(); dir; dir = open.shift()) {
    for (const { name, directory } of yield* entriesOf(tree, dir)) {
      found.push(direntOf(named(name, encoding), dir.given, directory));
      const given = dir.given.endsWith("/") ? dir.given + name : `${dir.given}/${name}`;
      if (directory && recursive) open.push(targetOf(given, tree.cwd));
    }
  }
  return found;
}

export function* opendir(tree: Tree, path: unknown, options?: unknown): Steps<FsDir> {
  const { encoding, recursive } = optionsOf(options, "encoding");
  const target = targetOf(path, tree.cwd);
  const found = yield* within({ syscall: "opendir", path: target.given }, () =>
    direntsOf(tree, target, encoding, recursive === true),
  );
  return dirOf(target.given, found);
}

type Back<T> = (error: unknown, value?: T) => void;

/** An open directory. Its entries are those of the time when it was opened. */
function dirOf(path: string, entries: FsDirent[]): FsDir {
  let at = 0;
  let isClosed = false;
  let waiting = 0;
  const wrong = (code: string, message: string) => Object.assign(new Error(message), { code });
  const check = () => {
    if (isClosed) throw wrong("ERR_DIR_CLOSED", "Directory handle was closed");
  };
  const alone = () => {
    if (waiting === 0) return;
    throw wrong(
      "ERR_DIR_CONCURRENT_OPERATION",
      "Cannot do synchronous work on directory handle with concurrent asynchronous operations",
    );
  };
  const next = () =>
    plainly(() => {
      check();
      return entries[at++] ?? null;
    });
  const end = () =>
    plainly(() => {
      check();
      isClosed = true;
    });
  const both =
    <T>(steps: () => Steps<T>) =>
    (callback?: Back<T>) => {
      waiting += 1;
      const result = later(steps()).finally(() => {
        waiting -= 1;
      });
      if (typeof callback !== "function") return result;
      result.then(
        (value) => queueMicrotask(() => callback(null, value)),
        (error) => queueMicrotask(() => callback(located(error, { syscall: "readdir" }))),
      );
      return undefined;
    };
  const dir = {
    path,
    read: both(next),
    readSync: () => {
      alone();
      return now(next());
    },
    close: both(end),
    closeSync: () => {
      alone();
      return now(end());
    },
    // Closing again is no error here.
    [asyncDispose]: async () => {
      isClosed = true;
    },
    [dispose]: () => {
      isClosed = true;
    },
    async *[Symbol.asyncIterator]() {
      try {
        for (let entry = now(next()); entry; entry = now(next())) yield entry;
      } finally {
        isClosed = true;
      }
    },
  };
  return dir as unknown as FsDir;
}
