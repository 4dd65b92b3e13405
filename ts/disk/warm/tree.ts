// The directories of a folder as they were when they were last looked at, and how they are looked at again:
// because an event was heard, or by asking for the metadata of everything.

import { Folder } from "../folder.js";
import { passOver } from "../host.js";
import { LOCAL, OVERLAY } from "../local.js";
import type { Place } from "../place.js";
import { inOrder, told, walked } from "../walk.js";
import { ALWAYS, BINARY, type Common, Dir, type Known, LINK } from "./dir.js";
import { type Ears, systemLimit } from "./ears.js";
import { NOTHING } from "./grams.js";

type NodeFs = typeof import("node:fs");
type Stats = import("node:fs").Stats;

/** Twice the entries that a folder may have; larger ones are read anew for each search. */
const ENTRIES = 500_000;
/** Most directories with a watcher of their own: each takes memory of the system's. */
const WATCHED = 8_192;

/** Other work gets a turn when it is due. */
export interface Pace {
  readonly due: boolean;
  give(): Promise<void>;
}

/** Why a folder cannot be kept: it is too large, or on a file system that does not tell of changes. */
export class Unfit extends Error {}

export class Tree {
  readonly root: Dir;
  readonly #fs: NodeFs;
  readonly #place: Place;
  readonly #isBinary: (name: string) => boolean;
  /** Watches directories; undefined if all are asked for their metadata. */
  ears: Ears | undefined;
  readonly #common: Common = { dirty: new Set(), watched: 0 };
  readonly #unlisted = new Set<Dir>();
  /** Whether all were listed once. */
  #all = false;
  /** Inodes of new files that have other names. */
  readonly #linked = new Set<number>();
  readonly #devices = new Set<number>();
  readonly #mostWatched: number;
  #entries = 0;

