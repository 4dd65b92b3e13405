// Searches a folder in bulk. Names are passed to the core in one text, because a call for each of
// twenty thousand files would cost more than the search. `Finder` works on any host; that of `fast.ts` is
// faster on hosts with synchronous calls. Links to files are shown, as in `ls`. Links to directories
// are not followed, so there are no cycles.

import type { Bodies } from "./bodies.js";
import { each } from "./entries.js";
import type { Files } from "./files.js";
import { codeOf, passOver } from "./host.js";
import type { Dir, Place } from "./place.js";
import { rows, told, walked } from "./walk.js";

/** What a search asks of a folder. */
export interface Finder {
  /** Every file below a directory, as paths relative to it. */
  names(path: string): Promise<string>;
  /** Size and modification time (in microseconds) of each path; NaN if there is no file. */
  stats(paths: string): Promise<Float64Array>;
  /** Contents of these files; with a literal, only of those that contain it. */
  bodies?(paths: string, literal: Uint8Array | undefined): Promise<Bodies>;
  /**
   * Contents of the files below a directory that contain a literal and may be text, in order of
   * their paths. Undefined if there is no directory.
   */
  holding?(path: string, literal: Uint8Array): Promise<Bodies | undefined>;
}

/** Searches with the calls that every host has. */
export class AnyFinder implements Finder {
  readonly #place: Place;
  readonly #files: Files;

  constructor(place: Place, files: Files) {
    this.#place = place;
    this.#files = files;
  }

  async names(path: string): Promise<string> {
    const out: string[] = [];
    const dir = await this.#place.dir(this.#place.parts(path));
    if (dir) await this.#walk(dir, path === "/" ? "/" : `${path}/`, "", out);
    return rows(out);
  }

  /** @param from The path where the walk began. */
  async #walk(dir: Dir, from: string, below: string, out: string[]): Promise<void> {
    try {
      const entries = await this.#place.entries(dir).catch(unreadable);
      for (const entry of entries ?? []) {
        if (!told(entry.name)) continue;
        if (entry.isFile()) out.push(below + entry.name);
        else if (entry.isDirectory() && walked(`${dir.real}/${entry.name}`.replace("//", "/"))) {
          const child = await this.#place.child(dir, entry.name).catch(unreadable);
          if (child) await this.#walk(child, from, `${below}${entry.name}/`, out);
        } else if (entry.isSymbolicLink() && this.#place.links) {
          const path = `${from}${below}${entry.name}`;
          if (await this.#files.stat(path).catch(passOver)) out.push(below + entry.name);
        }
      }
    } finally {
      await dir.close();
    }
  }

  async stats(paths: string): Promise<Float64Array> {
    const all = paths.split("\n");
    const out = new Float64Array(all.length * 2).fill(Number.NaN);
    await each(
      all.map((path, at) => ({ path, at })),
      async ({ path, at }) => {
        const meta = await this.#files.stat(path).catch(passOver);
        if (!meta) return;
        out[at * 2] = meta.size as number;
        out[at * 2 + 1] = (meta.modified as number) * 1000;
      },
    );
    return out;
  }
}

function unreadable(error: unknown): undefined {
  if (/^(EACCES|EPERM|ENOENT|ENOTDIR|ELOOP|permission_denied)$/.test(codeOf(error)))
    return undefined;
  throw error;
}
