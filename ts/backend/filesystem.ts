// FilesystemBackend: a folder of the host, through `node:fs/promises` or an object like it.

import chunk from "#chunk/disk";
import { warmHere } from "#warm";
import { Options } from "../core/checks.js";
import { DiskGiven, type Promises } from "../core/descriptions.js";
import { create, take, type Values } from "../core/given.js";
import { defineMembers, fastHandle, sealClass } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import { addWatch } from "../core/listeners.js";
import { FILE_METHODS } from "../core/operations.js";
import { childProcess, findProgram } from "../core/programs.js";
import { type Disk, diskAt } from "../disk/disk.js";
import { builtin } from "../disk/host.js";
import { hostFiles } from "../disk/native.js";
import { Place } from "../disk/place.js";
import type { FsLike, Ripgrep } from "../disk/shape.js";
import type { Share } from "../disk/warm/warm.js";
import { DiskWatch, nativeWatch } from "../disk/watch.js";
import type { Capability } from "../types.js";
import { Backend } from "./backend.js";
import { loadParts } from "./in-parts.js";

/** Names the folder behind a backend, for `kitbag/transfer`. */
const DISK: unique symbol = Symbol.for("kitbag.disk");

/** Options of FilesystemBackend. */
export interface FilesystemBackendOptions {
  /**
   * The folder; a relative path is relative to the current directory of the process, which is also
   * the default. It is created at first use if it does not exist.
   */
  rootDir?: string;
  /**
   * If true (the default), every path is relative to `rootDir` and cannot lead out of it. If false,
   * paths are absolute paths of the host, a relative path is one below `rootDir`, and nothing is
   * protected.
   */
  virtualMode?: boolean;
  /** Accesses the disk. Default: `node:fs/promises` of Node, Deno and Bun. */
  fs?: FsLike;
  /** Larger files are neither read nor written, in bytes (`too_large`). Default 10 MiB. */
  maxFileBytes?: number;
  /**
   * Use ripgrep to narrow searches: `true` runs `rg` of an absolute directory of `PATH` outside of the
   * folder, a function runs it itself. Default false.
   */
  ripgrep?: boolean | Ripgrep;
  /**
   * Keep between searches which files there are and what may be in them, in memory only, so that later
   * searches read only files that may match. Default true; off with `ripgrep`, `fs`, without
   * `virtualMode`, in Bun, and outside of Linux. `capability.notes` say what is used.
   */
  searchCache?: boolean;
  /** What `write` does if the file exists: fail (`"create"`, the default) or replace it. */
  writeMode?: "create" | "overwrite";
}

/** Default of `maxFileBytes`. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

/**
 * Reads the options that concern the folder; `rootName` is the name of the folder's option.
 *
 * @internal
 */
export function diskOf(given: Options, rootName: string): GivenDisk {
  const rootDir = rootOf(given, rootName);
  const contained = given.boolean("virtualMode", true);
  const lent = given.object("fs") as FsLike | undefined;
  const own = lent ? undefined : builtin<FsLike>("node:fs/promises");
  const fs = lent ?? own;
  if (!fs) {
    given.refuse(
      "fs",
      "an object with the shape of node:fs/promises (this host has none of its own)",
      lent,
    );
  }
  for (const name of [
    "open",
    "lstat",
    "readdir",
    "realpath",
    "mkdir",
    "rename",
    "link",
    "unlink",
    "rmdir",
  ]) {
    if (typeof Reflect.get(fs as object, name) !== "function") {
      given.refuse(
        "fs",
        `an object with the shape of node:fs/promises (${name}() is missing)`,
        lent,
      );
    }
  }
  const maxBytes = given.amount("maxFileBytes") ?? MAX_FILE_BYTES;
  const { writeMode } = take(given, DiskGiven);
  const native = own && builtin<typeof import("node:fs")>("node:fs");
  const files = native ? hostFiles(native, fs as FsLike) : (fs as FsLike);
  const used = warmHere && native ? warmHere.prompt(native, files, rootDir) : files;
  const place = new Place(used, contained ? rootDir : hostRoot(rootDir), contained, native);
  const ripgrep = ripgrepOf(given, place);
  const fast = native && place.pinned ? { fs: native, isBinary } : undefined;
  const cached = given.boolean("searchCache", true) && contained && !ripgrep;
  const share =
    warmHere && fast && cached
      ? new warmHere.Share(rootDir, { ...fast, place: place.withoutLinks(), maxBytes })
      : undefined;
  const disk = diskAt(place, maxBytes, { native: fast, ripgrep, share });
  return { disk, writeMode, rootDir, contained, share };
}

