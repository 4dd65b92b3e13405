// Words between tabs: after each change a backend says which files are others now, and whoever
// watches the same files in another tab hears it. Without BroadcastChannel nobody hears
// anything, and everything else works.

/** What a watcher is told. */
export interface FileChanges {
  /** Files that were written, edited or deleted, in another tab or by another backend of this one. */
  paths: string[];
}

/** The words of one set of files. */
export class Changes {
  readonly #name: string;
  readonly #watchers = new Set<(changes: FileChanges) => void>();
  #channel: BroadcastChannel | undefined;

  /** Backends that give the same name hear each other. */
  constructor(name: string) {
    this.#name = name;
  }

  /** Says that these files were changed here. */
  readonly tell = (paths: string[]): void => {
    this.#open()?.postMessage(paths);
  };

  /** Calls `callback` at each change that is made elsewhere, until the answer is called. */
  watch(callback: (changes: FileChanges) => void): () => void {
    if (typeof callback !== "function") {
      throw new TypeError("watch(callback): callback must be a function");
    }
    // Each call is a subscription of its own, even of the same function.
    const watcher = (changes: FileChanges) => callback(changes);
    this.#watchers.add(watcher);
    this.#listen();
    return () => {
      this.#watchers.delete(watcher);
      this.#listen();
    };
  }

  #open(): BroadcastChannel | undefined {
    if (!this.#channel && typeof BroadcastChannel === "function") {
      this.#channel = new BroadcastChannel(this.#name);
      // Where a host counts open channels (Node, under test), this one does not keep it alive.
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
