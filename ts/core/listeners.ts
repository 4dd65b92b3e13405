// Who listens to changes of files, and what is told to them. Changes are collected for a moment, so
// that a burst is one call; with too many at once, or where some may have been missed, listeners are
// asked to list the files again.

import { isOwn } from "./own.js";

/** Argument of a watcher. */
export interface FileChanges {
  /**
   * Files that were written, edited, moved or deleted: in a browser by another tab, or another backend
   * of this one; in a folder, a database or a bucket by anybody, also by this backend.
   */
  paths: string[];
  /** Present if changes may have been missed: list the files again. `paths` may then be empty. */
  rescan?: true;
}

/** Is called with changes. */
export type Heard = (changes: FileChanges) => void;

/** Calls back after changes of files; the returned function ends that. */
export interface Watch {
  /** Changes of all files. */
  (callback: (changes: FileChanges) => void): () => void;
  /** Changes of the file at `path`, or of the files below it. */
  (path: string, callback: (changes: FileChanges) => void): () => void;
}

/** A `watch`, and whether it tells of all files. */
type Watching = Watch & { whole?: boolean };

const watches = new WeakMap<object, Watching>();

/** Gives an object its `watch`, which is no property of its own, so that proxies may wrap it. */
export function addWatch(object: object, watch: Watch, whole = true): void {
  watches.set(object, Object.assign(watch, { whole }));
}

/** The `watch` of an object that has one. */
export const watchOf = (object: object): Watching | undefined => watches.get(object);

/** Changes are collected for so many milliseconds. */
const COLLECT_MS = 10;
/** With more changes at once, a rescan is told: it costs less, and the host's queue may have run over. */
const EVENTS = 1_000;

/**
 * What a `watch` was given, with a function of its own for each call, which does not throw: the same
 * callback may listen twice. The path has no `/` at its end, so the root is the empty text.
 */
export function listener(first: unknown, second: unknown): { path: string; hear: Heard } {
  const [given, callback] = typeof first === "string" ? [first, second] : ["/", first];
  if (typeof callback !== "function") {
    throw new TypeError("watch(path, callback): callback must be a function");
  }
  const path = `/${given}`.replace(/\/+/g, "/").replace(/\/$/, "");
  const hear: Heard = ({ paths, rescan }) => {
    const inside = paths.filter(
      (one) => (one === path || one.startsWith(`${path}/`)) && !isOwn(one),
    );
    if (!rescan && inside.length === 0) return;
    try {
      callback(rescan ? { paths: inside, rescan } : { paths: inside });
    } catch (error) {
      // An uncaught error, as of a listener of the host, and the others hear of the change.
      queueMicrotask(() => {
        throw error;
      });
    }
  };
  return { path, hear };
}

/** All listeners of one backend. */
export class Listeners {
  readonly #all = new Set<Heard>();
  readonly #begin: () => void;
  readonly #end: () => void;
  #found = new Set<string>();
  #events = 0;
  #lost = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `begin` is called for the first listener, `end` after the last one. */
  constructor(begin: () => void, end: () => void) {
    this.#begin = begin;
    this.#end = end;
  }

  /** Adds a listener; the returned function removes it. */
  readonly add: Watch = (first: unknown, second?: unknown) => {
    const { hear } = listener(first, second);
    if (this.#all.size === 0) this.#begin();
    this.#all.add(hear);
    return () => {
      if (this.#all.delete(hear) && this.#all.size === 0) this.close();
    };
  };

  /** Removes all listeners. */
  close(): void {
    this.#all.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#take();
    this.#end();
  }

  /** A file was changed. */
  note(path: string): void {
    this.#events += 1;
    if (this.#events > EVENTS) this.missed();
    else this.#found.add(path);
    this.#later();
  }

  /** Changes may have been missed. */
  missed(): void {
    this.#lost = true;
    this.#later();
  }

  #later(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const changes = this.#take();
      for (const hear of [...this.#all]) hear(changes);
    }, COLLECT_MS);
  }

  #take(): FileChanges {
    const changes: FileChanges = this.#lost
      ? { paths: [], rescan: true }
      : { paths: [...this.#found] };
    this.#found = new Set();
    this.#events = 0;
    this.#lost = false;
    return changes;
  }
}
