// The entries of a folder on the host's disk: the directory of a path, opened and checked, and claims on
// versions of files, which everything that changes the folder holds.

import type { StoredMeta } from "../core/stored.js";
import { claim, sweep, versionOf } from "./claims.js";
import { codeOf, RESERVED, Refusal } from "./host.js";
import type { Dir, Place } from "./place.js";
import type { BigStats } from "./shape.js";

/** Attempts of an unconditional write to replace a file that others are replacing too. */
export const TRIES = 400;
/** Directories to remember as looked through for leftovers. */
const SWEPT = 10_000;

/** What the core knows of a file. */
export function metaOf(stats: BigStats): StoredMeta {
  return {
    size: Number(stats.size),
    modified: Number(stats.mtimeNs / 1000n) / 1000,
    version: versionOf(stats),
  };
}

/** Why an entry that is no file, link or directory is refused. */
export function notAFile(): Refusal {
  return new Refusal("permission_denied", "This is a device, a pipe or a socket, not a file");
}

let counter = 0;

/** The path of a new temporary file in a directory. */
export function asideIn(dir: Dir): string {
  const random = crypto.getRandomValues(new Uint32Array(2)).join("");
  counter += 1;
  const pid = (globalThis as { process?: { pid?: number } }).process?.pid ?? 0;
  return `${dir.at}/${RESERVED}t-${pid}-${counter}-${random}`;
}

export class Entries {
  readonly place: Place;
  /** Directories that were looked through for leftovers. */
  readonly #swept = new Set<string>();

  constructor(place: Place) {
    this.place = place;
  }

  /** Calls `use` with the directory that contains `path`; `undefined` if there is none. */
  async within<T>(
    parts: string[],
    make: boolean,
    use: (dir: Dir, name: string) => Promise<T>,
  ): Promise<T | undefined> {
    const name = parts.at(-1);
    if (name === undefined)
      throw new Refusal("is_directory", "The root is a directory, not a file");
    const above = parts.slice(0, -1);
    let dir: Dir | undefined;
    try {
      dir = make ? await this.place.madeDir(above) : await this.place.dir(above);
      if (!dir) return undefined;
      await this.place.exact(dir, name);
      return await use(dir, name);
    } catch (error) {
      throw await this.place.led(error, parts);
    } finally {
      await dir?.close();
    }
  }

  async lstat(dir: Dir, name: string): Promise<BigStats | undefined> {
    try {
      return await this.place.fs.lstat(`${dir.at}/${name}`, { bigint: true });
    } catch (error) {
      if (/^(ENOENT|ENOTDIR)$/.test(codeOf(error))) return undefined;
      throw error;
    }
  }

  /** Once for each directory that is written to. */
  async tidied(dir: Dir): Promise<void> {
    if (this.#swept.has(dir.real)) return;
    if (this.#swept.size >= SWEPT) this.#swept.clear();
    this.#swept.add(dir.real);
    // What cannot be removed stays; it is hidden.
    await sweep(this.place.fs, this.place.flags, dir).catch(() => {});
  }

  /** Holds the claim on a version of a file while `act` replaces or removes it. */
  async exchange<T>(
    dir: Dir,
    name: string,
    version: string,
    act: (check: () => Promise<boolean>) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const mine = await claim(this.place.fs, this.place.flags, dir, name, version);
    if (!mine) return undefined;
    try {
      return await act(async () => {
        const [now, holds] = await Promise.all([this.lstat(dir, name), mine.holds()]);
        await dir.verify();
        return now !== undefined && versionOf(now) === version && holds;
      });
    } finally {
      await mine.release();
    }
  }
}

/** Waits a random time, longer with each attempt. */
export function moment(attempt: number): Promise<void> {
  const limit = Math.min(50, 1 + attempt);
  return new Promise((resolve) => setTimeout(resolve, Math.random() * limit));
}

/** Calls `act` for each item, at most 16 at a time. */
export async function each<T>(items: T[], act: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) await act(items[at] as T);
  };
  await Promise.all(Array.from({ length: Math.min(16, items.length) }, worker));
}
