// Change notifications to other tabs: after each change a backend announces the changed files, and
// watchers of the same files in other tabs are called. Without BroadcastChannel there are no
// notifications, and everything else works.

import { type Heard, listener, type Watch } from "../../core/listeners.js";

/** The notifications about one set of files. */
export class Changes {
  readonly #name: string;
  readonly #watchers = new Set<Heard>();
  #channel: BroadcastChannel | undefined;

  /** Backends with the same name notify each other. */
  constructor(name: string) {
    this.#name = name;
  }

  /** Announces that these files were changed here. */
  readonly tell = (paths: string[]): void => {
    this.#open()?.postMessage(paths);
  };

  /** Calls back at each change made elsewhere. The returned function stops that. */
  readonly watch: Watch = (first: unknown, second?: unknown) => {
    const { hear } = listener(first, second);
    this.#watchers.add(hear);
    this.#listen();
    return () => {
      this.#watchers.delete(hear);
      this.#listen();
    };
  };

  /** Calls no watcher any more, and frees the channel. */
  close(): void {
    this.#watchers.clear();
    this.#channel?.close();
    this.#channel = undefined;
  }

  #open(): BroadcastChannel | undefined {
    if (!this.#channel && typeof BroadcastChannel === "function") {
      this.#channel = new BroadcastChannel(this.#name);
      // In Node an open channel must not keep the process alive.
      (this.#channel as { unref?: () => void }).unref?.();
    }
    return this.#channel;
  }

  #listen(): void {
    const channel = this.#watchers.size > 0 ? this.#open() : this.#channel;
    if (!channel) return;
    channel.onmessage = this.#watchers.size === 0 ? null : (event) => this.#heard(event.data);
  }

  #heard(paths: unknown): void {
    if (!Array.isArray(paths)) return;
    for (const watcher of [...this.#watchers]) watcher({ paths: paths.map(String) });
  }
}
