// Runs something again and again: some time after each run, later and later while runs fail, and not while
// the host says that it is offline.

import { after } from "../core/after.js";

/** The longest pause after runs that failed, in milliseconds. */
const LONGEST_MS = 600_000;
/** The part of a pause that chance decides, so that many do not all come back at once. */
const CHANCE = 0.2;

/** What a run comes to. */
interface Outcome {
  error?: string;
  code?: string;
}

/** What hosts with a network say about it; others say nothing. */
const host = globalThis as {
  navigator?: { onLine?: boolean };
  addEventListener?(event: "online", heard: () => void): void;
  removeEventListener?(event: "online", heard: () => void): void;
};

/** Failures that come again however often it is tried. */
const FINAL = ["invalid_argument", "unsupported"];

/**
 * Runs at once and then every `everyMs` milliseconds, one after another. Returns what ends it: that breaks
 * off a run, and its promise waits for the end of it.
 */
export function again<T extends Outcome>(
  run: (signal: AbortSignal) => Promise<T>,
  everyMs: number,
  told: (outcome: T) => unknown,
): () => Promise<void> {
  const ended = new AbortController();
  /** Ends the pause. */
  let wake = () => {};
  const online = () => wake();
  host.addEventListener?.("online", online);

  const pause = (ms: number | undefined) =>
    new Promise<void>((resolve) => {
      const timer = ms === undefined ? undefined : after(ms, resolve);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (ended.signal.aborted) wake();
    });

  const all = async () => {
    for (let failures = 0; !ended.signal.aborted; ) {
      // A browser that is offline for certain says when it is no more.
      if (host.navigator?.onLine === false && host.addEventListener) {
        await pause(undefined);
        continue;
      }
      const outcome = await run(ended.signal);
      if (ended.signal.aborted) return;
      failures = outcome.error === undefined ? 0 : failures + 1;
      try {
        await told(outcome);
      } catch (error) {
        // The listener's own mistake is none of these runs.
        void Promise.reject(error);
      }
      if (FINAL.includes(outcome.code ?? "")) return;
      const most = Math.max(everyMs, LONGEST_MS);
      const wait = Math.min(most, everyMs * 2 ** Math.max(0, failures - 1));
      await pause(failures === 0 ? wait : wait * (1 - CHANCE * Math.random()));
    }
  };
  const done = all().finally(() => host.removeEventListener?.("online", online));
  return () => {
    ended.abort();
    wake();
    return done;
  };
}
