// What is kept of a folder between searches: which files there are, and sets of what is in them. It is made
// after the first search, a few milliseconds at a time, and given up when nobody searches any more. Each
// search first makes sure of what changed: it waits for a fence and applies what was heard; where changes
// cannot be heard, it asks for the metadata of everything.

import type { Place } from "../place.js";
import { Turns } from "../turns.js";
import { Ears } from "./ears.js";
import { Fill } from "./fill.js";
import { Leisure, Searches, unref } from "./leisure.js";
import { type Pace, Tree, Unfit } from "./tree.js";

type NodeFs = typeof import("node:fs");

/** Most bytes of sets, of all files of a folder. */
const SETS = 64 << 20;
/** After so many milliseconds everything is asked for its metadata, for changes that no watcher tells. */
const FRESH_MS = 30_000;
/** How often to do that between searches, in milliseconds, and for how long after the last one. */
const ROUND_MS = 15_000;
const SOON_MS = 60_000;
/** So long after the last search everything is given up, in milliseconds. */
const IDLE_MS = 300_000;
/** When to look again at files that had just changed, in milliseconds. */
const EARLY_MS = 2_500;

/** What a folder lends. */
export interface Lent {
  readonly fs: NodeFs;
  /** The folder, in which links are refused. */
  readonly place: Place;
  readonly maxBytes: number;
  isBinary(name: string): boolean;
}

/** Why a search reads everything. */
const NOT_YET = "not yet";
const CLOSED = "closed";

/** By folder and limit: backends of one folder share what they keep. */
const all = new Map<string, Warm>();

export class Warm {
  readonly #lent: Lent;
  readonly #key: string;
  readonly searches = new Searches();
  #users = 0;
  #tree: Tree | undefined;
  /** Why there is no tree; empty if there is one, or soon. */
  #off = NOT_YET;
  /** Whether every directory was listed. */
  #listed = false;
  #compared = 0;
  #searched = 0;
  #lost = 0;
  #settled = false;
  #working = false;
  /** Whether a search has asked what files hold: for their names alone they need not be read. */
  #asked = false;
  #round: ReturnType<typeof setInterval> | undefined;

  /** What is kept of a folder, for one more user, who closes it. */
  static of(rootDir: string, lent: Lent): Warm {
    const key = `${lent.maxBytes} ${rootDir}`;
    const warm = all.get(key) ?? new Warm(key, lent);
    all.set(key, warm);
    warm.#users += 1;
    return warm;
  }

  private constructor(key: string, lent: Lent) {
    this.#key = key;
    this.#lent = lent;
  }

