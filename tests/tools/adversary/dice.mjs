// Chance of a seed, and the words that the checks look for.

/** Numbers that a seed decides. */
export class Dice {
  #state;

  constructor(seed) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  }

  /** A whole number from 0 to n - 1. */
  below(n) {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % n;
  }

  /** Whether something happens that does so `percent` times of a hundred. */
  chance(percent) {
    return this.below(100) < percent;
  }

  of(list) {
    return list[this.below(list.length)];
  }

  /** The same items in another order. */
  shuffled(list) {
    const left = [...list];
    return list.map(() => left.splice(this.below(left.length), 1)[0]);
  }

  /** A name by its weight, of `{ name: weight }`. */
  weighed(weights) {
    const all = Object.entries(weights);
    let at = this.below(all.reduce((sum, [, weight]) => sum + weight, 0));
    for (const [name, weight] of all) {
      if (at < weight) return name;
      at -= weight;
    }
    return all[0][0];
  }

  /** A word that is nowhere else: `zc…` in contents, `zn…` in names. */
  word(kind) {
    const letters = "abcdefghijklmnopqrstuvwxy0123456789";
    return `z${kind}${Array.from({ length: 9 }, () => this.of(letters)).join("")}`;
  }
}

const WORD = /z[cn][a-y0-9]{9}/g;

/** All such words in a text. */
export const wordsIn = (text) => text.toLowerCase().match(WORD) ?? [];

/** Characters that show nothing or reorder others. */
export const UNSEEN = ["\u200b", "\u202e", "\u2066", "\u00ad", "\u3164", "\ufeff", "\u{e0041}"];
const DECEPTIVE = new RegExp(`[${UNSEEN.join("")}]`, "u");

/** Whether a text has one of them. */
export const deceives = (text) => DECEPTIVE.test(text);
