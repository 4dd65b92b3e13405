// Changes in a store that reports none: it is listed from time to time, and what differs from the
// list before is told. Two changes between two lists are told as one.

import type { Options } from "../core/checks.js";
import { type Heard, listener, type Watch } from "../core/listeners.js";
import type { GlobResult } from "../types.js";

/** Shortest time between two lists, in milliseconds; also what a coarse clock counts in. */
const LEAST_MS = 1_000;

/** The files of a list: what tells one state of a file from another. */
type Seen = Map<string, string>;

/** Reads the option `watchEveryMs`. */
export function pollingTime(given: Options): number | undefined {
  const every = given.amount("watchEveryMs");
  if (every !== undefined && every < LEAST_MS) {
    given.refuse("watchEveryMs", `at least ${LEAST_MS}`, every);
  }
  return every;
}

/** Lists the files below the path of each listener. */
export class Polling {
  readonly #list: (path: string) => Promise<GlobResult>;
  readonly #everyMs: number;
  readonly #ends = new Set<() => void>();

  constructor(list: (path: string) => Promise<GlobResult>, everyMs: number) {
    this.#list = list;
    this.#everyMs = everyMs;
  }

  /** Adds a listener; the returned function removes it. */
  readonly add: Watch = (first: unknown, second?: unknown) => {
    const { path, hear } = listener(first, second);
    const stop = this.#follow(path, hear);
    const end = () => {
      stop();
      this.#ends.delete(end);
    };
    this.#ends.add(end);
    return end;
  };

  /** Removes all listeners. */
  close(): void {
    for (const end of this.#ends) end();
  }

  #follow(path: string, hear: Heard): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let ended = false;
    let failed = false;
    let before: Seen | undefined;
    let unsure = new Set<string>();
    const look = async () => {
      const began = performance.now();
      const { files = [], error, truncated } = await this.#list(path || "/");
      if (ended) return;
      if (error !== undefined) {
        // The listener is told once, so that it meets the error itself. No change is lost.
        if (!failed) hear({ paths: [], rescan: true });
      } else {
        const times = files.map((file) => Date.parse(file.modified_at ?? ""));
        const seen: Seen = new Map(
          files.map((file) => [file.path, `${file.size} ${file.modified_at}`]),
        );
        if (!before || truncated) hear({ paths: [], rescan: true });
        else hear({ paths: differing(before, seen, unsure) });
        const newest = times.reduce((a, b) => Math.max(a, b || 0), 0);
        // Whole seconds do not tell two changes of one second apart: what was changed in the second
        // of this list, as far as can be seen, may have been changed again after it.
        const since = newest - LEAST_MS - (performance.now() - began);
        unsure = new Set();
        for (const [at, { path }] of files.entries()) {
          const time = times[at] ?? 0;
          const fresh = before?.get(path) !== seen.get(path);
          if (fresh && time % LEAST_MS === 0 && time >= since) unsure.add(path);
        }
        before = seen;
      }
      failed = error !== undefined;
      timer = setTimeout(look, this.#everyMs);
      (timer as { unref?: () => void }).unref?.();
    };
    void look();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }
}

/** Files that are new, gone or changed, or may have been changed after the list before. */
function differing(before: Seen, now: Seen, unsure: Set<string>): string[] {
  const changed = [...now].flatMap(([path, state]) =>
    before.get(path) !== state || unsure.has(path) ? [path] : [],
  );
  return [...changed, ...[...before.keys()].filter((path) => !now.has(path))];
}
