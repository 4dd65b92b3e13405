// A call that is no operation of the protocol: its options are read, then it is started.

import type { CallOptions, Failure } from "../types.js";
import { limitOf, NOT_BEGUN, settled, type Unpack } from "./call.js";
import { callOptions, optionNames, refused } from "./checks.js";

/**
 * Starts a call with its limit of time; wrong options are an error result. `own` names those that it has
 * beside the options of every call.
 */
export function called<T>(
  options: CallOptions | undefined,
  start: (limit: number) => number,
  unpack: Unpack<T>,
  own: readonly string[] = [],
): Promise<T | Failure> {
  let read: CallOptions | undefined;
  const refusal = refused(() => {
    optionNames(own, options);
    read = callOptions(options);
  });
  if (refusal) return Promise.resolve(refusal);
  if (read?.signal?.aborted) return Promise.resolve({ ...NOT_BEGUN });
  return settled(() => start(limitOf(read)), unpack, read);
}
