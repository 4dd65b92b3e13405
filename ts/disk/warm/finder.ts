// Searches a folder by what is kept of it. It only decides which files are read: they are opened and checked
// in the same way as in any search, and without anything kept every file is.

import type { Bodies } from "../bodies.js";
import type { FastFinder, IsBinary } from "../fast.js";
import type { Place } from "../place.js";
import type { Finder } from "../search.js";
import { type Run, rows } from "../walk.js";
import { ALWAYS, Dir, LINK } from "./dir.js";
import { Asked, NOTHING } from "./grams.js";
import type { Tree } from "./tree.js";
import type { Share } from "./warm.js";

export class WarmFinder implements Finder {
  readonly #place: Place;
  readonly #cold: FastFinder;
  readonly #share: Share;
  readonly #isBinary: IsBinary;

  constructor(place: Place, cold: FastFinder, share: Share, isBinary: IsBinary) {
    this.#place = place;
    this.#cold = cold;
    this.#share = share;
    this.#isBinary = isBinary;
  }

  /** What is known of the directory at a path; undefined if every file is to be read. */
  async #at(path: string): Promise<{ tree: Tree; dir: Dir } | undefined> {
    const real = await this.#cold.real(path);
    const tree = await this.#share.warm?.ready();
    // Another search may be amid a change of it.
    if (real === undefined || !tree?.isWhole) return undefined;
    const dir = tree.find(real);
    return dir && { tree, dir };
  }

  async names(path: string): Promise<string> {
    const found = await this.#at(path);
    if (!found) return this.#cold.names(path);
    const out: string[] = [];
    const folder = found.tree.folder(this.#place);
    try {
      each(found.dir, "", (dir, at, below) => {
        const name = dir.names[at] as string;
        if (dir.known[at] === LINK) {
          const within = folder.reach(dir.real, this.#place.flags.ownDirectory);
          if (within === undefined || !folder.followed(`${within}/${name}`)) return;
        }
        out.push(below + name);
      });
    } finally {
      folder.close();
    }
    return rows(out);
  }

  stats(paths: string): Promise<Float64Array> {
    return this.#cold.stats(paths);
  }

  async bodies(paths: string, literal: Uint8Array | undefined): Promise<Bodies> {
    const asked = literal && Asked.of(literal);
    const root = await this.#place.root();
    const tree = this.#share.warm?.now;
    if (!asked || !tree?.isWhole || root === undefined) return this.#cold.bodies(paths, literal);
    let above: string | undefined;
    let dir: Dir | undefined;
    let next = 0;
    const wanted = paths.split("\n").filter((path) => {
      const slash = path.lastIndexOf("/");
      if (path.slice(0, slash) !== above) {
        above = path.slice(0, slash);
        dir = tree.find(this.#place.join(root, this.#place.parts(above)));
        next = 0;
      }
      if (!dir) return true;
      // They come in the order of the names.
      next = dir.names.indexOf(path.slice(slash + 1), next);
      if (next < 0) next = 0;
      else return dir.wants(next, asked);
      return true;
    });
    return wanted.length > 0
      ? this.#cold.bodies(rows(wanted), literal)
      : this.#cold.read([], literal);
  }

  async holding(path: string, literal: Uint8Array): Promise<Bodies | undefined> {
    const found = await this.#at(path);
    if (!found) return this.#cold.holding(path, literal);
    const runs: Run[] = [];
    const asked = Asked.of(literal);
    let last: { dir: string; below: string; names: string[] } | undefined;
    each(found.dir, path === "/" ? "/" : `${path}/`, (dir, at, below) => {
      if (!dir.wants(at, asked)) return;
      const name = dir.names[at] as string;
      if (dir.known[at] === LINK && !this.#isWanted(found.tree, `${dir.real}/${name}`, asked))
        return;
      // A directory goes on behind one that is in it.
      if (last?.below !== below) {
        last = { dir: dir.real, below, names: [] };
        runs.push(last);
      }
      last.names.push(name);
    });
    return this.#cold.read(runs, literal);
  }

  /** Whether a search must read the file that a link leads to. */
  #isWanted(tree: Tree, link: string, asked: Asked | undefined): boolean {
    const name = link.slice(link.lastIndexOf("/") + 1);
    if (!this.#place.links || this.#isBinary(name)) return false;
    const known = tree.behind(link);
    if (known instanceof Dir) return false;
    if (typeof known !== "string" || known === ALWAYS) return true;
    // Whether it is binary depends on the name of the link.
    if (known === NOTHING) return name.includes(".");
    return asked === undefined || asked.of(known);
  }
}

/** Visits the entries below a directory that are no directories, in order. */
function each(dir: Dir, below: string, visit: (dir: Dir, at: number, below: string) => void): void {
  const { names, known } = dir;
  for (let at = 0; at < names.length; at++) {
    const is = known[at];
    if (is instanceof Dir) each(is, below + names[at], visit);
    else if (!names[at]?.endsWith("/")) visit(dir, at, below);
  }
}