/**
 * What the options of a folder say.
 *
 * @internal
 */
export interface GivenDisk {
  disk: Disk;
  writeMode: "create" | "overwrite";
  rootDir: string;
  contained: boolean;
  share: Share | undefined;
}

const ABSOLUTE = /^(\/|[A-Za-z]:[\\/]|\\\\)/;

/** The folder as an absolute path. */
function rootOf(given: Options, name: string): string {
  const asked = given.text(name);
  if (asked === "" || asked?.includes("\0")) given.refuse(name, "the path of a folder", asked);
  if (asked !== undefined && ABSOLUTE.test(asked)) return asked;
  const path = builtin<typeof import("node:path")>("node:path");
  if (!path) return given.refuse(name, "an absolute path (this host has no directory)", asked);
  return path.resolve(asked ?? ".");
}

const binary = new Map<string, boolean>();

/** Whether the file name alone says that a file is binary. Asks WebAssembly once per extension. */
function isBinary(name: string): boolean {
  const dot = name.lastIndexOf(".");
  if (dot < 0) return false;
  const ending = name.slice(dot);
  let known = binary.get(ending);
  if (known === undefined) {
    if (binary.size > 1000) binary.clear();
    known = enter(() => glue.is_binary_name(name));
    binary.set(ending, known);
  }
  return known;
}

/** Root of the host's absolute paths. */
function hostRoot(rootDir: string): string {
  return /^[A-Za-z]:/.test(rootDir) ? `${rootDir.slice(0, 2)}\\` : "/";
}

function ripgrepOf(given: Options, place: Place): Ripgrep | undefined {
  const value = given.raw("ripgrep");
  if (value === undefined || value === false) return undefined;
  if (typeof value === "function") return value as Ripgrep;
  const child = childProcess();
  if (value !== true || !child) {
    return given.refuse(
      "ripgrep",
      "true (where child_process is), or a function that runs it",
      value,
    );
  }
  let rg: Promise<string> | undefined;
  return async (args, { cwd }) => {
    rg ??= place.root().then((root) => findProgram("rg", root));
    const path = await rg;
    return new Promise((resolve, reject) => {
      child.execFile(path, args, { cwd, maxBuffer: 64 * 1024 * 1024 }, (error, stdout) => {
        const code = error === null ? 0 : error.code;
        if (typeof code === "number") resolve({ stdout, exitCode: code });
        else reject(error);
      });
    });
  };
}

/** What a disk promises. */
function diskPromises(disk: Disk): Values<typeof Promises> {
  const notes = [
    disk.place.pinned
      ? "Directories are held open while they are used, so a link swapped in meanwhile leads nowhere."
      : "This host cannot hold a directory open: a link that another process swaps in between check and use is found afterwards, not prevented.",
    "A writer past kitbag is noticed by a file's inode, size and time of change; one in the very moment of an exchange can be overtaken.",
  ];
  return {
    create: "storage",
    update: "storage",
    directories: "real",
    names: "exact",
    keepsCreated: false,
    keepsMime: false,
    keepsFormat: false,
    keepsModes: disk.place.keepsModes,
    keepsBinary: true,
    writable: true,
    maxFileBytes: disk.maxBytes,
    notes,
  };
}

/**
 * A folder whose options were read by a class below.
 *
 * @internal
 */
export class PreparedDisk {
  constructor(
    readonly disk: GivenDisk,
    readonly id: string | undefined,
    readonly execute: ((...given: never[]) => unknown) | undefined,
  ) {}
}

