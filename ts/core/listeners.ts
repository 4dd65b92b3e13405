// Who listens to changes of files, and what is told to them. Changes are collected for a moment, so
// that a burst is one call; with too many at once, or where some may have been missed, listeners are
// asked to list the files again.

import { isOwn } from "./own.js";
import { canonical } from "./paths.js";

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

const lost = new WeakMap<FileChanges, string[]>();

/** The directories in which changes may have been missed, if no other is concerned. */
export const lostIn = (changes: FileChanges): string[] | undefined => lost.get(changes);

/** The same changes; some may have been missed in these directories only. */
export function missedIn(changes: FileChanges, directories: string[] | undefined): FileChanges {
  if (directories) lost.set(changes, directories);
  return changes;
}

/** Changes are collected for so many milliseconds. */
const COLLECT_MS = 10;
/** With more changes at once, a rescan is told: it costs less, and the host's queue may have run over. */
const EVENTS = 1_000;
/** With more directories in which changes were missed, all are concerned. */
const PLACES = 100;

/**
 * What a `watch` was given, with a function of its own for each call, which does not throw: the same
 * callback may listen twice. The path has no `/` at its end, so the root is the empty text.
 */
export function listener(first: unknown, second: unknown): { path: string; hear: Heard } {
  const [given, callback] = typeof first === "string" ? [first, second] : ["/", first];
  if (typeof callback !== "function") {
    throw new TypeError("watch(path, callback): callback must be a function");
  }
  const path = canonical(given).replace(/\/$/, "");
  const under = (one: string, other: string) => one === other || one.startsWith(`${other}/`);
  const hear: Heard = (changes) => {
    const own = changes.paths.filter((one) => under(one, path) && !isOwn(one));
    const places = lostIn(changes)?.filter((one) => under(one, path) || under(path, one));
    const rescan = places?.length !== 0 && changes.rescan;
    if (!rescan && own.length === 0) return;
    try {
      callback(rescan ? missedIn({ paths: own, rescan }, places) : { paths: own });
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
  /** Directories in which changes may have been missed; undefined if all may be concerned. */
  #lost: Set<string> | undefined = new Set();
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

  /** Changes may have been missed: in a directory, or anywhere. */
  missed(directory?: string): void {
    if (directory === undefined || (this.#lost?.size ?? 0) >= PLACES) this.#lost = undefined;
    else this.#lost?.add(directory);
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
    const [found, lost] = [[...this.#found], this.#lost];
    this.#found = new Set();
    this.#events = 0;
    this.#lost = new Set();
    if (lost?.size === 0) return { paths: found };
    return missedIn({ paths: lost ? found : [], rescan: true }, lost && [...lost]);
  }
}
