// Pauses in long work of JavaScript, as the Rust side makes them (`src/core/pace.rs`). Such work is a
// generator that yields where it may pause, so a function that answers at once can run it too.

import type { CallOptions, ErrorText, Failure } from "../types.js";
import { pause } from "./pause.js";

/** Work that yields every few hundred items. */
export type Steps<T> = Generator<undefined, T>;

/** Milliseconds of work between two pauses. */
const SLICE_MS = 5;

/** Why a call was given up. */
export const CANCELLED: ErrorText =
  "The call was cancelled by its signal; a change that was under way may have happened";

export function late(limit: number): ErrorText {
  return `The call took over ${limit} ms (timeoutMs); a change that was under way may have happened`;
}

/** The work was ended by a signal or a time limit. */
export class GivenUp extends Error {
  constructor(readonly failure: Failure) {
    super(failure.error);
  }
}

/** Runs work without pauses. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The pauses of one call, and the end of its time. */
export class Pace {
  readonly #options: CallOptions | undefined;
  readonly #began = performance.now();
  #since = this.#began;

  constructor(options?: CallOptions) {
    this.#options = options;
  }

  /** The options for a part of the call, with the time that is left. */
  get left(): CallOptions | undefined {
    const timeoutMs = this.#options?.timeoutMs;
    if (timeoutMs === undefined) return this.#options;
    const left = timeoutMs - (performance.now() - this.#began);
    return { ...this.#options, timeoutMs: Math.max(0, left) };
  }

  /** Pauses if that is due. Throws `GivenUp` if the signal aborted or the time is over. */
  async rest(): Promise<void> {
    if (performance.now() - this.#since < SLICE_MS) return;
    await pause();
    const { signal, timeoutMs = Number.POSITIVE_INFINITY } = this.#options ?? {};
    const end = (error: ErrorText) => new GivenUp({ error, code: "timeout" });
    if (signal?.aborted) throw end(CANCELLED);
    this.#since = performance.now();
    if (this.#since - this.#began >= timeoutMs) throw end(late(timeoutMs));
  }

  /** Runs work with pauses. */
  async run<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      if (performance.now() - this.#since >= SLICE_MS) await this.rest();
    }
  }
}

/** Waits for a call that may be given up; its end is its result. */
export async function unlessGivenUp<T>(call: Promise<T>): Promise<T | Failure> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof GivenUp) return error.failure;
    throw error;
  }
}
