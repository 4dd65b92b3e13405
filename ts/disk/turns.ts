// Synchronous work blocks the event loop, so it pauses every few milliseconds for other work.

/** Milliseconds between two pauses. */
const TURN = 20;
/** Steps between two looks at the clock. */
const STEPS = 8;

export class Turns {
  #since = performance.now();
  #steps = 0;
  #due = false;

  /** Called at each step: whether a pause is due. It stays due until `give` was called. */
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
