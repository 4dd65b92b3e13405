// Searching a folder by the host's synchronous calls: a promise for each small file is what makes
// a search slow. Only where a directory can be held open. Others have their turn every few
// milliseconds.

import { buffers, Literal } from "./literal.js";
import type { Place } from "./place.js";
import { type Ripgrep, rows, SearchableDisk } from "./search.js";
import { type Block, Sieve } from "./sieve.js";
import { Folder, type Met, Walk } from "./walk.js";

type NodeFs = typeof import("node:fs");

/** Milliseconds between two turns of others. */
const TURN = 20;
/** Steps between two looks at the clock. */
const STEPS = 8;

/** Whether the name alone says that a file is no text. */
export type IsBinary = (name: string) => boolean;

/** Lets others have their turn when it is due. */
class Turns {
  #since = performance.now();
  #steps = 0;

  get due(): boolean {
    this.#steps += 1;
    if (this.#steps % STEPS > 0) return false;
    return performance.now() - this.#since > TURN;
  }

  async give(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#since = performance.now();
  }
}

export class FastDisk extends SearchableDisk {
  readonly #fs: NodeFs;
  readonly #isBinary: IsBinary;

  constructor(place: Place, maxBytes: number, fs: NodeFs, isBinary: IsBinary, ripgrep?: Ripgrep) {
    super(place, maxBytes, ripgrep);
    this.#fs = fs;
    this.#isBinary = isBinary;
  }

  /** The real path of a directory; nothing where there is none. */
  async #real(path: string): Promise<string | undefined> {
    const root = await this.place.root();
    const parts = this.place.parts(path);
    const folder = new Folder(this.#fs, this.place);
    try {
      folder.reach(this.place.join(root, parts), this.place.flags.directory);
      if (folder.real !== undefined) return folder.real;
    } finally {
      folder.close();
    }
    // Why it was not reached is said there.
    const dir = await this.place.dir(parts);
    await dir?.close();
    return dir?.real;
  }

  override async names(path: string): Promise<string> {
    const real = await this.#real(path);
    if (real === undefined) return "";
    const out: string[] = [];
    const turns = new Turns();
    const folder = new Folder(this.#fs, this.place);
    try {
      const walk = new Walk(this.#fs, this.place, folder, real, "");
      for (let met = walk.next(); met !== undefined; met = walk.next()) {
        if (met) out.push(met.path);
        if (turns.due) await turns.give();
      }
    } finally {
      folder.close();
    }
    return rows(out);
  }

  override async stats(paths: string): Promise<Float64Array> {
    const all = paths.split("\n");
    const out = new Float64Array(all.length * 2).fill(Number.NaN);
    const root = await this.place.root();
    const folder = new Folder(this.#fs, this.place);
    const turns = new Turns();
    try {
      for (let index = 0; index < all.length; index++) {
        const { dir, name } = this.#named(root, all[index] as string);
        const at = folder.reach(dir, this.place.flags.directory);
        const stats =
          at === undefined
            ? undefined
            : this.#fs.lstatSync(`${at}/${name}`, { throwIfNoEntry: false });
        if (stats?.isFile()) {
          out[index * 2] = stats.size;
          out[index * 2 + 1] = stats.mtimeMs * 1000;
        }
        if (turns.due) await turns.give();
      }
    } finally {
      folder.close();
    }
    return out;
  }

  /** Where a file whose path is known would be met. */
  #named(root: string, path: string): Met {
    const slash = path.lastIndexOf("/");
    const dir = this.place.join(root, this.place.parts(path.slice(0, slash)));
    return { path, dir, name: path.slice(slash + 1) };
  }

  /** Bodies of these files; with some bytes to look for, of those that hold them. */
  async bodies(paths: string, literal: Uint8Array | undefined): Promise<Bodies> {
    const root = await this.place.root();
    const all = paths.split("\n");
    let next = 0;
    const source = () => {
      const path = all[next];
      next += 1;
      return path === undefined ? undefined : this.#named(root, path);
    };
    return new Bodies(
      source,
      new Folder(this.#fs, this.place),
      this.place.flags.directory,
      this.#sieve(literal),
    );
  }

  /**
   * Bodies of the files beneath a directory that hold some bytes and may be text, in order of
   * their paths. Nothing where there is no directory, or where ripgrep is to say which they are.
   */
  async holding(path: string, literal: Uint8Array): Promise<Bodies | undefined> {
    const real = this.asksRipgrep ? undefined : await this.#real(path);
    if (real === undefined) return undefined;
    const folder = new Folder(this.#fs, this.place);
    const walk = new Walk(this.#fs, this.place, folder, real, path === "/" ? "/" : `${path}/`);
    const source = () => {
      const met = walk.next();
      return met && this.#isBinary(met.name) ? null : met;
    };
    return new Bodies(source, folder, this.place.flags.ownDirectory, this.#sieve(literal));
  }

  #sieve(literal: Uint8Array | undefined): Sieve {
    const wanted = literal && buffers ? new Literal(buffers.from(literal)) : undefined;
    return new Sieve(this.#fs, this.place.flags.file, this.maxBytes, wanted);
  }
}

/** Gives the next file to read; `null` for nothing yet, and nothing at the end. */
type Source = () => Met | null | undefined;

/** Bodies of files, some at a time. */
export class Bodies {
  readonly #source: Source;
  readonly #folder: Folder;
  readonly #flags: number;
  readonly #sieve: Sieve;
  readonly #turns = new Turns();
  #waiting: Met | undefined;
  #begun = false;
  #closed = false;

  constructor(source: Source, folder: Folder, flags: number, sieve: Sieve) {
    this.#source = source;
    this.#folder = folder;
    this.#flags = flags;
    this.#sieve = sieve;
  }

  /** The next bodies. Good until it is asked again. */
  async next(): Promise<Block> {
    if (this.#begun) await this.#turns.give();
    this.#begun = true;
    // A search that was given up while others had their turn opens nothing any more.
    while (!this.#closed) {
      const met = this.#waiting ?? this.#source();
      this.#waiting = undefined;
      if (met === undefined) return this.#sieve.take(false);
      const at = met ? this.#folder.reach(met.dir, this.#flags) : undefined;
      if (met && at !== undefined && !this.#sieve.read(met.path, `${at}/${met.name}`)) {
        this.#waiting = met;
        return this.#sieve.take(true);
      }
      if (this.#turns.due) {
        // What was found goes now: the core may have enough.
        this.#sieve.sift();
        if (this.#sieve.holds) return this.#sieve.take(true);
        await this.#turns.give();
      }
    }
    return this.#sieve.take(false);
  }

  close(): void {
    this.#closed = true;
    this.#folder.close();
  }
}
