// How much a client may have going on at once, and for how long.

import type { Incoming } from "./served.js";

/** Counts the calls of each client that are running. */
export class Running {
  readonly #each = new Map<string, number>();

  constructor(readonly most: number) {}

  /** Number of clients with calls. */
  get clients(): number {
    return this.#each.size;
  }

  /** Takes a place; returns what gives it back, once, or undefined if there is none. */
  enter(client: string): (() => void) | undefined {
    const running = this.#each.get(client) ?? 0;
    if (running >= this.most) return undefined;
    this.#each.set(client, running + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const now = (this.#each.get(client) ?? 1) - 1;
      if (now > 0) this.#each.set(client, now);
      else this.#each.delete(client);
    };
  }
}

/**
 * A signal that aborts when that of a request does, or after a time; `end` frees both. What `stays` goes on when the
 * client has gone.
 */
export function within({ signal, abort: own }: Incoming, timeoutMs: number, stays: boolean) {
  if (own && !stays) {
    const timer = setTimeout(own, timeoutMs);
    return { signal, end: () => clearTimeout(timer) };
  }
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, timeoutMs);
  if (signal.aborted && !stays) abort();
  if (!stays) signal.addEventListener("abort", abort);
  const end = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  };
  return { signal: controller.signal, end };
}
