// Finds a literal in a block of bytes. The host's own search is fastest for a short piece that
// begins with a rare byte, because it skips to that byte with vector instructions. So this module
// searches for such a piece, and compares the whole literal where the piece occurs.

import { builtin } from "./host.js";

type NodeBuffer = typeof import("node:buffer");

/** Bytes of code and prose by frequency, the most frequent first; all others are rarer. */
const FREQUENT = " etaoinsrlcdupmfhg\n.,_-()=;:'\"byvw/kxjqz01";
/** The longest piece that the host searches in this way. */
const PIECE = 7;
/** After this many pieces without a match the whole literal is searched. */
const PATIENCE = 256;

/** The host's `Buffer`, whose searches are native code. */
export const buffers = builtin<NodeBuffer>("node:buffer")?.Buffer;

function rarity(byte: number): number {
  const at = FREQUENT.indexOf(String.fromCharCode(byte));
  return at < 0 ? FREQUENT.length : at;
}

export class Literal {
  readonly length: number;
  readonly #whole: Buffer;
  readonly #piece: Buffer;
  /** Offset of the piece in the literal. */
  readonly #before: number;

  constructor(whole: Buffer) {
    this.#whole = whole;
    this.length = whole.length;
    let before = 0;
    for (let at = 1; at < whole.length; at++) {
      if (rarity(whole[at] as number) > rarity(whole[before] as number)) before = at;
    }
    this.#before = before;
    this.#piece = whole.subarray(before, before + PIECE);
  }

  /** Index of the first occurrence at or after `from`; -1 if there is none. */
  find(block: Buffer, from: number): number {
    let vain = 0;
    for (let look = from + this.#before; ; look++) {
      look = block.indexOf(this.#piece, look);
      if (look < 0) return -1;
      const start = look - this.#before;
      const end = start + this.length;
      if (end > block.length) return -1;
      if (block.compare(this.#whole, 0, this.length, start, end) === 0) return start;
      vain += 1;
      if (vain === PATIENCE) return block.indexOf(this.#whole, start + 1);
    }
  }
}
