// One directory as it was when it was last looked at: its names in the order of a walk, and of each file
// what its set was made from. It does not know when it must be looked at again.

import { told } from "../walk.js";
import type { Watcher } from "./ears.js";
import type { Asked } from "./grams.js";

type Stats = import("node:fs").Stats;

/**
 * What is known of an entry: a directory; a file's set; that it is always read (`ALWAYS`), or never, for
 * its name (`BINARY`), or a link (`LINK`); undefined for a file without a set.
 */
export type Known = Dir | string | typeof LINK | typeof BINARY | undefined;

export const LINK = 0;
export const BINARY = 1;
/** No set: of a file that was changed in a way of which no watcher tells. */
export const ALWAYS = "";

/** Numbers that tell versions of a file, or of a directory, apart. */
const STAMP = 4;
/** Those of the directory come first: when it was listed, and when its watcher was made. */
const WATCHED = STAMP;
const FILES = 2 * STAMP;
/** Most names of changed files to keep, and how many are applied one by one. */
const HEARD = 10_000;
const FEW = 16;
/**
 * Milliseconds after a change within which another one may have the same time: the step of the clock of any
 * file system, with room to spare.
 */
const STEP_MS = 2_000;

/** Whether a change of what has this time may have no other time. */
export function isRacy(stats: Stats): boolean {
  const age = Date.now() - stats.ctimeMs;
  // Also after the clock was set back.
  return age < STEP_MS;
}

function unknown(numbers: number): number[] {
  return new Array<number>(numbers).fill(Number.NaN);
}

/** What the directories of a tree have in common. */
export interface Common {
  /** Those with changes that were heard. */
  readonly dirty: Set<Dir>;
  /** How many have a watcher. */
  watched: number;
}

/** Shared by the directories that have none below them, which are most. */
const NONE: readonly Dir[] = [];

export class Dir {
  /** Its path without links. */
  readonly real: string;
  /** Sorted; those of directories end with a slash. */
  names: string[] = [];
  known: Known[] = [];
  /** The directories among them. */
  dirs: readonly Dir[] = NONE;
  readonly #common: Common;
  /**
   * Of the directory, and of each file when its set was made: inode, size, times. `NaN` if unknown. A typed array would
   * take 140 bytes more.
   */
  #stamps = unknown(FILES);
  /** Changes that were heard and are not applied yet; `all` if it is not known which. */
  heard: Set<string> | "all" | undefined;
  /** Whether something else than contents was changed. */
  #other = false;
  /** Grows with each change, so that who reads files over several turns finds out. */
  edition = 0;
  /** Whether files in it have several names, so that some changes are not heard. */
  shares = false;
  /** Whether it is no longer part of the tree. */
  gone = false;
  #watcher: Watcher | undefined;

  constructor(real: string, common: Common) {
    this.real = real;
    this.#common = common;
  }

  /** Whether its names are still those that were listed. */
  isListed(now: Stats): boolean {
    return this.#is(0, now.ino, now.dev, now.mtimeMs, now.ctimeMs);
  }

  get hasWatcher(): boolean {
    return this.#watcher !== undefined;
  }

  /** Whether this directory is the one that is watched. A new one may have the inode of an old one. */
  isWatched(now: Stats): boolean {
    return this.hasWatcher && this.#is(WATCHED, now.ino, now.dev, now.birthtimeMs, 0);
  }

  /** Takes a watcher of the directory with these metadata. */
  watch(watcher: Watcher, itself: Stats): void {
    this.#watcher = watcher;
    this.#common.watched += 1;
    this.#put(WATCHED, itself.ino, itself.dev, itself.birthtimeMs, 0);
  }

