// A bucket of very many objects, whose promises are settled at once. A listing has a thousand keys.

import { MapBucket } from "../chunks/doubles.mjs";

/** Keys of a page. */
const PAGE = 1_000;

/**
 * `MapBucket` that keeps what it lists in order, and counts its calls. A page is a part of a list, so what it takes is
 * the work of who asks.
 */
export class LargeBucket extends MapBucket {
  #listed = [];
  #calls = { lists: 0, others: 0 };

  /** How many calls there were since the last time. */
  take() {
    const taken = this.#calls;
    this.#calls = { lists: 0, others: 0 };
    return taken;
  }

  head(key) {
    this.#calls.others += 1;
    return super.head(key);
  }

  get(key, options) {
    this.#calls.others += 1;
    return super.get(key, options);
  }

  async put(key, value, options) {
    this.#calls.others += 1;
    const stored = await super.put(key, value, options);
    if (stored) this.#keep(stored);
    return stored;
  }

  async delete(keys) {
    this.#calls.others += 1;
    for (const key of [keys].flat()) {
      const at = this.#place(key);
      if (this.#listed[at]?.key === key) this.#listed.splice(at, 1);
    }
    return super.delete(keys);
  }

  async list({ prefix = "", delimiter, cursor, startAfter } = {}) {
    this.#calls.lists += 1;
    const after = startAfter === undefined ? 0 : this.#place(`${startAfter}\0`);
    const start = Math.max(this.#place(prefix), Number(cursor ?? 0), after);
    // Behind all keys that begin with it.
    const end = this.#place(`${prefix}\u{10ffff}`);
    const delimitedPrefixes = [];
    let [objects, at] = [[], start];
    if (!delimiter) {
      objects = this.#listed.slice(start, Math.min(end, start + PAGE));
      at = start + objects.length;
    }
    while (delimiter && at < end && objects.length + delimitedPrefixes.length < PAGE) {
      const { key } = this.#listed[at];
      const length = key.indexOf(delimiter, prefix.length) + 1;
      if (length === 0) {
        objects.push(this.#listed[at]);
        at += 1;
      } else {
        delimitedPrefixes.push(key.slice(0, length));
        at = this.#place(`${key.slice(0, length)}\u{10ffff}`);
      }
    }
    const more = at < end ? { truncated: true, cursor: `${at}` } : { truncated: false };
    return { objects, delimitedPrefixes, ...more };
  }

  #keep(stored) {
    const at = this.#place(stored.key);
    this.#listed.splice(at, Number(this.#listed[at]?.key === stored.key), stored);
  }

  /** Where a key is, or would be. Keys are ASCII here, so that their order is the one in bytes. */
  #place(key) {
    let [low, high] = [0, this.#listed.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#listed[middle].key < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
