// What `stat` and `readdir` return, with the fields and methods of Node's classes.

import type { FsDirent, FsStats } from "./names.js";

/** What a path is, as far as the methods of Node's classes ask. */
class Kind {
  readonly #directory: boolean;
  constructor(directory: boolean) {
    this.#directory = directory;
  }
  isFile(): boolean {
    return !this.#directory;
  }
  isDirectory(): boolean {
    return this.#directory;
  }
  isSymbolicLink(): boolean {
    return false;
  }
  isBlockDevice(): boolean {
    return false;
  }
  isCharacterDevice(): boolean {
    return false;
  }
  isFIFO(): boolean {
    return false;
  }
  isSocket(): boolean {
    return false;
  }
}

/**
 * A number for a path, the same each time. There are no other inodes. Names can be chosen that share one: a
 * program that compares inodes then takes two files for links to one, as it may on a disk, and refuses to copy
 * one over the other, say. Nothing here compares them.
 */
function numberOf(path: string): number {
  let [low, high] = [0x811c9dc5, 0x1000193];
  for (let at = 0; at < path.length; at++) {
    low = Math.imul(low ^ path.charCodeAt(at), 0x01000193);
    high = Math.imul(high ^ path.charCodeAt(at), 0x85ebca6b);
  }
  return (high & 0xffff) * 2 ** 32 + (low >>> 0);
}

interface Seen {
  path: string;
  directory: boolean;
  size: number;
  mode: number;
  /** Milliseconds since 1970. */
  accessed: number;
  modified: number;
}

export class Stats extends Kind {
  declare mtime: Date;
  constructor({ path, directory, size, mode, accessed, modified }: Seen, bigint: boolean) {
    super(directory);
    const times = { atimeMs: accessed, mtimeMs: modified };
    const ms = { ...times, ctimeMs: modified, birthtimeMs: modified };
    const numbers: Record<string, number> = {
      dev: 0,
      mode: (directory ? 0o40000 : 0o100000) | mode,
      nlink: 1,
      uid: 0,
      gid: 0,
      rdev: 0,
      blksize: 4096,
      ino: numberOf(path),
      size,
      blocks: Math.ceil(size / 512),
      ...ms,
    };
    for (const [name, value] of Object.entries(numbers)) {
      this.#set(name, bigint ? BigInt(Math.trunc(value)) : value);
    }
    if (bigint) {
      for (const [name, value] of Object.entries(ms)) {
        this.#set(name.replace("Ms", "Ns"), BigInt(Math.round(value * 1000)) * 1000n);
      }
    }
    for (const [name, value] of Object.entries(ms)) {
      this.#set(name.replace("Ms", ""), new Date(value));
    }
  }
  #set(name: string, value: unknown) {
    Object.defineProperty(this, name, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
}

export const statsOf = (seen: Seen, bigint = false): FsStats =>
  new Stats(seen, bigint) as unknown as FsStats;

export class Dirent extends Kind {
  /** The directory, under its older name. */
  readonly path: unknown;
  constructor(
    readonly name: unknown,
    readonly parentPath: unknown,
    directory: boolean,
  ) {
    super(directory);
    this.path = parentPath;
  }
}

export const direntOf = (name: unknown, parent: unknown, directory: boolean): FsDirent =>
  new Dirent(name, parent, directory) as FsDirent;
