// Passes the contents of files to the core in blocks. Files are read one after another, and those
// that contain the literal are passed on together.

import type { Folder } from "./folder.js";
import type { Block, Sieve } from "./sieve.js";
import { Turns } from "./turns.js";
import type { Run } from "./walk.js";

/** Returns the next files; `null` for none yet, `undefined` at the end. */
export type Source = () => Run | null | undefined;

export class Bodies {
  readonly #source: Source;
  readonly #folder: Folder;
  readonly #flags: number;
  readonly #sieve: Sieve;
  readonly #turns = new Turns();
  /** The current run of files, and the index of the first that was not read. */
  #run: Run | undefined;
  #next = 0;
  #begun = false;
  #closed = false;
  /** Is told that it goes on, and that it has ended. */
  told: { see(): void; ended(): void } | undefined;

  constructor(source: Source, folder: Folder, flags: number, sieve: Sieve) {
    this.#source = source;
    this.#folder = folder;
    this.#flags = flags;
    this.#sieve = sieve;
  }

  /** The next block. It is valid until the next call. */
  async next(): Promise<Block> {
    if (this.#begun) await this.#turns.give();
    this.#begun = true;
    this.told?.see();
    // If the search was cancelled during a pause, nothing more is opened.
    while (!this.#closed) {
      const run = this.#run ?? this.#source();
      if (run === undefined) break;
      if (run && !this.#read(run)) return this.#sieve.take(true);
      if (this.#turns.due) {
        // What was found is returned now, because the core may have enough.
        this.#sieve.sift();
        if (this.#sieve.holds) return this.#sieve.take(true);
        await this.#turns.give();
        this.told?.see();
      }
    }
    this.told?.ended();
    return this.#sieve.take(false);
  }

  close(): void {
    this.#closed = true;
    this.told?.ended();
    this.#folder.close();
  }

  /** Reads files of a run until a pause is due; false if there is no room. */
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
