// A bucket of very many objects, whose promises are settled at once. A listing has a thousand keys.

import { MapBucket } from "../chunks/doubles.mjs";

/** Keys of a page. */
const PAGE = 1_000;

/** `MapBucket` that keeps its keys in order, and counts its calls. */
export class LargeBucket extends MapBucket {
  #keys = [];
  #known = new Set();
  #isSorted = true;
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
    if (stored && !this.#known.has(key)) {
      this.#known.add(key);
      this.#isSorted &&= !(this.#keys.at(-1) > key);
      this.#keys.push(key);
    }
    return stored;
  }

  async delete(keys) {
    this.#calls.others += 1;
    for (const key of [keys].flat()) {
      this.#sort();
      if (this.#known.delete(key)) this.#keys.splice(this.#place(key), 1);
    }
    return super.delete(keys);
  }

  async list({ prefix = "", delimiter, cursor, startAfter } = {}) {
    this.#calls.lists += 1;
    this.#sort();
    const after = startAfter === undefined ? 0 : this.#place(`${startAfter}\0`);
    let at = Math.max(this.#place(prefix), Number(cursor ?? 0), after);
    const [objects, delimitedPrefixes] = [[], []];
    const isThere = () => this.#keys[at]?.startsWith(prefix) === true;
    while (isThere() && objects.length + delimitedPrefixes.length < PAGE) {
      const key = this.#keys[at];
      const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
      if (end < 0) {
        objects.push(super.head(key));
        at += 1;
      } else {
        const dir = key.slice(0, end + delimiter.length);
        delimitedPrefixes.push(dir);
        // Behind all keys that begin with it.
        at = this.#place(`${dir}\u{10ffff}`);
      }
    }
    const more = isThere() ? { truncated: true, cursor: `${at}` } : { truncated: false };
    return { objects: await Promise.all(objects), delimitedPrefixes, ...more };
  }

  /** Keys here are ASCII, so that their order in JavaScript is the one in bytes. */
  #sort() {
    if (!this.#isSorted) this.#keys.sort();
    this.#isSorted = true;
  }

  /** Where a key is, or would be. */
  #place(key) {
    let [low, high] = [0, this.#keys.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#keys[middle] < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
