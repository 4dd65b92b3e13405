// A walk through a folder by synchronous calls, in byte order of the paths. A directory is opened,
// asked where it really is, and from then on reached only through what was opened. Links are not
// walked, so there are no cycles.

import { RESERVED } from "./host.js";
import { buffers } from "./literal.js";
import type { Place } from "./place.js";

type NodeFs = typeof import("node:fs");

/** What a host's file system makes up and never ends; only met when the root is `/`. */
const MADE_UP = new Set(["/proc", "/sys", "/dev"]);

/** Whether a directory at that real path is walked. */
export function walked(real: string): boolean {
  return !MADE_UP.has(real);
}

/** Whether a name is told to anybody. */
export function told(name: string): boolean {
  // A name that no path can be made of would only be passed over later.
  return !name.startsWith(RESERVED) && !name.includes("\n");
}

/** The directory looked at last, held open. The root must have been resolved before. */
export class Folder {
  readonly #fs: NodeFs;
  readonly #place: Place;
  #path: string | undefined;
  #fd: number | undefined;
  #at: string | undefined;
  #real: string | undefined;

  constructor(fs: NodeFs, place: Place) {
    this.#fs = fs;
    this.#place = place;
  }

  /**
   * Put `/name` behind it to reach an entry of the directory at `path`; nothing where that is none,
   * or not inside the root. The flags say whether `path` itself may be a link.
   */
  reach(path: string, flags: number): string | undefined {
    if (path === this.#path) return this.#at;
    this.close();
    this.#path = path;
    try {
      this.#fd = this.#fs.openSync(path, flags);
      const at = `/proc/self/fd/${this.#fd}`;
      this.#real = this.#fs.readlinkSync(at);
      if (this.#place.inside(this.#real)) this.#at = at;
    } catch {
      // Gone, not readable, or a link now.
    }
    return this.#at;
  }

  /** The real path of the directory that was reached. */
  get real(): string | undefined {
    return this.#at && this.#real;
  }

  close(): void {
    if (this.#fd !== undefined) this.#fs.closeSync(this.#fd);
    this.#fd = undefined;
    this.#at = undefined;
    this.#real = undefined;
    this.#path = undefined;
  }
}

/** A file that was met: its path, and the directory and name to reach it by. */
export interface Met {
  readonly path: string;
  readonly dir: string;
  readonly name: string;
}

interface Level {
  readonly real: string;
  readonly below: string;
  /** Names in order; those of directories end with a slash. */
  readonly names: string[];
  next: number;
}

/** Every file beneath a directory. */
export class Walk {
  readonly #fs: NodeFs;
  readonly #place: Place;
  readonly #folder: Folder;
  readonly #levels: Level[] = [];
  /** Where it begins, until it has. Nothing is opened before it is asked for. */
  #begin: { real: string; below: string } | undefined;

  /** Begins at the real path of a directory; what is told of a file begins with `below`. */
  constructor(fs: NodeFs, place: Place, folder: Folder, real: string, below: string) {
    this.#fs = fs;
    this.#place = place;
    this.#folder = folder;
    this.#begin = { real, below };
  }

  /** The next file; `null` where a directory was opened or left; nothing at the end. */
  next(): Met | null | undefined {
    if (this.#begin) {
      this.#enter(this.#begin.real, this.#begin.below);
      this.#begin = undefined;
      return null;
    }
    const level = this.#levels.at(-1);
    if (level === undefined) return undefined;
    const name = level.names[level.next];
    level.next += 1;
    if (name === undefined) {
      this.#levels.pop();
      return null;
    }
    if (!name.endsWith("/")) return { path: level.below + name, dir: level.real, name };
    const real = `${level.real === "/" ? "" : level.real}/${name.slice(0, -1)}`;
    if (walked(real)) this.#enter(real, level.below + name);
    return null;
  }

  #enter(real: string, below: string): void {
    const at = this.#folder.reach(real, this.#place.flags.ownDirectory);
    if (at === undefined) return;
    let entries: import("node:fs").Dirent[];
    try {
      entries = this.#fs.readdirSync(at, { withFileTypes: true });
    } catch {
      return;
    }
    const names: string[] = [];
    for (const entry of entries) {
      const { name } = entry;
      if (!told(name)) continue;
      if (entry.isFile()) names.push(name);
      // With the slash it stands where the paths beneath it do.
      else if (entry.isDirectory()) names.push(`${name}/`);
    }
    this.#levels.push({ real, below, names: inOrder(names), next: 0 });
  }
}

/** In order of their bytes in UTF-8, which is that of their code points. */
function inOrder(names: string[]): string[] {
  const Bytes = buffers;
  // The usual order compares halves of code points, which differs only for such names.
  if (!Bytes || !names.some((name) => /[\ud800-\uffff]/.test(name))) return names.sort();
  const keyed = names.map((name) => ({ name, bytes: Bytes.from(name) }));
  return keyed.sort((a, b) => a.bytes.compare(b.bytes)).map(({ name }) => name);
}
