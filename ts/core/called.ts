// A call with nothing but the options of every call: they are read, then the call is started.

import type { CallOptions, Failure } from "../types.js";
import { limitOf, NOT_BEGUN, settled, type Unpack } from "./call.js";
import { callOptions, refused } from "./checks.js";

/** Starts a call with its limit of time; wrong options are an error result. */
export function called<T>(
  options: CallOptions | undefined,
  start: (limit: number) => number,
  unpack: Unpack<T>,
): Promise<T | Failure> {
  let read: CallOptions | undefined;
  const refusal = refused(() => {
    read = callOptions(options);
  });
  if (refusal) return Promise.resolve(refusal);
  if (read?.signal?.aborted) return Promise.resolve({ ...NOT_BEGUN });
  return settled(() => start(limitOf(read)), unpack, read);
}