  /** What is known now, all changes before this call included; undefined if everything is to be read. */
  async ready(): Promise<Tree | undefined> {
    this.#searched = performance.now();
    this.searches.begin();
    if (this.#tree === undefined) {
      if (this.#off === NOT_YET) this.#begin();
      return undefined;
    }
    return this.#listed ? this.#settle() : undefined;
  }

  /** Says that a search asks what files hold, so that their sets are worth being made. */
  asks(): void {
    if (this.#asked) return;
    this.#asked = true;
    if (this.#tree) unref(setImmediate(() => void this.#work()));
  }

  /** The same for a search that has called `ready` before. */
  get now(): Tree | undefined {
    return this.#settled ? this.#tree : undefined;
  }

  /** What is used, in words. */
  get says(): string {
    const tree = this.#listed ? this.#tree : undefined;
    if (!tree) return `Searches read every file (${this.#off || NOT_YET}).`;
    const { files, bytes } = tree.size();
    const how = tree.ears ? "watchers" : "metadata";
    return `Searches read only files that may match: ${files} files, ${bytes} bytes of sets, changes known by ${how}.`;
  }

  #begin(): void {
    this.#off = "";
    void this.searches.none().then(() => this.#work());
  }

  /** Lists the folder, and makes the sets that are missing if they are asked for. */
  async #work(): Promise<void> {
    if (this.#working) return;
    this.#working = true;
    try {
      const pace = new Leisure(this.searches);
      if (this.#tree === undefined) await this.#list(pace);
      const tree = this.#tree;
      if (tree && this.#asked) await this.#fill(tree, pace);
    } catch (error) {
      this.#end(error);
    } finally {
      this.#working = false;
    }
    // Another tree was begun meanwhile.
    if (this.#tree === undefined && this.#off === "") void this.#work();
  }

  async #list(pace: Pace): Promise<void> {
    const { fs, place, isBinary } = this.#lent;
    const real = await place.root();
    // It was closed meanwhile.
    if (this.#off !== "") return;
    if (real === undefined) {
      this.#off = NOT_YET;
      return;
    }
    if (real === "/") throw new Unfit("it is everything that the system has");
    const tree = new Tree(fs, place, real, isBinary);
    tree.ears = Ears.open(fs);
    this.#lost = tree.ears?.lost ?? 0;
    this.#tree = tree;
    this.#compared = performance.now();
    await tree.apply(pace);
    if (this.#tree !== tree) return;
    this.#listed = true;
    this.#round = setInterval(() => this.#look(), ROUND_MS);
    unref(this.#round);
  }

  async #fill(tree: Tree, pace: Pace): Promise<void> {
    const { fs, place, maxBytes } = this.#lent;
    const folder = tree.folder();
    const fill = new Fill(fs, folder, place.flags, maxBytes, pace);
    let left = SETS - tree.size().bytes;
    try {
      for (const dir of tree.root.all()) {
        if (this.#tree !== tree) return;
        if (left <= 0) break;
        if (dir.gone || !dir.known.includes(undefined)) continue;
        const before = fill.made;
        await fill.fill(dir);
        left -= fill.made - before;
        if (pace.due) await pace.give();
      }
    } finally {
      folder.close();
    }
    if (fill.early) unref(setTimeout(() => void this.#work(), EARLY_MS));
  }

  async #settle(): Promise<Tree | undefined> {
    const tree = this.#tree;
    if (!tree) return undefined;
    try {
      const pace = new Turns();
      const root = this.#lent.fs.statSync(tree.root.real, { throwIfNoEntry: false });
      if (root === undefined || (tree.ears && !tree.root.isWatched(root))) {
        this.#end(undefined);
        return undefined;
      }
      if (tree.ears && !(await tree.ears.fence())) tree.deafen();
      const changed = tree.isDirty;
      await tree.apply(pace);
      const lost = tree.ears?.lost ?? 0;
      const due =
        !tree.ears || lost !== this.#lost || performance.now() - this.#compared > FRESH_MS;
      if (due) await this.#compare(tree, pace, lost);
      else {
        const shared = tree.root.all().filter(({ shares }) => shares);
        await tree.compare(shared, false, pace);
      }
      if (changed || due) unref(setTimeout(() => void this.#work(), EARLY_MS));
    } catch (error) {
      this.#end(error);
    }
    if (this.#tree !== tree) return undefined;
    this.#settled = true;
    return tree;
  }

  async #compare(tree: Tree, pace: Pace, lost: number): Promise<void> {
    const began = performance.now();
    await tree.compare([tree.root], true, pace);
    this.#compared = began;
    this.#lost = lost;
  }

  /** What is done from time to time. */
  #look(): void {
    const idle = performance.now() - this.#searched;
    if (idle > IDLE_MS) {
      // Whoever forgot to close it does not hold it.
      if (all.get(this.#key) === this) all.delete(this.#key);
      this.#end(undefined);
    }
    const tree = this.#tree;
    if (!tree?.ears || idle > SOON_MS) return;
    this.#compare(tree, new Leisure(this.searches), tree.ears.lost).then(
      () => this.#work(),
      (error) => this.#end(error),
    );
  }

  /** Forgets everything; the next search begins anew unless the folder is unfit. */
  #end(error: unknown): void {
    const tree = this.#tree;
    this.#tree = undefined;
    this.#listed = false;
    this.#settled = false;
    this.#asked = false;
    clearInterval(this.#round);
    tree?.close();
    if (error instanceof Unfit) this.#off = error.message;
    else if (this.#off !== CLOSED) this.#off = NOT_YET;
  }

  /** A user does not need it any more. */
  close(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    if (all.get(this.#key) === this) all.delete(this.#key);
    this.#off = CLOSED;
    this.#end(undefined);
  }
}

/** What a backend holds of it: nothing before its first search. */
export class Share {
  readonly #open: () => Warm;
  #warm: Warm | undefined;
  #closed = false;

  constructor(rootDir: string, lent: Lent) {
    this.#open = () => Warm.of(rootDir, lent);
  }

  get warm(): Warm | undefined {
    if (!this.#closed) this.#warm ??= this.#open();
    return this.#warm;
  }

  /** What is used, in words. */
  get says(): string | undefined {
    return this.#warm?.says;
  }

  close(): void {
    this.#closed = true;
    this.#warm?.close();
    this.#warm = undefined;
  }
}
