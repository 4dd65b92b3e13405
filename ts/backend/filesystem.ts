// FilesystemBackend: a folder of the host, through `node:fs/promises` or an object like it.

import chunk from "#chunk/disk";
import { Options } from "../core/checks.js";
import { sealClass } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import { FastDisk } from "../disk/fast.js";
import { builtin, type FsLike } from "../disk/host.js";
import { Place } from "../disk/place.js";
import { type Ripgrep, SearchableDisk } from "../disk/search.js";
import { Backend } from "./backend.js";

/** Options of FilesystemBackend. */
export interface FilesystemBackendOptions {
  /** The folder, as an absolute path. It is created at first use if it does not exist. */
  rootDir: string;
  /**
   * If true (the default), every path is relative to `rootDir` and cannot lead out of it. If false,
   * paths are absolute paths of the host, and nothing is protected.
   */
  virtualMode?: boolean;
  /** Accesses the disk. Default: `node:fs/promises` of Node, Deno and Bun. */
  fs?: FsLike;
  /** Larger files are neither read nor written, in bytes. Default 10 MiB. */
  maxFileBytes?: number;
  /** Use ripgrep to narrow searches: `true` runs `rg`, a function runs it itself. Default false. */
  ripgrep?: boolean | Ripgrep;
  /** What `write` does if the file exists: fail (`"create"`, the default) or replace it. */
  writeMode?: "create" | "overwrite";
}

/** Default of `maxFileBytes`. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** Reads the options that concern the folder; `rootName` is the name of the folder's option. */
export function diskOf(
  given: Options,
  rootName: string,
): { disk: SearchableDisk; overwrite: boolean } {
  const rootDir = given.requiredText(rootName);
  if (!/^(\/|[A-Za-z]:[\\/]|\\\\)/.test(rootDir) || rootDir.includes("\0")) {
    given.refuse(rootName, "an absolute path", rootDir);
  }
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
  const ripgrep = ripgrepOf(given);
  const overwrite = given.oneOf("writeMode", ["create", "overwrite"], "create") === "overwrite";
  const native = own && builtin<typeof import("node:fs")>("node:fs");
  const place = new Place(fs as FsLike, contained ? rootDir : hostRoot(rootDir), contained, native);
  const disk =
    native && place.pinned
      ? new FastDisk(place, maxBytes, native, isBinary, ripgrep)
      : new SearchableDisk(place, maxBytes, ripgrep);
  return { disk, overwrite };
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

function ripgrepOf(given: Options): Ripgrep | undefined {
  const value = given.raw("ripgrep");
  if (value === undefined || value === false) return undefined;
  if (typeof value === "function") return value as Ripgrep;
  const child = builtin<typeof import("node:child_process")>("node:child_process");
  if (value !== true || !child) {
    return given.refuse(
      "ripgrep",
      "true (where child_process is), or a function that runs it",
      value,
    );
  }
  return (args, options) =>
    new Promise((resolve, reject) => {
      const limits = { cwd: options.cwd, maxBuffer: 64 * 1024 * 1024 };
      child.execFile("rg", args, limits, (error, stdout) => {
        const code = error === null ? 0 : error.code;
        if (typeof code === "number") resolve({ stdout, exitCode: code });
        else reject(error);
      });
    });
}

/** What a disk promises. */
export function diskPromises(disk: SearchableDisk): object {
  const notes = [
    disk.place.pinned
      ? "Directories are held open while they are used, so a link swapped in meanwhile leads nowhere."
      : "This host cannot hold a directory open: a link swapped in by another process in the moment between check and use is found out afterwards, but not prevented.",
    "A writer that does not go through kitbag is noticed by the file's inode, size and time of change; one that writes in the very moment of an exchange can be overtaken.",
  ];
  return {
    create: "storage",
    update: "storage",
    directories: "real",
    maxFileBytes: disk.maxBytes,
    notes,
  };
}

/** Files in a real folder. */
export class FilesystemBackend extends Backend {
  constructor(options: FilesystemBackendOptions) {
    const given = new Options("FilesystemBackend", options);
    const { disk, overwrite } = diskOf(given, "rootDir");
    given.done();
    chunk.load();
    super(enter(() => glue.disk_new(disk, diskPromises(disk), overwrite, undefined, undefined)));
  }
}

sealClass(FilesystemBackend);
