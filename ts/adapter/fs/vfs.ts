// `node:vfs`, Node's experimental virtual file systems: a provider over a backend. Its methods are those of an
// fs object; the loader of modules and most of `node:fs` call the ones that answer at once.

import { handleOf } from "./handle.js";
import type { FsDirent } from "./names.js";
import { type Opened, open } from "./open.js";
import { fsOf } from "./operations.js";
import { later, now } from "./steps.js";
import { Streams } from "./streams.js";
import type { Tree } from "./tree.js";

/** What reads; `VirtualProvider` itself refuses the others where files are read-only. */
const READING = ["access", "lstat", "readFile", "readlink", "realpath", "stat"];
const WRITING = [
  ...["appendFile", "chmod", "chown", "copyFile", "lchown", "link", "lutimes", "mkdir"],
  ...["rename", "rmdir", "symlink", "unlink", "utimes", "writeFile"],
];

type Functions = Record<string, (...args: unknown[]) => unknown>;

/** An open file as `node:vfs` wants it: a handle of `fs.promises` that can also answer at once. */
function fileOf(tree: Tree, fs: Functions, streams: Streams, opened: Opened): object {
  const { fd } = opened;
  const ofFd =
    (name: string) =>
    (...args: unknown[]) =>
      fs[name]?.(fd, ...args);
  const sync = {
    ...{ readSync: ofFd("readSync"), writeSync: ofFd("writeSync"), closeSync: ofFd("closeSync") },
    ...{ readFileSync: ofFd("readFileSync"), writeFileSync: ofFd("writeFileSync") },
    ...{ statSync: ofFd("fstatSync"), truncateSync: ofFd("ftruncateSync") },
    ...{ chmodSync: ofFd("fchmodSync"), utimesSync: ofFd("futimesSync") },
  };
  return Object.defineProperty(Object.assign(handleOf(tree, opened, streams), sync), "position", {
    get: () => opened.position,
    set: (position: number) => {
      opened.position = position;
    },
  });
}

/** Entries of a whole tree have their paths as names there. */
function named(found: unknown, dir: unknown, options: unknown): unknown {
  const { recursive, withFileTypes } = Object(options) as Record<string, unknown>;
  if (!recursive || !withFileTypes) return found;
  const start = dir === "/" ? 1 : String(dir).length + 1;
  for (const one of found as Array<FsDirent & { name: string }>) {
    one.name = `${String(one.parentPath)}/${one.name}`.replace("//", "/").slice(start);
  }
  return found;
}

/** The provider, of the class that `node:vfs` knows. */
export function providerOf<P extends object>(tree: Tree, VirtualProvider: new () => P): P {
  const fs = fsOf(tree, undefined) as unknown as Functions & { promises: Functions };
  const streams = new Streams(tree, undefined);
  const { capability } = tree.files as { capability?: { writable?: boolean } };
  const readonly = capability?.writable === false;
  const methods: Functions = {};
  for (const name of readonly ? READING : [...READING, ...WRITING]) {
    const sync = `${name}Sync`;
    Object.assign(methods, { [name]: fs.promises[name], [sync]: fs[sync] });
  }
  Object.assign(methods, {
    open: async (...[path, flags, mode]: unknown[]) =>
      fileOf(tree, fs, streams, await later(open(tree, path, flags, mode))),
    openSync: (...[path, flags, mode]: unknown[]) => {
      // Refuses what cannot answer at once.
      fs.accessSync?.("/");
      return fileOf(tree, fs, streams, now(open(tree, path, flags, mode)));
    },
    readdir: async (path: unknown, options: unknown) =>
      named(await fs.promises.readdir?.(path, options), path, options),
    readdirSync: (path: unknown, options: unknown) =>
      named(fs.readdirSync?.(path, options), path, options),
    existsSync: fs.existsSync as Functions[string],
    watch: fs.watch as Functions[string],
    watchAsync: fs.promises.watch as Functions[string],
  });
  return Object.defineProperties(Object.assign(new VirtualProvider(), methods), {
    readonly: { value: readonly },
    supportsWatch: { value: true },
  });
}
