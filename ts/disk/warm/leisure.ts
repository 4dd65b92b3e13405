// Work between searches. It takes a few milliseconds at a time and then waits, for longer while a search
// goes on; and it begins when the first search has ended, which it would only delay.

import type { Pace } from "./tree.js";

/** Work: so many milliseconds, and a pause of so many; of so many while a search goes on. */
const WORK_MS = 4;
const PAUSE_MS = 2;
const LONG_MS = 12;
/** A search that was not seen for so many milliseconds has ended without a word. */
const SEEN_MS = 1_000;

export function unref(timer: unknown): void {
  (timer as { unref?: () => void }).unref?.();
}

/** Waits without keeping the process alive. */
function nap(ms: number): Promise<void> {
  return new Promise((resolve) => unref(setTimeout(resolve, ms)));
}

/** The searches of a folder, as far as they are known. */
export class Searches {
  #open = 0;
  #begun = 0;
  #seen = Number.NEGATIVE_INFINITY;

  /** One begins. */
  begin(): void {
    this.#begun += 1;
    this.see();
  }

  /** One goes on. */
  see(): void {
    this.#seen = performance.now();
  }

  /** One has ended. Another one that goes on is seen again soon. */
  ended(): void {
    this.#seen = Number.NEGATIVE_INFINITY;
  }

  /** One that ends with this promise. */
  async during<T>(search: Promise<T>): Promise<T> {
    this.#open += 1;
    try {
      return await search;
    } finally {
      this.#open -= 1;
      this.ended();
    }
  }

  get going(): boolean {
    return this.#open > 0 || performance.now() - this.#seen < SEEN_MS;
  }

  /** Waits until none goes on, or another one begins. */
  async none(): Promise<void> {
    const begun = this.#begun;
    while (this.going && this.#begun === begun) await nap(PAUSE_MS);
  }
}

export class Leisure implements Pace {
  readonly #searches: Searches;
  #since = performance.now();

  constructor(searches: Searches) {
    this.#searches = searches;
  }

  get due(): boolean {
    return performance.now() - this.#since > WORK_MS;
  }

  async give(): Promise<void> {
    await nap(this.#searches.going ? LONG_MS : PAUSE_MS);
    this.#since = performance.now();
  }
}
