// All operations by their names, and the object that has them with promises, with callbacks, and at once.

import { cp } from "./copying.js";
import * as descriptors from "./descriptors.js";
import { wrongType } from "./errors.js";
import { constants } from "./flags.js";
import { handleOf, opendir } from "./handle.js";
import { access, exists, lstat, readdir, readlink, realpath, stat } from "./looking.js";
import { mkdir, mkdtemp, rmdir } from "./making.js";
import type { FsPromises } from "./names.js";
import { type Opened, open } from "./open.js";
import { copyFile, rename, rm, unlink } from "./removing.js";
import { Dirent, Stats } from "./stats.js";
import { later, now, type Steps, withCallback } from "./steps.js";
import { type StreamClasses, Streams } from "./streams.js";
import type { Tree } from "./tree.js";
import type { Fs } from "./types.js";
import { watch, watched } from "./watch.js";
import {
  appendFile,
  chmod,
  chown,
  lchown,
  link,
  lutimes,
  readFile,
  symlink,
  truncate,
  utimes,
  writeFile,
} from "./whole.js";

/** The operations on paths. */
const PATHS = {
  ...{ access, appendFile, chmod, chown, copyFile, cp, lchown, link, lstat, lutimes, mkdir },
  ...{ mkdtemp, opendir, readdir, readFile, readlink, realpath, rename, rm, rmdir, stat },
  ...{ symlink, truncate, unlink, utimes, writeFile },
};

/** Those on descriptors that return nothing, or one thing. */
const { read, readv, write, writev, ...DESCRIPTORS } = descriptors;
const { readBy, writeBy, readvBy, writevBy, ...FIELDS } = DESCRIPTORS;

/** Those that count bytes: a callback gets the count and the buffer, and at once only the count. */
const COUNTING = { read, readv, write, writev };

type Operation = (tree: Tree, ...args: unknown[]) => Steps<unknown>;
type Functions = Record<string, unknown>;

function* opened(tree: Tree, ...args: unknown[]): Steps<number> {
  return (yield* open(tree, args[0], args[1], args[2])).fd;
}

const callbackOf = (args: unknown[]): ((...results: unknown[]) => void) => {
  const callback = args.pop();
  if (typeof callback === "function") return callback as () => void;
  throw wrongType("cb", "of type function", callback);
};

const thrown = (error?: unknown) => {
  if (error) throw error;
};

function atOnce(tree: Tree, name: string, run: Operation) {
  return (...args: unknown[]) => {
    if (!tree.atOnce) {
      const text = `${name} needs a backend that answers at once, which is a StateBackend; use fs.promises or a callback`;
      throw Object.assign(new Error(text), { code: "ENOSYS", syscall: name });
    }
    return now(run(tree, ...args));
  };
}

/** Says how `util.promisify` makes a promise of a function whose callback has another form. */
const promisified = (calling: (...args: unknown[]) => void, run: unknown) =>
  Object.assign(calling, { [Symbol.for("nodejs.util.promisify.custom")]: run });

/** The names of a function in the three forms. */
function forms(tree: Tree, name: string, run: Operation): Functions {
  const sync = `${name}Sync`;
  const calling = (...args: unknown[]) => {
    // As in Node, only `close` may have none.
    const callback = name === "close" && args.length < 2 ? thrown : callbackOf(args);
    withCallback(run(tree, ...args), callback);
  };
  return { [name]: calling, [sync]: atOnce(tree, sync, run) };
}

function countingForms(tree: Tree, name: string, run: Operation): Functions {
  type Counted = Record<string, unknown>;
  const sync = `${name}Sync`;
  const [count, what] = [
    name.startsWith("read") ? "bytesRead" : "bytesWritten",
    name.endsWith("v") ? "buffers" : "buffer",
  ];
  const calling = (...args: unknown[]) => {
    const callback = callbackOf(args);
    withCallback(run(tree, ...args) as Steps<Counted>, (error, result) => {
      if (error) callback(error);
      else callback(null, result?.[count], result?.[what]);
    });
  };
  const counted: Operation = function* (tree, ...args) {
    return ((yield* run(tree, ...args)) as Counted)[count];
  };
  const promised = async (...args: unknown[]) => later(run(tree, ...args));
  return { [name]: promisified(calling, promised), [sync]: atOnce(tree, sync, counted) };
}

function promisesOf(tree: Tree, streams: Streams): Functions {
  const all = Object.entries(PATHS as Record<string, Operation>).map(([name, run]) => [
    name,
    async (...args: unknown[]) => later(run(tree, ...args)),
  ]);
  return Object.assign(Object.fromEntries(all), {
    open: async (...args: unknown[]) => {
      const file: Opened = await later(open(tree, args[0], args[1], args[2]));
      return handleOf(tree, file, streams);
    },
    watch: (path: unknown, options?: unknown) => watched(tree, path, options),
    constants,
  });
}

/** The object that `createFs` returns. */
export function fsOf(tree: Tree, classes: StreamClasses | undefined): Fs {
  const streams = new Streams(tree, classes);
  const fs: Functions = {};
  for (const [name, run] of Object.entries({ ...PATHS, ...FIELDS, open: opened })) {
    Object.assign(fs, forms(tree, name, run as Operation));
  }
  for (const [name, run] of Object.entries(COUNTING)) {
    Object.assign(fs, countingForms(tree, name, run as Operation));
  }
  const { F_OK, R_OK, W_OK, X_OK } = constants;
  Object.assign(fs, { F_OK, R_OK, W_OK, X_OK, constants, Dirent, Stats });
  Object.assign(fs, {
    promises: promisesOf(tree, streams) as unknown as FsPromises,
    // Its callback has no error.
    exists: promisified(
      (...args: unknown[]) => {
        const callback = callbackOf(args);
        withCallback(exists(tree, args[0]), (_error, found) => callback(found));
      },
      async (path: unknown) => later(exists(tree, path)),
    ),
    existsSync: atOnce(tree, "existsSync", exists as Operation),
    createReadStream: (path: unknown, options?: unknown) => streams.reading(path, options),
    createWriteStream: (path: unknown, options?: unknown) => streams.writing(path, options),
    watch: (path: unknown, options?: unknown, listener?: unknown) =>
      watch(tree, path, options, listener),
  });
  for (const name of ["realpath", "realpathSync"]) {
    Object.assign(fs[name] as object, { native: fs[name] });
  }
  return fs as unknown as Fs;
}
