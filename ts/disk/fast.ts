// Searches a folder with the host's synchronous calls, because a promise for each small file is
// what makes a search slow. Only for hosts that can hold a directory open. Every few milliseconds
// the search pauses for other work.

import { Bodies, type Source } from "./bodies.js";
import { Folder } from "./folder.js";
import { buffers, Literal } from "./literal.js";
import type { Place } from "./place.js";
import type { Finder } from "./search.js";
import { Sieve } from "./sieve.js";
import { Turns } from "./turns.js";
import { type Run, rows, Walk } from "./walk.js";

type NodeFs = typeof import("node:fs");

/** Whether the file name alone says that a file is binary. */
export type IsBinary = (name: string) => boolean;

export class FastFinder implements Finder {
  readonly #place: Place;
  readonly #fs: NodeFs;
  readonly #maxBytes: number;
  readonly #isBinary: IsBinary;

  constructor(place: Place, maxBytes: number, fs: NodeFs, isBinary: IsBinary) {
    this.#place = place;
    this.#fs = fs;
    this.#maxBytes = maxBytes;
    this.#isBinary = isBinary;
  }

  /** The real path of a directory; undefined if there is none. */
  async real(path: string): Promise<string | undefined> {
    const root = await this.#place.root();
    const parts = this.#place.parts(path);
    if (root === undefined) return undefined;
    const folder = new Folder(this.#fs, this.#place);
    try {
      folder.reach(this.#place.join(root, parts), this.#place.flags.directory);
      if (folder.real !== undefined) return folder.real;
    } finally {
      folder.close();
    }
    // This call reports why it was not reached.
    const dir = await this.#place.dir(parts);
    await dir?.close();
    return dir?.real;
  }

  async names(path: string): Promise<string> {
    const real = await this.real(path);
    if (real === undefined) return "";
    const out: string[] = [];
    const turns = new Turns();
    const folder = new Folder(this.#fs, this.#place);
    try {
      const { ownDirectory } = this.#place.flags;
      const walk = new Walk(this.#fs, { folder, flags: ownDirectory, real, below: "" });
      for (let run = walk.next(); run !== undefined; run = walk.next()) {
        for (const name of run?.names ?? []) out.push((run as Run).below + name);
        if (turns.due) await turns.give();
      }
    } finally {
      folder.close();
    }
    return rows(out);
  }

  async stats(paths: string): Promise<Float64Array> {
    const all = paths.split("\n");
    const out = new Float64Array(all.length * 2).fill(Number.NaN);
    const root = (await this.#place.root()) ?? "";
    const folder = new Folder(this.#fs, this.#place);
    const turns = new Turns();
    try {
      for (let index = 0; index < all.length; index++) {
        const { dir, name } = this.#named(root, all[index] as string);
        const at = folder.reach(dir, this.#place.flags.directory);
        const entry = `${at}/${name}`;
        let stats =
          at === undefined ? undefined : this.#fs.lstatSync(entry, { throwIfNoEntry: false });
        if (stats?.isSymbolicLink()) stats = folder.followed(entry);
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

  /** The directory and name of a file with a known path. */
  #named(root: string, path: string): { dir: string; below: string; name: string } {
    const slash = path.lastIndexOf("/");
    const dir = this.#place.join(root, this.#place.parts(path.slice(0, slash)));
    return { dir, below: path.slice(0, slash + 1), name: path.slice(slash + 1) };
  }

  async bodies(paths: string, literal: Uint8Array | undefined): Promise<Bodies> {
    const root = (await this.#place.root()) ?? "";
    const all = paths.split("\n");
    let next = 0;
    const source = () => {
      const path = all[next];
      if (path === undefined) return undefined;
      const { dir, below, name } = this.#named(root, path);
      const names = [name];
      for (next += 1; next < all.length; next++) {
        const other = all[next] as string;
        if (other.lastIndexOf("/") + 1 !== below.length || !other.startsWith(below)) break;
        names.push(other.slice(below.length));
      }
      return { dir, below, names };
    };
    const folder = new Folder(this.#fs, this.#place);
    return new Bodies(source, folder, this.#place.flags.directory, this.#sieve(literal, folder));
  }

  /** Contents of files whose directories were reached without links. */
  read(source: Source, literal: Uint8Array | undefined): Bodies {
    const folder = new Folder(this.#fs, this.#place);
    const { ownDirectory } = this.#place.flags;
    return new Bodies(source, folder, ownDirectory, this.#sieve(literal, folder));
  }

  async holding(path: string, literal: Uint8Array): Promise<Bodies | undefined> {
    const real = await this.real(path);
    if (real === undefined) return undefined;
    const folder = new Folder(this.#fs, this.#place);
    const flags = this.#place.flags.ownDirectory;
    const walk = new Walk(this.#fs, {
      folder,
      flags,
      real,
      below: path === "/" ? "/" : `${path}/`,
      wants: (name) => !this.#isBinary(name),
    });
    return new Bodies(() => walk.next(), folder, flags, this.#sieve(literal, folder));
  }

  #sieve(literal: Uint8Array | undefined, folder: Folder): Sieve {
    const wanted = literal && buffers ? new Literal(buffers.from(literal)) : undefined;
    return new Sieve(this.#fs, folder, this.#place.flags.file, this.#maxBytes, wanted);
  }
}
