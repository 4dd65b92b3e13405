// Reading many files by synchronous calls, one behind the other into one stretch of bytes, of
// which only those that hold what is looked for are handed over. A crossing, a promise or a
// buffer for each of twenty thousand small files would cost more than the search.

import { buffers, type Literal } from "./literal.js";

type NodeFs = typeof import("node:fs");

/** Room for bodies; more for a file that is larger. */
const ROOM = 2 << 20;
/** Bytes that are looked through at once, while they are still near. */
const SIFTED = 512 << 10;
/** A read this short has come to the end of a file; what is longer is asked again. */
const WHOLE = 65_536;
/** What a read comes to, apart from the end of what was read. */
const FULL = -1;
const PASSED = -2;

/** Bodies on their way to the core. */
export interface Block {
  /** Their paths, one a line. */
  paths: string;
  /** How long each is. */
  lengths: Uint32Array;
  /** One behind the other. */
  bytes: Uint8Array;
  /** Whether there may be more. */
  more: boolean;
}

export class Sieve {
  readonly #fs: NodeFs;
  readonly #flags: number;
  readonly #maxBytes: number;
  readonly #literal: Literal | undefined;
  #room: Buffer;
  /** Files that are handed over: their paths, their lengths, and the end of their bytes. */
  #paths: string[] = [];
  #lengths: number[] = [];
  #kept = 0;
  /** Files behind those, not looked through yet: what their paths are made of, and their ends. */
  readonly #belows: string[] = [];
  readonly #names: string[] = [];
  readonly #ends: number[] = [];
  #used = 0;

  constructor(fs: NodeFs, flags: number, maxBytes: number, literal: Literal | undefined) {
    this.#fs = fs;
    this.#flags = flags;
    this.#maxBytes = maxBytes;
    this.#literal = literal;
    this.#room = room(ROOM);
  }

  /** Whether something is to be handed over. */
  get holds(): boolean {
    return this.#paths.length > 0;
  }

  /**
   * Reads the file of that name in the directory at `at`, or passes over what cannot be read; false
   * where `take` has to come first. With `below` before its name it is told.
   */
  read(at: string, below: string, name: string): boolean {
    let fd: number;
    try {
      fd = this.#fs.openSync(`${at}/${name}`, this.#flags);
    } catch {
      return true;
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

  /** Reads a file from its beginning; where it ends in the room. */
  #fill(fd: number): number {
    const begin = this.#used;
    const { length } = this.#room;
    for (let at = begin; at < length; ) {
      let more: number;
      try {
        more = this.#fs.readSync(fd, this.#room, at, length - at, at - begin);
      } catch {
        return PASSED;
      }
      at += more;
      if (at - begin > this.#maxBytes) return PASSED;
      if (more === 0 || (at < length && more < WHOLE)) return at;
    }
    return FULL;
  }

  /** Makes room for a file that all the room is too little for; false where it is none to read. */
  #widen(fd: number): boolean {
    const stats = this.#fs.fstatSync(fd);
    if (stats.size > this.#maxBytes || !stats.isFile()) return false;
    this.#room = room(Math.max(stats.size + WHOLE, this.#room.length * 2));
    return true;
  }

  /** Keeps those of the files read that hold what is looked for. */
  sift(): void {
    const { length } = this.#ends;
    let begin = this.#kept;
    const literal = this.#literal;
    const block = this.#room.subarray(0, this.#used);
    let found = literal ? literal.find(block, begin) : begin;
    for (let index = 0; index < length && found >= 0; index++) {
      const end = this.#ends[index] as number;
      // What reaches over the border of two files is kept too: the core looks closer.
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

  /** Hands over what was kept. The bytes are good until the next file is read. */
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
