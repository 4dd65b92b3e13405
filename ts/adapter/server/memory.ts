// Answers to recent changes, by the key that the client chose for each. A client that lost an answer sends
// the same request again and gets the same answer; nothing is made twice. A key begins with a ticket, which
// every answer brings: the name of this memory and how many changes it has seen. So a key whose answer may
// have been dropped, or given by another process, is known to be too old, and is refused before anything
// is done.

import { BadRequest } from "./wire.js";

/** A complete answer that can be given again. */
export interface Kept {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer> | null;
  /** Whether it answers a header that no navigation, image or script of a page can send. */
  isApart?: boolean;
  /** Whether nothing was done, so that the same request may be made anew. */
  isOpen?: boolean;
}

/** Answers that are kept for a client. */
const KEYS = 1_000;
/** Bytes of them; the newest stays, whatever its size. */
const KEY_BYTES = 4 << 20;
/** Clients whose answers are kept. */
const CLIENTS = 1_000;

interface Entry {
  number: number;
  /** The request that has the key. */
  digest: string;
  answer: Promise<Kept>;
  /** Size of the answer; undefined while the change is being made. */
  size?: number;
}

const KEY = /^([0-9a-f]{16})\.(\d{1,15})\.([\w-]{8,64})$/;

function name(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The answers to one client. */
export class Memory {
  readonly #name = name();
  readonly #entries = new Map<string, Entry>();
  #count = 0;
  #oldest = 0;
  #bytes = 0;

  /** What the keys of later changes begin with. */
  get ticket(): string {
    return `${this.#name}.${this.#count}`;
  }

  /** Whether a change is being made. */
  get isBusy(): boolean {
    return [...this.#entries.values()].some((one) => one.size === undefined);
  }

  /** Makes a change, or returns the answer that it had; undefined if that is not known any more. */
  once(key: string, digest: string, make: () => Promise<Kept>): Promise<Kept> | undefined {
    const parts = KEY.exec(key);
    if (!parts) {
      throw new BadRequest(
        "The header idempotency-key must be the kitbag-ticket of an earlier answer, a dot, and 8 to 64 letters or digits",
      );
    }
    const known = this.#entries.get(key);
    if (known && known.digest !== digest) {
      throw new BadRequest("The header idempotency-key was used for another request");
    }
    if (known) return known.answer;
    const ticket = Number(parts[2]);
    if (parts[1] !== this.#name || ticket < this.#oldest || ticket > this.#count) return undefined;
    const entry: Entry = { number: this.#count, digest, answer: make() };
    this.#count += 1;
    this.#entries.set(key, entry);
    const done = (size: number) => {
      entry.size = size;
      this.#bytes += size;
      this.#drop();
    };
    entry.answer.then(
      (answer) => {
        if (answer.isOpen) this.#entries.delete(key);
        else done((answer.body?.length ?? 0) + 500);
      },
      () => done(500),
    );
    return entry.answer;
  }

  #drop(): void {
    for (const [key, entry] of this.#entries) {
      const full = this.#entries.size > KEYS || this.#bytes > KEY_BYTES;
      // One that is being made is needed; those behind it wait.
      if (!full || entry.size === undefined || this.#entries.size === 1) return;
      this.#entries.delete(key);
      this.#bytes -= entry.size;
      this.#oldest = entry.number + 1;
    }
  }
}

/** The memories of all clients, of which those that were used last are kept. */
export class Memories {
  readonly #all = new Map<string, Memory>();

  /** The memory of a client. */
  of(client: string): Memory {
    const memory = this.#all.get(client) ?? new Memory();
    this.#all.delete(client);
    this.#all.set(client, memory);
    if (this.#all.size > CLIENTS) {
      for (const [other, one] of this.#all) {
        if (one.isBusy || one === memory) continue;
        this.#all.delete(other);
        break;
      }
    }
    return memory;
  }
}
