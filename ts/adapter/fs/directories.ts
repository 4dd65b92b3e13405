// Directories without files. Where a backend derives directories from the paths of files, those that a
// program makes or empties are kept here, until a file is in them. A tree of names, so that a
// directory above another needs no entry of its own.

import { namesIn } from "../../core/paths.js";

class Names extends Map<string, Names> {}

export class Directories {
  #root = new Names();

  #find(path: string): Names | undefined {
    let at: Names | undefined = this.#root;
    for (const name of namesIn(path)) at = at?.get(name);
    return at;
  }

  has(path: string): boolean {
    return this.#find(path) !== undefined;
  }

  /** The names of the directories in a directory. */
  inside(path: string): string[] {
    return [...(this.#find(path)?.keys() ?? [])];
  }

  add(path: string): void {
    let at = this.#root;
    for (const name of namesIn(path)) {
      const next = at.get(name) ?? new Names();
      at.set(name, next);
      at = next;
    }
  }

  /** Forgets a directory and all below it. */
  remove(path: string): void {
    const names = namesIn(path);
    const last = names.pop();
    if (last === undefined) this.#root = new Names();
    else this.#find(names.join("/"))?.delete(last);
  }

  /** A file is in this directory now: it and those above it exist without an entry. */
  filled(path: string): void {
    const names = namesIn(path);
    for (let last = names.pop(); last !== undefined; last = names.pop()) {
      const above = this.#find(names.join("/"));
      if ((above?.get(last)?.size ?? 0) > 0) return;
      above?.delete(last);
    }
  }

  /** Moves a directory with all below it. */
  move(from: string, to: string): void {
    const moved = this.#find(from);
    if (!moved) return;
    this.remove(from);
    this.add(to);
    const there = this.#find(to);
    for (const [name, names] of moved) there?.set(name, names);
  }
}
