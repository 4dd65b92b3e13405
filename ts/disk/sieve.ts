// Reads many files with synchronous calls into one buffer, and passes on only those that contain
// the literal. A call, a promise or a buffer for each of twenty thousand small files would cost
// more than the search.

import type { Folder } from "./folder.js";
import { passOver } from "./host.js";
import { buffers, type Literal } from "./literal.js";

type NodeFs = typeof import("node:fs");

/** Size of the buffer; it grows for a larger file. */
const ROOM = 2 << 20;
/** Bytes that are searched at a time, while they are still in the CPU's cache. */
const SIFTED = 512 << 10;
/** A shorter read has reached the end of a file; after a longer one the host is asked again. */
const WHOLE = 65_536;
/** Return codes of `#fill` other than an end position: buffer full, or file skipped. */
const FULL = -1;
const PASSED = -2;

/** File contents for the core. */
export interface Block {
  /** Paths of the files, one a line. */
  paths: string;
  /** Length of each file. */
  lengths: Uint32Array;
  /** The contents, one after another. */
  bytes: Uint8Array;
  /** Whether there may be more. */
  more: boolean;
}

export class Sieve {
  readonly #fs: NodeFs;
  readonly #folder: Folder;
  readonly #flags: number;
  readonly #maxBytes: number;
  readonly #literal: Literal | undefined;
  #room: Buffer;
  /** Files to pass on: their paths, their lengths, and the end of their bytes. */
  #paths: string[] = [];
  #lengths: number[] = [];
  #kept = 0;
  /** Files after those that were not searched yet: the parts of their paths, and their ends. */
  readonly #belows: string[] = [];
  readonly #names: string[] = [];
  readonly #ends: number[] = [];
  #used = 0;

  constructor(
    fs: NodeFs,
    folder: Folder,
    flags: number,
    maxBytes: number,
    literal: Literal | undefined,
  ) {
    this.#fs = fs;
    this.#folder = folder;
    this.#flags = flags;
    this.#maxBytes = maxBytes;
    this.#literal = literal;
    this.#room = room(ROOM);
  }

  /** Whether there are files to pass on. */
  get holds(): boolean {
    return this.#paths.length > 0;
  }

  /**
   * Reads the file `name` in the directory at `at`, or skips a file that cannot be read. `below` is
   * the first part of its path in the result. False if `take` must be called first.
   */
  read(at: string, below: string, name: string): boolean {
    let fd: number | undefined;
    try {
      fd = this.#fs.openSync(`${at}/${name}`, this.#flags);
    } catch (error) {
      passOver(error);
      // Perhaps it is a link.
      fd = this.#folder.follow(`${at}/${name}`);
      if (fd === undefined) return true;
    }
    try {
      for (;;) {
        const end = this.#fill(fd);
        if (end === PASSED) return true;
        if (end !== FULL) {
          this.#belows.push(below);
          this.#names.push(name);
          this.#ends.push(end);
          this.#used = end;
          if (end - this.#kept > SIFTED) this.sift();
          return true;
        }
        if (this.#kept < this.#used) this.sift();
        else if (this.#used > 0) return false;
        else if (!this.#widen(fd)) return true;
      }
    } finally {
      this.#fs.closeSync(fd);
    }
  }

  /** Reads a file from its beginning; returns its end in the buffer, or a code. */
  #fill(fd: number): number {
    const begin = this.#used;
    const { length } = this.#room;
    for (let at = begin; at < length; ) {
      let more: number;
      try {
        more = this.#fs.readSync(fd, this.#room, at, length - at, at - begin);
      } catch (error) {
        passOver(error);
        return PASSED;
      }
      at += more;
      if (at - begin > this.#maxBytes) return PASSED;
      if (more === 0 || (at < length && more < WHOLE)) return at;
    }
    return FULL;
  }

  /** Enlarges the buffer for a file larger than all of it; false if the file is to be skipped. */
  #widen(fd: number): boolean {
    const stats = this.#fs.fstatSync(fd);
    if (stats.size > this.#maxBytes || !stats.isFile()) return false;
    this.#room = room(Math.max(stats.size + WHOLE, this.#room.length * 2));
    return true;
  }

  /** Keeps the files that contain the literal, of those read since the last call. */
  sift(): void {
    const { length } = this.#ends;
    let begin = this.#kept;
    const literal = this.#literal;
    const block = this.#room.subarray(0, this.#used);
    let found = literal ? literal.find(block, begin) : begin;
    for (let index = 0; index < length && found >= 0; index++) {
      const end = this.#ends[index] as number;
      // A match across two files keeps the first one too; the core checks each file.
      if (!literal || (found >= 0 && found < end)) {
        this.#paths.push(`${this.#belows[index]}${this.#names[index]}`);
        this.#lengths.push(end - begin);
        if (this.#kept < begin) this.#room.copyWithin(this.#kept, begin, end);
        this.#kept += end - begin;
        if (literal && index + 1 < length) found = literal.find(block, end);
      }
      begin = end;
    }
    this.#belows.length = 0;
    this.#names.length = 0;
    this.#ends.length = 0;
    this.#used = this.#kept;
  }

  /** Returns the kept files. Their bytes are valid until the next file is read. */
  take(more: boolean): Block {
    this.sift();
    const block = {
      paths: this.#paths.join("\n"),
      lengths: Uint32Array.from(this.#lengths),
      bytes: this.#room.subarray(0, this.#kept),
      more,
    };
    this.#paths = [];
    this.#lengths = [];
    this.#kept = 0;
    this.#used = 0;
    return block;
  }
}

function room(bytes: number): Buffer {
  if (!buffers) throw new TypeError("This host has no Buffer");
  return buffers.allocUnsafeSlow(bytes);
}