  unwatch(): void {
    if (this.#watcher === undefined) return;
    this.#watcher.close();
    this.#watcher = undefined;
    this.#common.watched -= 1;
  }

  /** Takes a new list of names, and keeps what is known of those that are not in `heard`. */
  take(itself: Stats | undefined, names: string[], kind: (name: string) => Known): Dir[] {
    const { names: before, known, heard } = this;
    const stamps = this.#stamps;
    const old = new Map(before.map((name, at) => [name, at]));
    const added: Dir[] = [];
    this.#stamps = unknown(FILES + names.length * STAMP);
    this.#copy(stamps, WATCHED, WATCHED);
    this.known = names.map((name, at) => {
      const was = old.get(name);
      const fresh = kind(name);
      const plain = name.endsWith("/") ? name.slice(0, -1) : name;
      const has = was === undefined ? undefined : known[was];
      const kept = was !== undefined && heard !== "all" && !heard?.has(plain);
      if (kept && (has instanceof Dir ? fresh instanceof Dir : fresh === undefined)) {
        if (!(has instanceof Dir) && (has === LINK || has === BINARY)) return fresh;
        old.delete(name);
        this.#copy(stamps, FILES + was * STAMP, FILES + at * STAMP);
        return has;
      }
      if (fresh instanceof Dir) added.push(fresh);
      return fresh;
    });
    for (const at of old.values()) {
      const left = known[at];
      if (left instanceof Dir) left.drop();
    }
    const dirs = this.known.filter((is) => is instanceof Dir);
    this.dirs = dirs.length > 0 ? dirs : NONE;
    this.names = names;
    // The names of a directory that changes right now may change again within a step of its clock.
    if (itself && !isRacy(itself)) {
      this.#put(0, itself.ino, itself.dev, itself.mtimeMs, itself.ctimeMs);
    }
    this.heard = undefined;
    this.#other = false;
    this.edition += 1;
    return added;
  }

  /** Keeps for later that a name was changed; without a name, anything may have been. */
  hear(kind: string, name: string | null): void {
    if (this.gone || (name !== null && !told(name))) return;
    this.#common.dirty.add(this);
    const { heard } = this;
    this.edition += 1;
    if (kind !== "change") this.#other = true;
    if (name === null || heard === "all" || (heard?.size ?? 0) >= HEARD) this.heard = "all";
    else this.heard = (heard ?? new Set()).add(name);
  }

  /** Applies changes of the contents of a few files; false if the directory must be listed for others. */
  applies(): boolean {
    const { heard } = this;
    if (heard === undefined) return true;
    if (this.#other || heard === "all" || heard.size > FEW) return false;
    for (const name of heard) {
      const at = this.names.indexOf(name);
      if (at < 0) return false;
      if (this.known[at] !== BINARY && this.known[at] !== LINK) this.known[at] = undefined;
    }
    this.heard = undefined;
    this.edition += 1;
    return true;
  }

  /** Keeps the set of a file that was read with these metadata. */
  learn(at: number, set: string, stats: Stats): void {
    this.known[at] = set;
    this.#put(FILES + at * STAMP, stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs);
    if (stats.nlink > 1) this.shares = true;
  }

  /** Finds out whether one of these inodes is a file whose set is known. */
  findShared(inodes: ReadonlySet<number>): void {
    this.shares ||= this.known.some(
      (is, at) => typeof is === "string" && inodes.has(this.#stamps[FILES + at * STAMP] as number),
    );
  }

  /** Whether a file is as it was when its set was made. */
  isUnchanged(at: number, now: Stats): boolean {
    return this.#is(FILES + at * STAMP, now.ino, now.size, now.mtimeMs, now.ctimeMs);
  }

  #put(from: number, one: number, two: number, three: number, four: number): void {
    const stamps = this.#stamps;
    stamps[from] = one;
    stamps[from + 1] = two;
    stamps[from + 2] = three;
    stamps[from + 3] = four;
  }

  #copy(stamps: readonly number[], from: number, to: number): void {
    for (let n = 0; n < STAMP; n++) this.#stamps[to + n] = stamps[from + n] as number;
  }

  #is(from: number, one: number, two: number, three: number, four: number): boolean {
    const stamps = this.#stamps;
    return (
      stamps[from] === one &&
      stamps[from + 1] === two &&
      stamps[from + 2] === three &&
      stamps[from + 3] === four
    );
  }

  /** It is not part of the tree any more, nor what is below. */
  drop(): void {
    this.gone = true;
    this.unwatch();
    for (const dir of this.dirs) dir.drop();
  }

  /** The directory and all below it. */
  all(found: Dir[] = []): Dir[] {
    found.push(this);
    for (const dir of this.dirs) dir.all(found);
    return found;
  }
}

/** Whether a search must read a file: all that were not excluded by their sets. */
export function isWanted(known: Known, asked: Asked | undefined): boolean {
  if (typeof known !== "string") return known === LINK || known === undefined;
  // `ALWAYS` and `NOTHING` are shorter than any set. Comparing texts would take longer.
  if (known.length < 2) return known === ALWAYS;
  return asked === undefined || asked.of(known);
}
