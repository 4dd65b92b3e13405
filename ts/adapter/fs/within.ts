// The frame of an operation: what goes wrong inside gets its name and paths.

import { located, type Place } from "./errors.js";
import type { Steps } from "./steps.js";

export function* within<T>(place: Place, work: () => Steps<T>): Steps<T> {
  try {
    return yield* work();
  } catch (error) {
    throw located(error, place);
  }
}

/** Options that were given as an object, or as the one value that is used most. */
export function optionsOf(given: unknown, shorthand: string): Record<string, unknown> {
  if (given === undefined || given === null) return {};
  return typeof given === "object" ? (given as Record<string, unknown>) : { [shorthand]: given };
}
