// A walk through a folder by synchronous calls, in byte order of the paths. Links are not walked,
// so there are no cycles.

import type { Folder } from "./folder.js";
import { RESERVED } from "./host.js";
import { buffers } from "./literal.js";

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

interface Level {
  readonly real: string;
  readonly below: string;
  /** Names in order; those of directories end with a slash. */
  readonly names: string[];
  next: number;
}

/** Files of one directory, side by side. */
export interface Run {
  /** The path of the directory, without links where it was walked. */
  readonly dir: string;
  /** What the files' paths begin with. */
  readonly below: string;
  readonly names: readonly string[];
}

/** How a walk goes. */
export interface Course {
  readonly folder: Folder;
  /** How a directory is opened that is no link. */
  readonly flags: number;
  /** The real path of the directory where it begins. */
  readonly real: string;
  /** What the paths that are told begin with. */
  readonly below: string;
  /** Whether a file of that name is wanted. */
  wants?(name: string): boolean;
}

/** Every file beneath a directory. */
export class Walk {
  readonly #fs: NodeFs;
  readonly #course: Course;
  readonly #levels: Level[] = [];
  /** Nothing is opened before it is asked for. */
  #begun = false;

  constructor(fs: NodeFs, course: Course) {
    this.#fs = fs;
    this.#course = course;
  }

  /** The next files; `null` where a directory was opened or left, and nothing at the end. */
  next(): Run | null | undefined {
    if (!this.#begun) {
      this.#begun = true;
      this.#enter(this.#course.real, this.#course.below);
      return null;
    }
    const level = this.#levels.at(-1);
    if (level === undefined) return undefined;
    const { names, real, below } = level;
    const from = level.next;
    let at = from;
    while (at < names.length && !(names[at] as string).endsWith("/")) at += 1;
    if (at > from) {
      level.next = at;
      const all = from === 0 && at === names.length;
      return { dir: real, below, names: all ? names : names.slice(from, at) };
    }
    const name = names[from];
    level.next += 1;
    if (name === undefined) {
      this.#levels.pop();
      return null;
    }
    const inner = `${real === "/" ? "" : real}/${name.slice(0, -1)}`;
    if (walked(inner)) this.#enter(inner, below + name);
    return null;
  }

  #enter(real: string, below: string): void {
    const { folder, flags } = this.#course;
    const at = folder.reach(real, flags);
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
      if (entry.isFile()) {
        if (told(name) && this.#course.wants?.(name) !== false) names.push(name);
        // With the slash it stands where the paths beneath it do.
      } else if (entry.isDirectory() && told(name)) names.push(`${name}/`);
    }
    this.#levels.push({ real, below, names: inOrder(names), next: 0 });
  }
}

/** In order of their bytes in UTF-8, which is that of their code points. */
function inOrder(names: string[]): string[] {
  const Bytes = buffers;
  // The usual order compares halves of code points, which differs only for such names.
  if (!Bytes || !/[\ud800-\uffff]/.test(names.join(""))) return names.sort();
  const keyed = names.map((name) => ({ name, bytes: Bytes.from(name) }));
  return keyed.sort((a, b) => a.bytes.compare(b.bytes)).map(({ name }) => name);
}
