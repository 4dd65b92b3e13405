// Timers that a caller sets. A host counts at most 2^31 - 1 milliseconds and takes whatever is more
// for one: a limit of weeks, or none at all, would end a call at once.

/** The longest wait that hosts know, nearly 25 days. */
const LONGEST = 2 ** 31 - 1;

/** Calls back after so long; there is no timer where that is longer than any host can wait. */
export function after(millis: number, call: () => void): ReturnType<typeof setTimeout> | undefined {
  return millis > LONGEST ? undefined : setTimeout(call, millis);
}
