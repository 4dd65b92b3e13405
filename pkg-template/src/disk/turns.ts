// Work that never waits for the host would keep everybody else waiting. So others are given a turn
// every few milliseconds.

/** Milliseconds between two turns of others. */
const TURN = 20;
/** Steps between two looks at the clock. */
const STEPS = 8;

export class Turns {
  #since = performance.now();
  #steps = 0;
  #due = false;

  /** Asked at each step: whether others are to have their turn. It stays so until they had it. */
  get due(): boolean {
    this.#steps += 1;
    if (this.#steps % STEPS === 0 && performance.now() - this.#since > TURN) this.#due = true;
    return this.#due;
  }

  async give(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#since = performance.now();
    this.#due = false;
  }
}
