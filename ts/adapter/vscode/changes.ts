// `onDidChangeFile` and `watch`: what the backend tells of, or else what is changed through this object and
// fs objects over the same backend. VS Code wants to know what came and went, so each path is looked at.

import { later } from "../fs/steps.js";
import { isAt, type Tree } from "../fs/tree.js";
import { listen } from "../fs/watch.js";
import { leavesOut, pathOf } from "./globs.js";
import type { Disposable, FileChange, Provider, UriLike } from "./names.js";
import type { Seen } from "./seen.js";

/** `FileChangeType`. */
const WAS = { changed: 1, created: 2, deleted: 3 } as const;

export class Changes<U extends UriLike> {
  readonly #listeners = new Set<(changes: FileChange<U>[]) => unknown>();
  /** Paths to look at, each with a `Uri` of its watcher. */
  #told = new Map<string, U>();
  #looking = false;

  constructor(
    readonly tree: Tree,
    readonly seen: Seen,
  ) {}

  readonly event: Provider<U>["onDidChangeFile"] = (listener, thisArgs, disposables) => {
    const hear = (changes: FileChange<U>[]) => listener.call(thisArgs, changes);
    this.#listeners.add(hear);
    const end = { dispose: () => void this.#listeners.delete(hear) };
    disposables?.push(end);
    return end;
  };

  watch(uri: U, { recursive, excludes }: Parameters<Provider<U>["watch"]>[1]): Disposable {
    const dir = pathOf(uri);
    const out = leavesOut(dir, excludes ?? []);
    const below = dir === "/" ? 1 : dir.length + 1;
    const isTold = (path: string) =>
      isAt(path, dir) && (recursive || !path.slice(below).includes("/")) && !out(path);
    const hear = (path: string | null) => {
      // Nobody knows what has changed: all that VS Code knows may have.
      for (const one of path === null ? [dir, ...this.seen.paths()] : [path]) {
        if (isTold(one)) this.#told.set(one, uri);
      }
      if (this.#told.size > 0) this.#look();
    };
    return { dispose: listen(this.tree, dir, hear) };
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      while (this.#told.size > 0) {
        // All watchers of a path are told of it at once.
        await undefined;
        const told = this.#told;
        this.#told = new Map();
        const changes: FileChange<U>[] = [];
        for (const [path, uri] of told) {
          const type = await this.#typeOf(path);
          if (type !== undefined) changes.push({ type, uri: uri.with({ path }) as U });
        }
        if (changes.length > 0) this.#fire(changes);
      }
    } finally {
      this.#looking = false;
    }
  }

  #fire(changes: FileChange<U>[]): void {
    for (const hear of [...this.#listeners]) {
      try {
        hear(changes);
      } catch (error) {
        // An uncaught error of the host; the others are told nevertheless.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  async #typeOf(path: string): Promise<number | undefined> {
    try {
      if (await later(this.tree.find(path))) {
        const known = this.seen.has(path);
        this.seen.named(path);
        return known || path === "/" ? WAS.changed : WAS.created;
      }
    } catch {
      // A rule hides it, or the backend does not answer.
      return this.seen.has(path) ? WAS.changed : undefined;
    }
    this.seen.gone(path);
    return WAS.deleted;
  }
}
