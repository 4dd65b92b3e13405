// A call that is no operation of the protocol: its options are read, then its message is packed and it is
// started.

import type { CallOptions, Failure } from "../types.js";
import { limitOf, NOT_BEGUN, settled, type Unpack } from "./call.js";
import { callOptions, optionNames, refused } from "./checks.js";
import { begin, finish, sent } from "./message.js";

/**
 * Starts a call with its limit of time and the length of the message that `write` packs; wrong options
 * are an error result. `own` names those that it has beside the options of every call. Nothing of the
 * caller's runs after `write`.
 */
export function called<T>(
  options: CallOptions | undefined,
  start: (limit: number, length: number) => number,
  unpack: Unpack<T>,
  own: readonly string[] = [],
  write?: () => void,
): Promise<T | Failure> {
  let read: CallOptions | undefined;
  let length = 0;
  const refusal = refused(() => {
    optionNames(own, options);
    read = callOptions(options);
    if (!write || read?.signal?.aborted) return;
    begin();
    write();
    length = finish();
    sent();
  });
  if (refusal) return Promise.resolve(refusal);
  if (read?.signal?.aborted) return Promise.resolve({ ...NOT_BEGUN });
  return settled(() => start(limitOf(read), length), unpack, read);
}
