// Symbolic links of a folder as links: what a copy that keeps them asks beyond the protocol. Links that
// lead out of the folder are never made, and never told.

import { asideIn, type Entries } from "./entries.js";
import { codeOf, Refusal } from "./host.js";
import type { Dir, Place } from "./place.js";

/** The links below a directory. */
export interface FoundLinks {
  /** Path below the directory, and the text of the link. */
  links: Array<[name: string, text: string]>;
  /** How many lead out of the directory, or to nothing. */
  others: number;
}

export class Links {
  readonly #entries: Entries;
  readonly #place: Place;

  constructor(entries: Entries) {
    this.#entries = entries;
    this.#place = entries.place;
  }

  /** Every link below `path` that leads to something below it, too. */
  async links(path: string): Promise<FoundLinks> {
    const found: FoundLinks = { links: [], others: 0 };
    const top = this.#place.parts(path);
    const dir = await this.#place.dir(top);
    if (dir) await this.#collect(dir, top, top.length, found);
    return found;
  }

  async #collect(dir: Dir, parts: string[], top: number, found: FoundLinks): Promise<void> {
    try {
      for (const entry of await this.#place.entries(dir)) {
        if (entry.isSymbolicLink()) await this.#read(dir, [...parts, entry.name], top, found);
        if (!entry.isDirectory()) continue;
        const child = await this.#place.child(dir, entry.name);
        if (child) await this.#collect(child, [...parts, entry.name], top, found);
      }
    } finally {
      await dir.close();
    }
  }

  async #read(dir: Dir, parts: string[], top: number, found: FoundLinks): Promise<void> {
    const name = parts.at(-1) as string;
    const above = parts.slice(0, -1);
    const target = await this.#place.target(dir, name).catch((error: unknown) => {
      if (error instanceof Refusal || codeOf(error) === "ELOOP") return undefined;
      throw error;
    });
    const isBelow = target && parts.slice(0, top).every((part, at) => part === target[at]);
    if (!isBelow) {
      found.others += 1;
      return;
    }
    const text = await this.#place.fs.readlink?.(`${dir.at}/${name}`);
    const own = text !== undefined && staysBelow(text, above.length - top);
    found.links.push([parts.slice(top).join("/"), own ? text : relative(above, target)]);
  }

  /**
   * Makes a link. With `replace`, one that is there, or a file, goes; a directory stays. Returns what
   * was there otherwise.
   */
  async link(
    path: string,
    text: string,
    replace: boolean,
  ): Promise<"made" | "equal" | "other" | "directory"> {
    const { fs } = this.#place;
    if (!fs.symlink || !fs.readlink) {
      throw new Refusal("unsupported", "This folder's file system makes no links");
    }
    const made = await this.#entries.within(this.#place.parts(path), true, async (dir, name) => {
      const at = `${dir.at}/${name}`;
      const there = await this.#entries.lstat(dir, name);
      if (there?.isDirectory()) return "directory";
      if (there?.isSymbolicLink() && (await fs.readlink?.(at)) === text) return "equal";
      if (there && !replace) return "other";
      await dir.verify();
      if (!there) {
        // It fails if something is there since.
        await fs.symlink?.(text, at);
        return "made";
      }
      const aside = asideIn(dir);
      await fs.symlink?.(text, aside);
      await fs.rename(aside, at).catch(async (error: unknown) => {
        await fs.unlink(aside).catch(() => {});
        throw error;
      });
      return "made";
    });
    return made ?? "other";
  }
}

/** Whether a relative path that begins `depth` directories below a root never leaves the root. */
function staysBelow(text: string, depth: number): boolean {
  if (/^([/\\]|[A-Za-z]:)/.test(text)) return false;
  let level = depth;
  for (const part of text.split(/[/\\]/)) {
    if (part === "..") level -= 1;
    else if (part !== "" && part !== ".") level += 1;
    if (level < 0) return false;
  }
  return true;
}

/** The way from a directory to a target, both from the root. */
function relative(from: readonly string[], to: readonly string[]): string {
  let same = 0;
  while (same < from.length && same < to.length && from[same] === to[same]) same += 1;
  const way = [...from.slice(same).map(() => ".."), ...to.slice(same)].join("/");
  return way === "" ? "." : way;
}
