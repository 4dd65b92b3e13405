// Bodies of files for the core, some at a time: files are read one behind the other, and those
// that hold what is looked for handed over together.

import type { Folder } from "./folder.js";
import type { Block, Sieve } from "./sieve.js";
import { Turns } from "./turns.js";
import type { Run } from "./walk.js";

/** Gives the next files; `null` for none yet, and nothing at the end. */
export type Source = () => Run | null | undefined;

export class Bodies {
  readonly #source: Source;
  readonly #folder: Folder;
  readonly #flags: number;
  readonly #sieve: Sieve;
  readonly #turns = new Turns();
  /** The files at hand, and the first of them that was not read. */
  #run: Run | undefined;
  #next = 0;
  #begun = false;
  #closed = false;

  constructor(source: Source, folder: Folder, flags: number, sieve: Sieve) {
    this.#source = source;
    this.#folder = folder;
    this.#flags = flags;
    this.#sieve = sieve;
  }

  /** The next bodies. Good until it is asked again. */
  async next(): Promise<Block> {
    if (this.#begun) await this.#turns.give();
    this.#begun = true;
    // A search that was given up while others had their turn opens nothing any more.
    while (!this.#closed) {
      const run = this.#run ?? this.#source();
      if (run === undefined) break;
      if (run && !this.#read(run)) return this.#sieve.take(true);
      if (this.#turns.due) {
        // What was found goes now: the core may have enough.
        this.#sieve.sift();
        if (this.#sieve.holds) return this.#sieve.take(true);
        await this.#turns.give();
      }
    }
    return this.#sieve.take(false);
  }

  close(): void {
    this.#closed = true;
    this.#folder.close();
  }

  /** Reads these files, up to where others are to have their turn; false where there is no room. */
  #read(run: Run): boolean {
    const { dir, below, names } = run;
    const at = this.#folder.reach(dir, this.#flags);
    this.#run = run;
    if (at !== undefined) {
      for (; this.#next < names.length; this.#next++) {
        if (this.#turns.due) return true;
        if (!this.#sieve.read(at, below, names[this.#next] as string)) return false;
      }
    }
    this.#run = undefined;
    this.#next = 0;
    return true;
  }
}
