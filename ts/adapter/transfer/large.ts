// Large files of a transfer: read in ranges of one state of the file, and stored while they are read. In
// memory are a few ranges, whatever the size.

import { NEW } from "../../core/parts.js";
import { type Refusal, refusal, same, type Tree } from "./tree.js";

/** Files above so many bytes are read in ranges. */
export const LARGE = 8 * 1024 * 1024;
/** Bytes of a range. */
const RANGE = 4 * 1024 * 1024;

const CHANGED: Refusal = {
  error: "The file was changed while it was read; nothing of it was stored",
  code: "conflict",
};

/** One state of a large file, which is read in ranges. */
export class Large {
  readonly size: number;
  readonly #tree: Tree;
  readonly #name: string;
  readonly #version: string;
  /** Why it could not be read to its end. */
  failed: Refusal | undefined;

  private constructor(tree: Tree, name: string, size: number, version: string) {
    this.#tree = tree;
    this.#name = name;
    this.size = size;
    this.#version = version;
  }

  /**
   * The state that a file has now. Undefined if it is small, is not there, or its backend reads no ranges;
   * all of it is read at once then.
   */
  static async of(tree: Tree, name: string): Promise<Large | undefined> {
    const { part } = await tree.part(name, 0, 0);
    if (part?.version === undefined || part.size <= LARGE) return undefined;
    return new Large(tree, name, part.size, part.version);
  }

  /** The bytes of a range, all of them of this state of the file. */
  async range(start: number): Promise<Uint8Array | Refusal> {
    const end = Math.min(start + RANGE, this.size);
    const { data, part, ...answer } = await this.#tree.part(this.#name, start, end);
    if (data === undefined) return refusal(answer);
    const bytes = data.content;
    const isSame = part?.version === this.#version && part.size === this.size;
    if (!isSame || !(bytes instanceof Uint8Array) || bytes.length !== end - start) return CHANGED;
    return bytes;
  }

  /** The bytes from the beginning on. */
  stream(): ReadableStream<Uint8Array> {
    let at = 0;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (to) => {
          const bytes = await this.range(at);
          if (!(bytes instanceof Uint8Array)) {
            this.failed = bytes;
            throw new Error(bytes.error);
          }
          at += bytes.length;
          to.enqueue(bytes);
          if (at >= this.size) to.close();
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Whether another file has the same bytes. */
  async equals(other: Large): Promise<boolean | Refusal> {
    if (this.size !== other.size) return false;
    for (let at = 0; at < this.size; at += RANGE) {
      const [ours, theirs] = await Promise.all([this.range(at), other.range(at)]);
      if (!(ours instanceof Uint8Array)) return ours;
      if (!(theirs instanceof Uint8Array)) return theirs;
      if (!same(ours, theirs)) return false;
    }
    return true;
  }

  /** Stores it; with `isNew`, only where there is none. */
  async store(to: Tree, isNew: boolean): Promise<Refusal | undefined> {
    this.failed = undefined;
    const parts = {
      size: this.size,
      stream: () => this.stream(),
      ...(isNew ? { [NEW]: true } : {}),
    };
    const refused = await to.putParts(this.#name, parts);
    // Who stores is not to blame for what could not be read.
    return refused && (this.failed ?? refused);
  }
}
