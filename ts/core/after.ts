// Timers with a duration from the caller. Hosts support at most 2^31 - 1 ms and treat more as 1 ms,
// so a limit of weeks, or `Infinity`, would end a call at once.

/** The longest timer of hosts, nearly 25 days. */
const LONGEST = 2 ** 31 - 1;

/** Calls back after `millis`; undefined, without a timer, if hosts cannot wait that long. */
export function after(millis: number, call: () => void): ReturnType<typeof setTimeout> | undefined {
  return millis > LONGEST ? undefined : setTimeout(call, millis);
}
