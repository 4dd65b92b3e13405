// The frame of an operation: what goes wrong inside gets its name and paths.

import { whole } from "./content.js";
import { located, type Place, wrongArgument, wrongType } from "./errors.js";
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

/** Options that are true or false, where they are given. */
export function checkBooleans(options: object, ...names: string[]): void {
  for (const name of names) {
    const value = (options as Record<string, unknown>)[name];
    if (value !== undefined && typeof value !== "boolean") {
      throw wrongType(`options.${name}`, "of type boolean", value);
    }
  }
}

/** The options of a removal. A removal is never tried again here, and waits for nothing. */
export function checkRemoval(options: Record<string, unknown>): void {
  checkBooleans(options, "recursive", "force");
  for (const [name, most] of [
    ["maxRetries", 2 ** 32 - 1],
    ["retryDelay", 2 ** 31 - 1],
  ] as const) {
    if (options[name] !== undefined) whole(`options.${name}`, options[name], 0, most);
  }
}

/** The last argument of `access` and `copyFile`. */
export function bitsOf(mode: unknown): number {
  if (mode === undefined || mode === null) return 0;
  if (typeof mode !== "number") {
    throw wrongArgument("ERR_INVALID_ARG_TYPE", "mode must be int32 or null/undefined");
  }
  if (mode >= 0 && mode <= 7) return mode;
  throw wrongArgument("ERR_OUT_OF_RANGE", "mode is out of range: >= 0 && <= 7");
}
