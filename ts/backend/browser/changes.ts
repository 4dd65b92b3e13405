// Change notifications to other tabs: after each change a backend announces the changed files, and
// watchers of the same files in other tabs are called. Without BroadcastChannel there are no
// notifications, and everything else works.

/** Argument of a watcher. */
export interface FileChanges {
  /**
   * Files that were written, edited or deleted: in a browser by another tab, or another backend of this
   * one; in a folder by anybody, also by this backend.
   */
  paths: string[];
  /** Present if changes may have been missed: list the files again. `paths` may then be empty. */
  rescan?: true;
}

/** The notifications about one set of files. */
export class Changes {
  readonly #name: string;
  readonly #watchers = new Set<(changes: FileChanges) => void>();
  #channel: BroadcastChannel | undefined;

  /** Backends with the same name notify each other. */
  constructor(name: string) {
    this.#name = name;
  }

  /** Announces that these files were changed here. */
  readonly tell = (paths: string[]): void => {
    this.#open()?.postMessage(paths);
  };

  /** Calls `callback` at each change made elsewhere. The returned function stops that. */
  watch(callback: (changes: FileChanges) => void): () => void {
    if (typeof callback !== "function") {
      throw new TypeError("watch(callback): callback must be a function");
    }
    // A new function for each call, so that the same callback can be registered twice.
    const watcher = (changes: FileChanges) => callback(changes);
    this.#watchers.add(watcher);
    this.#listen();
    return () => {
      this.#watchers.delete(watcher);
      this.#listen();
    };
  }

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
