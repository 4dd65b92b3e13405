// Where some bytes stand in a block of bytes. The host's own search is quickest for a short piece
// that begins with a byte seldom met: it skips to that byte, a vector at a time. So such a piece
// is looked for, and the whole compared where it is met.

import { builtin } from "./host.js";

type NodeBuffer = typeof import("node:buffer");

/** Bytes of code and prose, the most frequent first; those left out are rarer still. */
const FREQUENT = " etaoinsrlcdupmfhg\n.,_-()=;:'\"byvw/kxjqz01";
/** What the host searches by that skipping; longer pieces it searches in another way. */
const PIECE = 7;
/** Pieces met in vain before the whole is searched as it is. */
const PATIENCE = 256;

/** The host's `Buffer`, whose searches are not done in JavaScript. */
export const buffers = builtin<NodeBuffer>("node:buffer")?.Buffer;

function rarity(byte: number): number {
  const at = FREQUENT.indexOf(String.fromCharCode(byte));
  return at < 0 ? FREQUENT.length : at;
}

export class Literal {
  readonly length: number;
  readonly #whole: Buffer;
  readonly #piece: Buffer;
  /** Where the piece begins in the whole. */
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

  /** The first place at or behind `from` where all of it stands; -1 where there is none. */
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
