// The functions of an fs object: few public types, and without those of Node, which a page does not have.
// The callback and the synchronous form of a function follow from its form with a promise.

import type { FsEmitter, FsFileHandle } from "./shapes.js";

export type { FsEmitter, FsFileHandle } from "./shapes.js";

/** What a path is. */
type FsStats = Awaited<ReturnType<FsFileHandle["stat"]>>;

/** A stream that reads. */
type FsReadStream = ReturnType<FsFileHandle["createReadStream"]>;

/** A stream that writes. */
type FsWriteStream = ReturnType<FsFileHandle["createWriteStream"]>;

/** An entry of a directory. */
type FsDirent = Pick<
  FsStats,
  | "isFile"
  | "isDirectory"
  | "isSymbolicLink"
  | "isBlockDevice"
  | "isCharacterDevice"
  | "isFIFO"
  | "isSocket"
> & {
  /** Its name; bytes if the encoding is `buffer`. */
  readonly name: string;
  /** The directory that it is in. */
  readonly parentPath: string;
  /** The same, under its older name. */
  readonly path: string;
};

/** A directory of `opendir`, with the entries that it had then. */
type FsDir = {
  /** The path, as it was given. */
  readonly path: string;
  /** The next entry, or null. */
  read(): Promise<FsDirent | null>;
  /** The next entry, or null. */
  readSync(): FsDirent | null;
  /** Ends the reading. */
  close(): Promise<void>;
  /** Ends the reading. */
  closeSync(): void;
  /** All entries; the directory is closed after them. */
  [Symbol.asyncIterator](): AsyncIterableIterator<FsDirent>;
};

/** A watcher: `on("change", (eventType, filename) => …)`. */
type FsWatcher = FsEmitter & {
  /** Ends the watching. */
  close(): void;
};

/** A path: a text, the bytes of one, or a `file:` URL. A relative path begins at the option `cwd`. */
type FsPath = string | Uint8Array | URL;

/** A handle of `promises.open`, by its descriptor. */
type Handle = {
  /** The descriptor. */
  readonly fd: number;
};

/** A path, a descriptor of `open`, or a handle of `promises.open`. */
type FileOrPath = FsPath | number | Handle;

/** What is read is text. */
type WithEncoding = {
  /** Encoding of the text. */
  encoding: string;
};

/** Content, also in pieces. */
type Pieces = Parameters<FsFileHandle["writeFile"]>[0];

/** A time: a `Date`, or seconds since 1970. */
type Time = Parameters<FsFileHandle["utimes"]>[0];

/** How a file is read or written. */
type FileSettings = Exclude<Parameters<FsFileHandle["writeFile"]>[1], string | null | undefined>;

/** How a copy is made. */
type CopySettings = {
  /** Copies directories with all below them. */
  recursive?: boolean;
  /** Replaces files that exist. Default true. */
  force?: boolean;
  /** Fails if a file exists and is not replaced. */
  errorOnExist?: boolean;
  /** Keeps the times of files. */
  preserveTimestamps?: boolean;
  /** Whether something is copied. */
  filter?: (source: string, destination: string) => boolean | Promise<boolean>;
};

/** How a directory is listed. */
type ListSettings = {
  /** Encoding of the names; `buffer` for bytes. */
  encoding?: string | null;
  /** Also what is in the directories below. */
  recursive?: boolean;
};

/** The options of a stream, as Node's. */
type StreamSettings = Exclude<Parameters<FsFileHandle["createReadStream"]>[0], string | undefined>;

/** Numbers of `stat`. */
type StatSettings = NonNullable<Parameters<FsFileHandle["stat"]>[0]>;

/** `statSync` without an error. */
type MaybeMissing = StatSettings & {
  /** Undefined if there is nothing. */
  throwIfNoEntry: false;
};

/** Entries with their kinds. */
type WithTypes = ListSettings & {
  /** Entries and not names. */
  withFileTypes: true;
};

