// How much a client may have going on at once.

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

/** A signal that aborts when another one does, or after a time; `end` frees both. */
export function within(signal: AbortSignal, timeoutMs: number, stays: boolean) {
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
