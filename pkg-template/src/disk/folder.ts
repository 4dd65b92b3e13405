// A directory that is held open while its files are read by synchronous calls: it is opened, asked
// where it really is, and from then on reached only through what was opened.

import type { Place } from "./place.js";

type NodeFs = typeof import("node:fs");

/** Where the host shows what this process holds open. */
export function openFiles(fs: NodeFs): string {
  // By the process's own number, since `self` is a link that each open would follow. The number
  // is the one that this `/proc` knows it by, which another namespace's would not be.
  return `/proc/${fs.readlinkSync("/proc/self")}/fd`;
}

/** The directory looked at last, held open. The root must have been resolved before. */
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
   * Put `/name` behind it to reach an entry of the directory at `path`; nothing where that is none,
   * or not inside the root. The flags say whether `path` itself may be a link.
   */
  reach(path: string, flags: number): string | undefined {
    if (path === this.#path) return this.#at;
    this.close();
    this.#path = path;
    try {
      this.#fd = this.#fs.openSync(path, flags);
      const at = `${this.#open}/${this.#fd}`;
      this.#real = this.#fs.readlinkSync(at);
      if (this.#place.inside(this.#real)) this.#at = at;
    } catch {
      // Gone, not readable, or a link now.
    }
    return this.#at;
  }

  /** The real path of the directory that was reached. */
  get real(): string | undefined {
    return this.#at && this.#real;
  }

  close(): void {
    if (this.#fd !== undefined) this.#fs.closeSync(this.#fd);
    this.#fd = undefined;
    this.#at = undefined;
    this.#real = undefined;
    this.#path = undefined;
  }
}