/** How a directory is made. */
type MakeSettings = {
  /** Makes those above it as well; one that exists is no error. */
  recursive?: boolean;
  /** Permissions that `stat` shows. */
  mode?: number;
};

/** How something is removed. */
type RemoveSettings = {
  /** With all that is below it. */
  recursive?: boolean;
  /** What is missing is no error. */
  force?: boolean;
};

/** How a directory is watched. */
type WatchSettings = {
  /** Also what is in the directories below. */
  recursive?: boolean;
  /** Encoding of the names; `buffer` for bytes. */
  encoding?: string;
  /** Ends the watching. */
  signal?: AbortSignal;
};

/** A change that a watcher is told. */
type WatchEvent = {
  /** `rename` if there is nothing at the path now, otherwise `change`. */
  eventType: string;
  /** The path below the watched directory; null if changes were missed. */
  filename: string | null;
};

/** How a path is shown. */
type NameSettings = {
  /** Encoding of the path; `buffer` for bytes. */
  encoding?: string;
};

/** The operations with promises, as those of `node:fs/promises`. */
type FsPromises = {
  /** Reads a file as text. */
  readFile(path: FileOrPath, options: (FileSettings & WithEncoding) | string): Promise<string>;
  /** Reads a file as bytes: a `Buffer`, where the host has that class. */
  readFile(path: FileOrPath, options?: FileSettings | null): Promise<Uint8Array>;
  /** Creates a file or replaces its content. */
  writeFile(path: FileOrPath, data: Pieces, options?: FileSettings | string | null): Promise<void>;
  /** Adds to the end of a file, or creates it. No addition of another writer is lost. */
  appendFile(path: FileOrPath, data: Pieces, options?: FileSettings | string | null): Promise<void>;
  /** The names in a directory. */
  readdir(path: FsPath, options?: ListSettings | string | null): Promise<string[]>;
  /** The entries of a directory. */
  readdir(path: FsPath, options: WithTypes): Promise<FsDirent[]>;
  /** Makes a directory; with `recursive` also those above it, and returns the first that was made. */
  mkdir(path: FsPath, options?: MakeSettings | number | null): Promise<string | undefined>;
  /** Makes a directory whose name begins with `prefix`. */
  mkdtemp(prefix: FsPath): Promise<string>;
  /** What a path is. */
  stat(path: FsPath, options?: StatSettings): Promise<FsStats>;
  /** The same: there are no links. */
  lstat(path: FsPath, options?: StatSettings): Promise<FsStats>;
  /** Fails if there is nothing, or if it cannot be used so. */
  access(path: FsPath, mode?: number): Promise<void>;
  /** The path without `.` and `..`. */
  realpath(path: FsPath, options?: NameSettings | string | null): Promise<string>;
  /** Renames a file, or a directory with all below it. */
  rename(oldPath: FsPath, newPath: FsPath): Promise<void>;
  /** Copies a file; with `constants.COPYFILE_EXCL` never onto another. */
  copyFile(src: FsPath, dest: FsPath, mode?: number): Promise<void>;
  /** Copies a file, or with `recursive` a directory. */
  cp(src: FsPath, dest: FsPath, options?: CopySettings): Promise<void>;
  /** Deletes a file, or with `recursive` a directory. With `force` it may be missing. */
  rm(path: FsPath, options?: RemoveSettings): Promise<void>;
  /** Removes an empty directory. */
  rmdir(path: FsPath, options?: Pick<RemoveSettings, "recursive">): Promise<void>;
  /** Deletes a file. */
  unlink(path: FsPath): Promise<void>;
  /** Cuts a file, or fills it with zeros, to a length. */
  truncate(path: FsPath, length?: number): Promise<void>;
  /** Sets the time of the last change: for fs objects of this process, until the next change. */
  utimes(path: FsPath, atime: Time, mtime: Time): Promise<void>;
  /** The same: there are no links. */
  lutimes(path: FsPath, atime: Time, mtime: Time): Promise<void>;
  /** Sets permissions, which `stat` of this process shows. Nothing is refused because of them. */
  chmod(path: FsPath, mode: number | string): Promise<void>;
  /** Fails with `EPERM`, unless user and group are 0. */
  chown(path: FsPath, uid: number, gid: number): Promise<void>;
  /** The same: there are no links. */
  lchown(path: FsPath, uid: number, gid: number): Promise<void>;
  /** Fails with `EPERM`: there are no links. */
  symlink(target: FsPath, path: FsPath, type?: string | null): Promise<void>;
  /** Fails with `EPERM`: there are no links. */
  link(existingPath: FsPath, newPath: FsPath): Promise<void>;
  /** Fails with `EINVAL`: there are no links. */
  readlink(path: FsPath): Promise<string>;
  /** Opens a directory to read its entries one by one. */
  opendir(path: FsPath, options?: ListSettings | string): Promise<FsDir>;
  /** Opens a file. */
  open(path: FsPath, flags?: string | number, mode?: number): Promise<FsFileHandle>;
  /** Changes in a directory, or of a file, as they happen. */
  watch(path: FsPath, options?: WatchSettings | string): AsyncIterableIterator<WatchEvent>;
  /** The constants of Node, with the values of Linux. */
  readonly constants: Readonly<Record<string, number>>;
};

