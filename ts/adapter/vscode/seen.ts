// What VS Code has been told of files. It takes a file for changed if `mtime` has grown, so it must grow with
// each change, also where a backend has times of whole seconds, or none. Before it saves it compares what
// `stat` says with what it has read: what that cannot find is refused here.

import { Problem } from "../fs/errors.js";
import type { Entry } from "../fs/tree.js";

/** So many paths are remembered. One that is forgotten is new to VS Code. */
const PATHS = 50_000;
/** A write so soon after `stat` is the save of an editor, which has compared what `stat` said. */
const SAVE_MS = 1000;

interface Known {
  /** As VS Code was told last; undefined if only the name was. */
  entry?: Entry;
  mtime: number;
  /** When `stat` said it. */
  at: number;
  /** As VS Code has read or written it. */
  read?: Entry;
  /** Whether the next `stat` sees what was written here, or what was just read. */
  wrote?: boolean;
  reading?: boolean;
  came?: boolean;
}

const same = (one: Entry, other: Entry) =>
  one.modified === other.modified && one.size === other.size && one.directory === other.directory;

export class Seen {
  readonly #known = new Map<string, Known>();

  #note(path: string): Known {
    const known = this.#known.get(path) ?? { mtime: 0, at: 0 };
    this.#known.delete(path);
    this.#known.set(path, known);
    if (this.#known.size > PATHS) {
      for (const oldest of this.#known.keys()) {
        this.#known.delete(oldest);
        break;
      }
    }
    return known;
  }

  /** Whether VS Code has been told that something is at a path. */
  has(path: string): boolean {
    const known = this.#known.get(path);
    return known !== undefined && !known.came;
  }

  /** Something was created here, which VS Code is still to be told. */
  came(path: string): void {
    this.gone(path);
    this.#note(path).came = true;
  }

  paths(): string[] {
    return [...this.#known.keys()];
  }

  named(path: string): void {
    const known = this.#known.get(path);
    if (known) known.came = false;
    else this.#note(path);
  }

  /** What `stat` says; the time is one that VS Code takes for later after a change. */
  shown(path: string, entry: Entry, made: number): number {
    const known = this.#note(path);
    const time = entry.modified ?? made;
    const changed = known.wrote || (known.entry !== undefined && !same(known.entry, entry));
    if (known.wrote || known.reading) known.read = entry;
    known.mtime = changed ? Math.max(time, known.mtime + 1) : Math.max(time, known.mtime);
    Object.assign(known, { entry, at: Date.now(), wrote: false, reading: false });
    return known.mtime;
  }

  /** A file was read. VS Code asks for `stat` at the same time. */
  read(path: string): void {
    const known = this.#note(path);
    known.reading = Date.now() - known.at > SAVE_MS;
    if (!known.reading && known.entry) known.read = known.entry;
  }

  wrote(path: string): void {
    Object.assign(this.#note(path), { wrote: true, at: 0 });
  }

  /** Nothing is at a path and below it any more. */
  gone(path: string): void {
    for (const one of this.#known.keys()) {
      if (one === path || one.startsWith(`${path}/`)) this.#known.delete(one);
    }
  }

  /**
   * Whether a write is the save of an editor. Then it is refused if the file is not what `stat` said, and once
   * if it is another one of the same size than the editor has read, which VS Code does not notice.
   */
  saving(path: string, now: Entry): boolean {
    const known = this.#known.get(path);
    if (!known?.entry || Date.now() - known.at > SAVE_MS) return false;
    const { entry, read } = known;
    if (!same(entry, now)) throw new Problem("EBUSY", "another writer has changed it meanwhile");
    if (read && read.size === now.size && !same(read, now)) {
      known.read = now;
      throw new Problem(
        "EBUSY",
        "another writer has changed it since it was opened; save again to replace that",
      );
    }
    return true;
  }
}
