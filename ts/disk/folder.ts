// A directory that is held open while its files are read with synchronous calls. It is opened, its
// real path is checked, and from then on its entries are reached only through the open directory.

import { passOver } from "./host.js";
import type { Place } from "./place.js";

type NodeFs = typeof import("node:fs");

/** The directory in which the host lists this process's open files. */
export function openFiles(fs: NodeFs): string {
  // With the number of the process, because `self` is a link that every open would follow. It is
  // the number in this `/proc`, which may differ from the one in another namespace.
  return ["/proc", fs.readlinkSync("/proc/self"), "fd"].join("/");
}

/** The last directory, held open. The root must have been resolved before. */
export class Folder {
  readonly #fs: NodeFs;
  readonly #place: Place;
  readonly #open: string;
  #path: string | undefined;
  #fd: number | undefined;
  #at: string | undefined;
  #real: string | undefined;

  constructor(fs: NodeFs, place: Place) {
    this.#fs = fs;
    this.#place = place;
    this.#open = openFiles(fs);
  }

  /**
   * Opens the directory at `path`; append `/name` to the result to reach an entry. Undefined if it
   * is no directory or not inside the root. The flags decide whether `path` may be a link.
   */
  reach(path: string, flags: number): string | undefined {
    if (path === this.#path) return this.#at;
    this.close();
    this.#path = path;
    try {
      this.#fd = this.#fs.openSync(path, flags);
      const at = `${this.#open}/${this.#fd}`;
      this.#real = this.#fs.readlinkSync(at);
      if (this.#place.allows(path, this.#real)) this.#at = at;
    } catch (error) {
      // Removed, not readable, or now a link.
      passOver(error);
    }
    return this.#at;
  }

  /**
   * Opens the file that the entry at `path` is a link to. Undefined if links are refused, or if it
   * leads to no file inside the root.
   */
  follow(path: string): number | undefined {
    if (!this.#place.links) return undefined;
    const fs = this.#fs;
    try {
      // Checked first, as to open a device can have effects, and afterwards for what was opened.
      if (!this.#place.shows(fs.realpathSync.native(path))) return undefined;
      const fd = fs.openSync(path, this.#place.flags.linkedFile);
      try {
        const real = fs.readlinkSync(`${this.#open}/${fd}`);
        if (this.#place.shows(real) && fs.fstatSync(fd).isFile()) return fd;
      } catch {
        // Closed below.
      }
      fs.closeSync(fd);
    } catch (error) {
      // A link to nothing, or to what cannot be read.
      passOver(error);
    }
    return undefined;
  }

  /** Size and time of the file that the entry at `path` is a link to. */
  followed(path: string): import("node:fs").Stats | undefined {
    const fd = this.follow(path);
    if (fd === undefined) return undefined;
    try {
      return this.#fs.fstatSync(fd);
    } finally {
      this.#fs.closeSync(fd);
    }
  }

  /** The real path of the open directory. */
  get real(): string | undefined {
    return this.#at && this.#real;
  }

  /** Metadata of the open directory. */
  stats(): import("node:fs").Stats | undefined {
    return this.#at === undefined ? undefined : this.#fs.fstatSync(this.#fd as number);
  }

  close(): void {
    if (this.#fd !== undefined) this.#fs.closeSync(this.#fd);
    this.#fd = undefined;
    this.#at = undefined;
    this.#real = undefined;
    this.#path = undefined;
  }
}
