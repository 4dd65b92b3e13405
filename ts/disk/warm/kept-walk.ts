// Walks what is kept of a folder, as `../walk.ts` walks the folder itself. Other work may come between two
// steps: what is changed then is found as it was, or as it is, or not at all.

import type { Run } from "../walk.js";
import { Dir, type Known } from "./dir.js";

interface Level {
  readonly dir: Dir;
  readonly below: string;
  /** As they were when the directory was entered. */
  readonly names: readonly string[];
  readonly known: readonly Known[];
  next: number;
}

/** Whether an entry is wanted, which is no directory. Names of those that are not walked end with a slash. */
export type Asks = (known: Known, name: string, dir: Dir) => boolean;

export class KeptWalk {
  readonly #asks: Asks;
  readonly #levels: Level[] = [];

  /** `below` is the first part of the paths. */
  constructor(dir: Dir, below: string, asks: Asks) {
    this.#asks = asks;
    this.#enter(dir, below);
  }

  /** The next files; `null` if a directory was entered or left, `undefined` at the end. */
  next(): Run | null | undefined {
    const level = this.#levels.at(-1);
    if (level === undefined) return undefined;
    const { dir, below, names, known } = level;
    let wanted: string[] | undefined;
    for (; level.next < names.length; level.next++) {
      const is = known[level.next];
      const name = names[level.next] as string;
      if (is instanceof Dir) {
        if (wanted) break;
        level.next += 1;
        this.#enter(is, below + name);
        return null;
      }
      // Of the names, only those that are asked for are looked at.
      if (!this.#asks(is, name, dir) || name.endsWith("/")) continue;
      wanted ??= [];
      wanted.push(name);
    }
    if (wanted) return { dir: dir.real, below, names: wanted };
    this.#levels.pop();
    return null;
  }

  #enter(dir: Dir, below: string): void {
    const { names, known } = dir;
    this.#levels.push({ dir, below, names, known, next: 0 });
  }
}