  /** `place` is one in which links are refused, and whose root was resolved. */
  constructor(fs: NodeFs, place: Place, real: string, isBinary: (name: string) => boolean) {
    this.#fs = fs;
    this.#place = place;
    this.#isBinary = isBinary;
    this.root = new Dir(real, this.#common);
    this.#unlisted.add(this.root);
    // The other half is for other programs.
    this.#mostWatched = Math.min(WATCHED, (systemLimit(fs, "max_user_watches") ?? WATCHED) / 2);
  }

  /** Whether changes were heard that are not applied yet. */
  get isDirty(): boolean {
    return this.#common.dirty.size > 0;
  }

  /** Whether every directory was listed. */
  get isWhole(): boolean {
    return this.#unlisted.size === 0;
  }

  folder(place = this.#place): Folder {
    return new Folder(this.#fs, place);
  }

  /** Applies what was heard, and lists what is not listed, until nothing is left. */
  async apply(pace: Pace): Promise<void> {
    const { dirty } = this.#common;
    for (const dir of dirty) if (!dir.applies()) this.#unlisted.add(dir);
    dirty.clear();
    if (this.#unlisted.size === 0) return;
    const folder = this.folder();
    try {
      // Another search may take some of them, and each ends with all listed.
      for (const dir of this.#unlisted) {
        if (dir.gone) this.#unlisted.delete(dir);
        else this.#list(folder, dir);
        if (pace.due) await pace.give();
      }
    } finally {
      folder.close();
    }
    this.#all = true;
    if (this.#linked.size === 0) return;
    for (const dir of this.root.all()) dir.findShared(this.#linked);
    this.#linked.clear();
  }

  /**
   * Compares directories with what the host says of them, and lists those that are others. `deep` for all
   * below them, too.
   */
  async compare(dirs: Iterable<Dir>, deep: boolean, pace: Pace): Promise<void> {
    const folder = this.folder();
    try {
      const left = [...dirs];
      for (let dir = left.pop(); dir !== undefined; dir = left.pop()) {
        if (!dir.gone) this.#compare(folder, dir);
        if (deep && !dir.gone) for (const below of dir.dirs) left.push(below);
        if (pace.due) await pace.give();
      }
    } finally {
      folder.close();
    }
    await this.apply(pace);
  }

  #compare(folder: Folder, dir: Dir): void {
    folder.reach(dir.real, this.#place.flags.ownDirectory);
    const now = folder.stats();
    if (now === undefined || !dir.isListed(now)) this.#list(folder, dir);
    const at = folder.reach(dir.real, this.#place.flags.ownDirectory);
    const { names, known, heard } = dir;
    for (let n = 0; n < names.length && at !== undefined; n++) {
      const set = known[n];
      if (typeof set !== "string" || set === ALWAYS) continue;
      const name = names[n] as string;
      const stats = this.#fs.lstatSync(`${at}/${name}`, { throwIfNoEntry: false });
      if (stats && dir.isUnchanged(n, stats)) continue;
      // Nobody was told: whoever writes like this writes again.
      const silent = this.ears && stats && stats.nlink < 2 && heard !== "all" && !heard?.has(name);
      known[n] = silent ? ALWAYS : undefined;
      dir.edition += 1;
    }
  }

  /** Lists a directory; those in it that are new are to be listed. */
  #list(folder: Folder, dir: Dir): void {
    this.#unlisted.delete(dir);
    // The directory may have been replaced since it was opened.
    folder.close();
    const at = folder.reach(dir.real, this.#place.flags.ownDirectory);
    const itself = folder.stats();
    let entries: import("node:fs").Dirent[] = [];
    if (at !== undefined && itself !== undefined) {
      this.#accept(at, itself.dev);
      // Before it is read, so that no change falls between.
      this.#watch(dir, at, itself);
      try {
        entries = this.#fs.readdirSync(at, { withFileTypes: true });
      } catch (error) {
        passOver(error);
      }
    }
    const links = new Set<string>();
    const names: string[] = [];
    for (const entry of entries) {
      const { name } = entry;
      if (!told(name)) continue;
      if (entry.isDirectory()) names.push(`${name}/`);
      else if (entry.isFile()) names.push(name);
      else if (entry.isSymbolicLink()) {
        names.push(name);
        links.add(name);
      }
    }
    // A copy has no room for more names.
    const added = dir.take(itself, inOrder(names).slice(), (name) => {
      if (name.endsWith("/")) {
        const real = `${dir.real}/${name.slice(0, -1)}`;
        return walked(real) ? new Dir(real, this.#common) : BINARY;
      }
      if (links.has(name)) return LINK;
      return this.#isBinary(name) ? BINARY : undefined;
    });
    if (this.#all && at !== undefined) this.#findLinked(dir, at);
    this.#entries += dir.names.length;
    if (this.#entries > ENTRIES) this.#recount();
    for (const one of added) this.#unlisted.add(one);
  }

  /** Notes files that have another name: a change by the new one is not told of the other. */
  #findLinked(dir: Dir, at: string): void {
    for (const [n, is] of dir.known.entries()) {
      if (is !== undefined) continue;
      const stats = this.#fs.lstatSync(`${at}/${dir.names[n]}`, { throwIfNoEntry: false });
      if (stats && stats.nlink > 1) this.#linked.add(stats.ino);
    }
  }

  /** Counts what is still there, as entries are counted with each list. */
  #recount(): void {
    this.#entries = 0;
    for (const dir of this.root.all()) this.#entries += dir.names.length;
    // Not soon again.
    if (this.#entries > ENTRIES / 2) throw new Unfit("it is too large");
  }

  /** Throws if the file system of a device does not tell of its changes. */
  #accept(at: string, dev: number): void {
    if (this.#devices.has(dev)) return;
    const type = this.#fs.statfsSync(at).type >>> 0;
    if (type === OVERLAY) this.deafen();
    else if (!LOCAL.has(type)) throw new Unfit("its file system is none of the local ones");
    this.#devices.add(dev);
  }

  #watch(dir: Dir, at: string, itself: Stats): void {
    const { ears } = this;
    if (dir.isWatched(itself)) return;
    if (dir.hasWatcher) dir.heard = "all";
    dir.unwatch();
    if (!ears) return;
    if (this.#common.watched >= this.#mostWatched) {
      this.deafen();
      return;
    }
    try {
      dir.watch(ears.watch(at, dir), itself);
    } catch (error) {
      passOver(error);
      this.deafen();
    }
  }

  /** Ends all watchers: from now on everything is asked for its metadata. */
  deafen(): void {
    this.ears?.close();
    this.ears = undefined;
    for (const dir of this.root.all()) dir.unwatch();
  }

  close(): void {
    this.deafen();
    this.root.drop();
  }

  /** The directory with this real path. */
  find(real: string): Dir | undefined {
    let dir = this.root;
    const rest = real.slice(dir.real.length);
    for (const part of rest.split("/")) {
      if (part === "") continue;
      const next = dir.known[dir.names.indexOf(`${part}/`)];
      if (!(next instanceof Dir)) return undefined;
      dir = next;
    }
    return dir;
  }

  /** What is known of the file or directory to which a link leads. */
  behind(link: string): Known {
    let real: string;
    try {
      real = this.#fs.realpathSync.native(link);
    } catch (error) {
      return passOver(error);
    }
    const slash = real.lastIndexOf("/");
    const dir = this.#place.inside(real) ? this.find(real.slice(0, slash)) : undefined;
    const name = real.slice(slash + 1);
    if (!dir) return undefined;
    const at = dir.names.indexOf(name);
    return dir.known[at < 0 ? dir.names.indexOf(`${name}/`) : at];
  }

  /** Files, and bytes of sets. */
  size(): { files: number; bytes: number } {
    let [files, bytes] = [0, 0];
    for (const dir of this.root.all()) {
      let last: unknown;
      for (const is of dir.known) {
        if (is instanceof Dir) continue;
        files += 1;
        // Neighbours share theirs.
        if (typeof is === "string" && is !== last && is !== NOTHING) bytes += is.length;
        last = is;
      }
    }
    return { files, bytes };
  }
}
