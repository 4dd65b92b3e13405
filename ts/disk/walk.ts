// Walks a folder with synchronous calls, in byte order of the paths. Links to files are shown, as in
// `ls`. Links to directories are not followed, so there are no cycles.

import type { Folder } from "./folder.js";
import { passOver, RESERVED } from "./host.js";
import { buffers } from "./literal.js";

type NodeFs = typeof import("node:fs");

/** Virtual file systems, which can be endless; they occur only if the root is `/`. */
const MADE_UP = new Set(["/proc", "/sys", "/dev"]);

/** Whether the directory with this real path is walked. */
export function walked(real: string): boolean {
  return !MADE_UP.has(real);
}

/** Whether a name appears in results. */
export function told(name: string): boolean {
  // No valid path contains a line feed, so such a name would be dropped later.
  return !name.startsWith(RESERVED) && !name.includes("\n");
}

/** Names as one text, which the core splits. */
export function rows(names: string[]): string {
  return names.join("\n");
}

interface Level {
  readonly real: string;
  readonly below: string;
  /** Sorted names; those of directories end with a slash. */
  readonly names: string[];
  next: number;
}

/** Consecutive files of one directory. */
export interface Run {
  /** Path of the directory, without links if it was walked. */
  readonly dir: string;
  /** First part of the files' paths. */
  readonly below: string;
  readonly names: readonly string[];
}

/** Options of a walk. */
export interface Course {
  readonly folder: Folder;
  /** Flags for opening a directory that is not a link. */
  readonly flags: number;
  /** Real path of the start directory. */
  readonly real: string;
  /** First part of the paths in results. */
  readonly below: string;
  /** Whether a file with this name is wanted. Default: all are. */
  wants?(name: string): boolean;
}

/** Iterates over every file below a directory. */
export class Walk {
  readonly #fs: NodeFs;
  readonly #course: Course;
  readonly #levels: Level[] = [];
  /** Nothing is opened before the first call of `next`. */
  #begun = false;

  constructor(fs: NodeFs, course: Course) {
    this.#fs = fs;
    this.#course = course;
  }

  /** The next files; `null` if a directory was entered or left, `undefined` at the end. */
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
    } catch (error) {
      passOver(error);
      return;
    }
    const names: string[] = [];
    for (const entry of entries) {
      const { name } = entry;
      if (entry.isFile()) {
        if (told(name) && this.#course.wants?.(name) !== false) names.push(name);
        // With the slash it is sorted like the paths below it.
      } else if (entry.isDirectory() && told(name)) names.push(`${name}/`);
      else if (entry.isSymbolicLink() && told(name) && this.#course.wants?.(name) !== false) {
        if (folder.followed(`${at}/${name}`)) names.push(name);
      }
    }
    this.#levels.push({ real, below, names: inOrder(names), next: 0 });
  }
}

/** Sorts by UTF-8 bytes, which is the order of code points. */
export function inOrder(names: string[]): string[] {
  const Bytes = buffers;
  // The default order compares UTF-16 code units, which differs only for such names.
  if (!Bytes || !/[\ud800-\uffff]/.test(names.join(""))) return names.sort();
  const keyed = names.map((name) => ({ name, bytes: Bytes.from(name) }));
  return keyed.sort((a, b) => a.bytes.compare(b.bytes)).map(({ name }) => name);
}