/** The operations whose callback and synchronous forms follow from that with a promise. */
type Regular = Exclude<keyof FsPromises, "readFile" | "readdir" | "open" | "watch" | "constants">;

/** Called with an error, or with null and the result. */
// biome-ignore lint/suspicious/noExplicitAny: an error has the fields of Node's, which a page has no type of
type Callback<T> = (error: any, value: T) => void;

/** The arguments that must be there. */
type Needed<A extends unknown[]> = A extends [infer One, infer Two, infer Three, ...unknown[]]
  ? [One, Two, Three]
  : A extends [infer One, infer Two, ...unknown[]]
    ? [One, Two]
    : A extends [infer One, ...unknown[]]
      ? [One]
      : [];

/** The operations with a callback. */
type WithCallbacks = {
  [Name in Regular]: (
    ...args:
      | [
          ...Needed<Parameters<FsPromises[Name]>>,
          callback: Callback<Awaited<ReturnType<FsPromises[Name]>>>,
        ]
      | [
          ...Required<Parameters<FsPromises[Name]>>,
          callback: Callback<Awaited<ReturnType<FsPromises[Name]>>>,
        ]
  ) => void;
};

/** The operations that return their result. */
type AtOnce = {
  [Name in Regular as `${Name}Sync`]: (
    ...args: Parameters<FsPromises[Name]>
  ) => Awaited<ReturnType<FsPromises[Name]>>;
};

/** The operations on descriptors, with a callback or at once. */
type OnDescriptors = {
  [Name in
    | "close"
    | "fstat"
    | "ftruncate"
    | "fsync"
    | "fdatasync"
    | "fchmod"
    | "fchown"
    | "futimes"
    | "read"
    | "readv"
    | "write"
    // biome-ignore lint/suspicious/noExplicitAny: as in Node, with many forms of arguments
    | "writev"]: (fd: number, ...args: any[]) => void;
} & {
  [Name in "read" | "readv" | "write" | "writev" as `${Name}Sync`]: (
    fd: number,
    // biome-ignore lint/suspicious/noExplicitAny: as in Node, with many forms of arguments
    ...args: any[]
  ) => number;
} & {
  [Name in "close" | "fsync" | "fdatasync" as `${Name}Sync`]: (fd: number) => void;
};

/** The callback and the synchronous operations. */
type Derived = WithCallbacks & AtOnce & OnDescriptors;

