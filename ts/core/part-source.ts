// The bytes of a file that come in parts, as WebAssembly, folders of the host and requests read them.

import type { FileParts } from "../types.js";
import { NEW, UNREAD } from "./parts.js";

/** The bytes of a file could not be read: neither a storage nor a server is to blame. */
class Unread extends Error {
  readonly code = "unavailable";

  constructor(why: string, cause?: unknown) {
    super(UNREAD + why, { cause });
  }
}

/** What reads the bytes of one file, from their beginning to their end, once. */
export class Parts {
  readonly #given: FileParts;
  readonly size: number;
  readonly most: number;
  /** Whether nothing may be there in the end. */
  readonly isNew: boolean;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #left: number;

  constructor(given: FileParts) {
    this.#given = given;
    this.size = given.size;
    this.most = given.most ?? Number.MAX_SAFE_INTEGER;
    this.isNew = NEW in given;
    this.#left = this.size;
  }

  /** The next bytes; undefined behind the last. Rejects if there are not as many as was said. */
  async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const { done, value } = await this.#read();
      if (done) {
        if (this.#left === 0) return undefined;
        throw new Unread(`the stream ended ${this.#left} bytes before its size, ${this.size}`);
      }
      if (!(value instanceof Uint8Array)) throw new Unread("the stream gave no Uint8Array");
      this.#left -= value.length;
      if (this.#left < 0)
        throw new Unread(`the stream gave more bytes than its size, ${this.size}`);
      if (value.length > 0) return value;
    }
  }

  async #read(): Promise<{ done: boolean; value?: unknown }> {
    try {
      this.#reader ??= this.#given.stream().getReader();
      return await this.#reader.read();
    } catch (error) {
      throw new Unread(error instanceof Error ? error.message : "the stream failed", error);
    }
  }

  /**
   * The bytes as the body of a request, from their beginning on. A `Blob` is one by itself, which browsers
   * need: they send no streams. `failed` is called if the bytes cannot be read.
   */
  async body(streams: boolean, failed: () => void): Promise<Blob | ReadableStream<Uint8Array>> {
    if (this.#given instanceof Blob) return this.#given;
    const again = new Parts(this.#given);
    let isCancelled = false;
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const part = await again.next();
          if (part) controller.enqueue(part);
          else controller.close();
        } catch (error) {
          // Who wants no more of them, as of a request that is answered before its end, has missed nothing.
          if (!isCancelled) failed();
          throw error;
        }
      },
      cancel() {
        isCancelled = true;
        again.close();
      },
    });
    return streams ? stream : new Response(stream).blob();
  }

  /** Nothing more is read. */
  close(): void {
    this.#reader?.cancel().catch(() => {});
  }
}
