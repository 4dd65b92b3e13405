// Sets of the short pieces of text (grams) in a file, or in neighbouring small files: what a set has not, the
// files have not. A set is a bit for each hash of a gram, kept as a text of one byte a character: the host
// shares it among the files, frees it when the last of them is gone, and needs 24 bytes more than it has.
//
// In a gram the letters of ASCII are small, so that one set serves searches in either case. What makes
// letters small also changes other bytes; these are then taken for each other, which excludes less and
// nothing wrongly.
//
// Small files have grams of four bytes: there are fewer of them, so the sets are smaller. In a large file most
// grams of four bytes are there somehow, so it has grams of five. A set of the short ones has one character
// more, which makes its length odd.

import { buffers } from "../literal.js";

/** Bytes of a gram, and of a short one. */
const GRAM = 5;
const SHORT = 4;
/** Most bytes of text with short grams. */
const SMALL = 64 << 10;
/** Bits of a set for each gram: about half of them are then set. */
const BITS = 1.3;
/** Most bits of a set for each byte of text, for texts that never repeat themselves. */
const MOST = 0.4;
/** Bytes of the smallest set. */
const LEAST = 8;

/**
 * In place of a set: no search reads the file, such as a binary one. It is shorter than any set, also than
 * the one of a file that is too short for a gram and that a search for a shorter text reads.
 */
export const NOTHING = "\0";

// The length of a set is four to seven times a power of two. So a place in it follows from the upper bits
// of a hash with a multiplication of small numbers.

/** Bits of a hash that choose a place in a set of so many bytes. */
function hashed(bytes: number): number {
  return 34 - Math.clz32(bytes);
}

/** The length of a set for so many grams. */
function lengthFor(grams: number, text: number): number {
  const bytes = Math.max(LEAST, Math.floor(Math.min(grams * BITS, text * MOST) / 8));
  const step = 2 ** (hashed(bytes) - 5);
  return Math.floor(bytes / step) * step;
}

/** Collects the grams of texts in a set. */
export class Grams {
  /** A bit for each value of the upper bits of a hash. */
  #seen = new Uint8Array(0);
  #bits = 0;
  #text = 0;
  /** Bytes of a gram of these texts. */
  #gram = GRAM;
  /** The last four bytes, the last one in the highest byte. */
  #last = 0;
  /** How many bytes of the text are in `last`. */
  #held = 0;

  /** Begins a set of texts with so many bytes in all. */
  begin(text: number): void {
    this.#text = text;
    this.#gram = text > SMALL ? GRAM : SHORT;
    this.#bits = Math.max(hashed(LEAST), 32 - Math.clz32(text));
    const bytes = 2 ** (this.#bits - 3);
    if (this.#seen.length < bytes) this.#seen = new Uint8Array(bytes);
    else this.#seen.fill(0, 0, bytes);
  }

  /** A new text begins. */
  next(): void {
    this.#held = 0;
  }

  /** Adds the next `length` bytes of a text. */
  add(bytes: Uint8Array, length: number): void {
    const seen = this.#seen;
    const shift = 32 - this.#bits;
    let at = 0;
    let last = this.#last;
    for (; this.#held < this.#gram - 1 && at < length; at++) {
      last = (last >>> 8) | (small(bytes[at] as number) << 24);
      this.#held += 1;
    }
    if (this.#gram === SHORT) {
      for (; at < length; at++) {
        last = (last >>> 8) | (small(bytes[at] as number) << 24);
        const place = spread(last) >>> shift;
        seen[place >>> 3] = (seen[place >>> 3] as number) | (1 << (place & 7));
      }
    }
    for (; at < length; at++) {
      const byte = small(bytes[at] as number);
      const place = mixed(last, byte) >>> shift;
      seen[place >>> 3] = (seen[place >>> 3] as number) | (1 << (place & 7));
      last = (last >>> 8) | (byte << 24);
    }
    this.#last = last;
  }

  finish(): string {
    const Bytes = buffers as typeof Buffer;
    const all = 2 ** this.#bits;
    const seen = this.#seen.subarray(0, all / 8);
    let ones = 0;
    for (const byte of seen) ones += ONES[byte] as number;
    // Some grams have the same hash.
    const grams = -all * Math.log1p(-Math.min(ones, all - 1) / all);
    const length = lengthFor(grams, this.#text);
    const set = Bytes.alloc(this.#gram === SHORT ? length + 1 : length);
    const bits = hashed(length);
    const [fewer, times] = [this.#bits - bits, length >>> (bits - 5)];
    for (let at = 0; at < seen.length; at++) {
      for (let left = seen[at] as number; left !== 0; left &= left - 1) {
        const hash = at * 8 + 31 - Math.clz32(left & -left);
        const place = ((hash >>> fewer) * times) >>> 2;
        set[place >>> 3] = (set[place >>> 3] as number) | (1 << (place & 7));
      }
    }
    return set.toString("latin1");
  }
}

/** How many bits of a byte are set. */
const ONES = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).split("1").length - 1);

/** What is asked of sets: whether all grams of a literal are in them. */
export class Asked {
  readonly #hashes: number[] = [];
  readonly #short: number[] = [];
  #set = NOTHING;
  #answer = false;

  /** The question for a literal; undefined if it has no gram. */
  static of(literal: Uint8Array): Asked | undefined {
    return literal.length < SHORT ? undefined : new Asked(literal);
  }

  private constructor(literal: Uint8Array) {
    for (let at = 0; at + SHORT <= literal.length; at++) {
      let four = 0;
      for (let n = 0; n < 4; n++) four |= small(literal[at + n] as number) << (8 * n);
      this.#short.push(spread(four) >>> 0);
      if (at + GRAM > literal.length) break;
      this.#hashes.push(mixed(four, small(literal[at + 4] as number)) >>> 0);
    }
  }

  /** Whether a file with this set may have the literal. */
  of(set: string): boolean {
    // Neighbours have the same set.
    if (set !== this.#set) {
      this.#set = set;
      this.#answer = this.#has(set);
    }
    return this.#answer;
  }

  #has(set: string): boolean {
    const length = set.length & ~1;
    const bits = hashed(length);
    const [shift, times] = [32 - bits, length >>> (bits - 5)];
    for (const hash of length < set.length ? this.#short : this.#hashes) {
      const place = ((hash >>> shift) * times) >>> 2;
      if (((set.charCodeAt(place >>> 3) >>> (place & 7)) & 1) === 0) return false;
    }
    return true;
  }
}

/** A byte with small letters: where the bit of 64 is set, that of 32 is set as well. */
function small(byte: number): number {
  return byte | ((byte & 0x40) >> 1);
}

function mixed(four: number, fifth: number): number {
  return spread(four ^ Math.imul(fifth, 0x85ebca6b));
}

function spread(four: number): number {
  return Math.imul(four, 0x9e3779b1);
}
