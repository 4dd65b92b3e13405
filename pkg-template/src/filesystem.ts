// FilesystemBackend: a real folder, lent by the host.

import chunk from "#chunk/disk";
import { Backend } from "./backend.js";
import { Options } from "./core/checks.js";
import { sealClass } from "./core/handle.js";
import { enter, glue } from "./core/instance.js";
import { FastDisk } from "./disk/fast.js";
import { builtin, type FsLike } from "./disk/host.js";
import { Place } from "./disk/place.js";
import { type Ripgrep, SearchableDisk } from "./disk/search.js";

/** How a FilesystemBackend is made. */
export interface FilesystemBackendOptions {
  /** The folder, as an absolute path. Made at the first use where it is missing. */
  rootDir: string;
  /**
   * Roots every path at `rootDir` and lets none lead out of it (the default). Without it paths
   * are the host's own absolute paths, and nothing is protected.
   */
  virtualMode?: boolean;
  /** What reaches the disk: the shape of `node:fs/promises`. Found by itself on Node, Deno and Bun. */
  fs?: FsLike;
  /** Larger files are neither read nor written. 10 MB unless said otherwise. */
  maxFileBytes?: number;
  /** Lets ripgrep narrow searches: `true` for `rg` on the path, or a function that runs it. */
  ripgrep?: boolean | Ripgrep;
  /** What `write` does where the file exists: refuse (`"create"`, the default) or replace it. */
  writeMode?: "create" | "overwrite";
}

/** The largest file where nothing else is said. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** The option names of a folder, read from the options of `of`. */
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

/** Whether a file's name alone says that it is no text: the core's word, asked once for each ending. */
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

/** Where the host's absolute paths begin. */
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
    nativeSearch: true,
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