/** A backend with the functions of `node:fs`. Those that end with `Sync` need a `StateBackend`. */
export interface Fs extends Derived {
  /** The operations with promises. */
  readonly promises: FsPromises;
  /** The constants of Node, with the values of Linux. */
  readonly constants: Readonly<Record<string, number>>;
  /** The class of what `stat` returns, for `instanceof`. */
  readonly Stats: abstract new (
    ...args: never[]
  ) => FsStats;
  /** The class of the entries of a directory, for `instanceof`. */
  readonly Dirent: abstract new (
    ...args: never[]
  ) => FsDirent;
  /** Reads a file. */
  readFile(path: FileOrPath, callback: Callback<Uint8Array>): void;
  /** Reads a file as text. */
  readFile(
    path: FileOrPath,
    options: (FileSettings & WithEncoding) | string,
    callback: Callback<string>,
  ): void;
  /** Reads a file. */
  readFile(
    path: FileOrPath,
    options: FileSettings | null | undefined,
    callback: Callback<Uint8Array>,
  ): void;
  /** Reads a file as text. */
  readFileSync(path: FileOrPath, options: (FileSettings & WithEncoding) | string): string;
  /** Reads a file. */
  readFileSync(path: FileOrPath, options?: FileSettings | null): Uint8Array;
  /** The names in a directory. */
  readdir(path: FsPath, callback: Callback<string[]>): void;
  /** The entries of a directory. */
  readdir(path: FsPath, options: WithTypes, callback: Callback<FsDirent[]>): void;
  /** The names in a directory. */
  readdir(
    path: FsPath,
    options: ListSettings | string | null | undefined,
    callback: Callback<string[]>,
  ): void;
  /** The entries of a directory. */
  readdirSync(path: FsPath, options: WithTypes): FsDirent[];
  /** The names in a directory. */
  readdirSync(path: FsPath, options?: ListSettings | string | null): string[];
  /** What a path is; undefined if there is nothing and that is no error. */
  statSync(path: FsPath, options: MaybeMissing): FsStats | undefined;
  /** What a path is. */
  statSync(path: FsPath, options?: StatSettings): FsStats;
  /** Opens a file: the callback gets its descriptor. */
  open(path: FsPath, callback: Callback<number>): void;
  /** Opens a file: the callback gets its descriptor. */
  open(path: FsPath, flags: string | number | undefined, callback: Callback<number>): void;
  /** Opens a file: the callback gets its descriptor. */
  open(
    path: FsPath,
    flags: string | number | undefined,
    mode: number | undefined,
    callback: Callback<number>,
  ): void;
  /** Opens a file and returns its descriptor. */
  openSync(path: FsPath, flags?: string | number, mode?: number): number;
  /** What an open file is. */
  fstatSync(fd: number, options?: StatSettings): FsStats;
  /** Cuts an open file, or fills it with zeros, to a length. */
  ftruncateSync(fd: number, length?: number): void;
  /** Whether there is something at a path. */
  exists(path: FsPath, callback: (exists: boolean) => void): void;
  /** Whether there is something at a path. */
  existsSync(path: FsPath): boolean;
  /** A stream that reads a file. */
  createReadStream(path: FsPath, options?: StreamSettings | string): FsReadStream;
  /** A stream that writes a file. */
  createWriteStream(path: FsPath, options?: StreamSettings | string): FsWriteStream;
  /** Calls back after changes in a directory, or of a file. */
  watch(
    path: FsPath,
    options?: WatchSettings | string | ((eventType: string, filename: string | null) => void),
    listener?: (eventType: string, filename: string | null) => void,
  ): FsWatcher;
}

/** Options of `createFs`. */
export interface FsOptions {
  /** The directory where relative paths begin. Default `/`. */
  cwd?: string;
  /**
   * The classes `Readable` and `Writable` for `createReadStream` and `createWriteStream`, such as those
   * of the package `readable-stream`. Default: the host's `node:stream`, which a page does not have.
   */
  stream?: object;
}