function prepared(options: FilesystemBackendOptions | PreparedDisk | undefined): PreparedDisk {
  if (options instanceof PreparedDisk) return options;
  const given = new Options("FilesystemBackend", options);
  const disk = diskOf(given, "rootDir");
  given.done();
  return new PreparedDisk(disk, undefined, undefined);
}

/**
 * Files in a real folder, in Node, Deno and Bun. With `virtualMode` (the default) no path and no
 * link leads out of it.
 *
 * @example
 * const backend = new FilesystemBackend({ rootDir: "./workspace" });
 */
export class FilesystemBackend extends Backend {
  readonly #watching: DiskWatch | undefined;
  readonly #disk: Disk;
  readonly #share: Share | undefined;

  /** Throws a `TypeError` that names the wrong option. The folder is not touched yet. */
  constructor(options?: FilesystemBackendOptions);
  /** @internal */
  constructor(prepared: PreparedDisk);
  constructor(options?: FilesystemBackendOptions | PreparedDisk) {
    const { disk: its, id, execute } = prepared(options);
    const { disk, writeMode, rootDir, contained, share } = its;
    chunk.load();
    loadParts();
    const values = { disk, promises: diskPromises(disk), writeMode, id, execute };
    super(create("FilesystemBackend", DiskGiven, values, glue.disk_new));
    this.#disk = disk;
    this.#share = share;
    if (!contained) belowRoot(this, rootDir);
    const native = disk.place.native && nativeWatch();
    if (native) {
      this.#watching = new DiskWatch(native, rootDir, contained ? "" : hostPath(rootDir));
      addWatch(this, this.#watching.add);
    }
  }

  /** What this backend guarantees and supports; a note says how searches go now. */
  override get capability(): Capability {
    const common = super.capability;
    const now = this.#share?.says;
    return now === undefined ? common : { ...common, notes: [...common.notes, now] };
  }

  /**
   * What copies of whole trees ask a folder beyond the protocol: permissions, and where links lead.
   * Only of an object whose methods nobody has replaced.
   *
   * @internal
   */
  get [DISK](): unknown {
    return fastHandle(this) === undefined ? undefined : this.#disk;
  }

  /** Frees what this object holds, and ends its watchers; see `Backend.dispose`. */
  override dispose(): void {
    this.#watching?.close();
    this.#share?.close();
    super.dispose();
  }
}

/** A folder of the host, in the form of a path of a file below it. */
function hostPath(rootDir: string): string {
  return rootDir
    .replaceAll("\\", "/")
    .replace(/^[A-Za-z]:/, "")
    .replace(/\/+$/, "");
}

/** Position of the path in the arguments of each method; the others take the path first. */
const PATH_AT: Record<string, number> = { grep: 1, glob: 1 };

/** Without `virtualMode`, a relative path is one below `rootDir`, as it is in a command. */
function belowRoot(backend: FilesystemBackend, rootDir: string): void {
  const root = hostPath(rootDir);
  const absolute = (path: unknown) =>
    typeof path !== "string" || path.startsWith("/") ? path : `${root}/${path}`;
  const members: Record<string, unknown> = {};
  for (const name of FILE_METHODS) {
    const own = Reflect.get(backend, name) as (...args: unknown[]) => unknown;
    const value = (...args: unknown[]) => {
      const at = PATH_AT[name] ?? 0;
      if (name === "uploadFiles" && Array.isArray(args[0])) {
        args[0] = args[0].map((file: unknown) =>
          Array.isArray(file) ? [absolute(file[0]), ...file.slice(1)] : file,
        );
      } else if (name === "downloadFiles" && Array.isArray(args[0])) {
        args[0] = args[0].map(absolute);
      } else {
        args[at] = absolute(at > 0 ? (args[at] ?? "") : args[at]);
        if (name === "move" || name === "copy") args[1] = absolute(args[1]);
      }
      return own.apply(backend, args);
    };
    members[name] = value;
  }
  // Rules and mounts may use the handle all the same: the paths that they pass are absolute.
  defineMembers(backend, members);
}

sealClass(FilesystemBackend);
