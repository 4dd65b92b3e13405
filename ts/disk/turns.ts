// Synchronous work blocks the event loop, so it pauses every few milliseconds for other work.

/** Milliseconds between two pauses; the core works on what it is given for some more. */
const TURN = 8;

export class Turns {
  #since = performance.now();
  #due = false;

  /** Called at each step: whether a pause is due. It stays due until `give` was called. */
  get due(): boolean {
    // A step is a call of the system or more, beside which a look at the clock is nothing.
    if (!this.#due && performance.now() - this.#since > TURN) this.#due = true;
    return this.#due;
  }

  async give(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#since = performance.now();
    this.#due = false;
  }
}
