// Reads the files that have no set, and makes their sets. It works between other things: after a few
// milliseconds it waits, also amid a large file, and drops what it made of a directory that has changed since.

import type { Folder } from "../folder.js";
import { passOver } from "../host.js";
import { buffers } from "../literal.js";
import { type Dir, isRacy } from "./dir.js";
import { Grams, NOTHING } from "./grams.js";
import type { Pace } from "./tree.js";

type NodeFs = typeof import("node:fs");
type Stats = import("node:fs").Stats;

/** Most bytes of files that share a set. */
const BLOCK = 24 << 10;
/** Bytes that are read at a time. */
const PIECE = 128 << 10;

/** A file that is open, and its metadata before it is read. */
interface Opened {
  readonly at: number;
  readonly fd: number;
  readonly stats: Stats;
  /** Whether it has no type by its name, so that a null byte makes it binary. */
  readonly untyped: boolean;
  set: string | undefined;
}

export class Fill {
  readonly #fs: NodeFs;
  readonly #folder: Folder;
  readonly #flags: { file: number; ownDirectory: number };
  readonly #maxBytes: number;
  readonly #pace: Pace;
  readonly #room: Uint8Array;
  readonly #grams = new Grams();
  /** Bytes of sets that were made. */
  made = 0;
  /** Whether a file was passed over because it changed just before. */
  early = false;

  constructor(
    fs: NodeFs,
    folder: Folder,
    flags: { file: number; ownDirectory: number },
    maxBytes: number,
    pace: Pace,
  ) {
    this.#fs = fs;
    this.#folder = folder;
    this.#flags = flags;
    this.#maxBytes = maxBytes;
    this.#pace = pace;
    this.#room = (buffers as typeof Buffer).allocUnsafeSlow(PIECE);
  }

  /** Makes the sets that a directory lacks. */
  async fill(dir: Dir): Promise<void> {
    const { edition } = dir;
    for (let at = 0; at < dir.names.length; ) {
      if (this.#pace.due) await this.#pace.give();
      if (dir.gone || dir.edition !== edition) return;
      const opened: Opened[] = [];
      try {
        at = this.#open(dir, at, opened);
        if (opened.length > 0) await this.#read(opened);
        if (dir.gone || dir.edition !== edition) return;
        for (const { at, set, stats } of opened) if (set !== undefined) dir.learn(at, set, stats);
      } finally {
        for (const { fd } of opened) this.#fs.closeSync(fd);
      }
    }
  }

  /** Opens the next files that share a set; returns where those behind begin. */
  #open(dir: Dir, from: number, opened: Opened[]): number {
    const { names, known } = dir;
    let bytes = 0;
    let at = from;
    for (; at < names.length; at++) {
      if (known[at] !== undefined) continue;
      const folder = this.#folder.reach(dir.real, this.#flags.ownDirectory);
      if (folder === undefined) return names.length;
      let fd: number | undefined;
      try {
        fd = this.#fs.openSync(`${folder}/${names[at]}`, this.#flags.file);
        const stats = this.#fs.fstatSync(fd);
        if (!stats.isFile()) continue;
        if (isRacy(stats)) {
          this.early = true;
          continue;
        }
        // A search passes over it, too.
        if (stats.size > this.#maxBytes) {
          dir.learn(at, NOTHING, stats);
          continue;
        }
        if (opened.length > 0 && bytes + stats.size > BLOCK) return at;
        const untyped = !(names[at] as string).includes(".");
        opened.push({ at, fd, stats, untyped, set: undefined });
        fd = undefined;
        bytes += stats.size;
        if (bytes >= BLOCK) return at + 1;
      } catch (error) {
        passOver(error);
      } finally {
        if (fd !== undefined) this.#fs.closeSync(fd);
      }
    }
    return at;
  }

  /** Makes the set of open files, and gives it to those that did not change meanwhile. */
  async #read(opened: Opened[]): Promise<void> {
    const grams = this.#grams;
    grams.begin(opened.reduce((bytes, { stats }) => bytes + stats.size, 0));
    const read: Opened[] = [];
    for (const file of opened) {
      const { fd, stats, untyped } = file;
      grams.next();
      try {
        let at = 0;
        for (let more = -1; more !== 0; at += more) {
          more = this.#fs.readSync(fd, this.#room, 0, PIECE, at);
          if (untyped && this.#room.subarray(0, more).includes(0)) {
            file.set = NOTHING;
            break;
          }
          grams.add(this.#room, more);
          if (more > 0 && this.#pace.due) await this.#pace.give();
        }
        const after = this.#fs.fstatSync(fd);
        const same = after.size === stats.size && after.ctimeMs === stats.ctimeMs;
        if (!same) file.set = undefined;
        else if (file.set === undefined && at === stats.size) read.push(file);
      } catch (error) {
        passOver(error);
      }
    }
    if (read.length === 0) return;
    const set = grams.finish();
    this.made += set.length;
    for (const file of read) file.set = set;
  }
}
