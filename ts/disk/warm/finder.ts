// Searches a folder by what is kept of it. It only decides which files are read: they are opened and checked
// in the same way as in any search, and without anything kept every file is.

import type { Bodies } from "../bodies.js";
import type { FastFinder, IsBinary } from "../fast.js";
import type { Place } from "../place.js";
import type { Finder } from "../search.js";
import { Turns } from "../turns.js";
import { rows } from "../walk.js";
import { ALWAYS, Dir, isWanted, LINK } from "./dir.js";
import { Asked, NOTHING } from "./grams.js";
import { type Asks, KeptWalk } from "./kept-walk.js";
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
    if (!found) return this.#during(this.#cold.names(path));
    const out: string[] = [];
    const turns = new Turns();
    const folder = found.tree.folder(this.#place);
    const isShown: Asks = (known, name, { real }) => {
      if (known !== LINK) return true;
      const within = folder.reach(real, this.#place.flags.ownDirectory);
      return within !== undefined && folder.followed(`${within}/${name}`) !== undefined;
    };
    try {
      const walk = new KeptWalk(found.dir, "", isShown);
      for (let run = walk.next(); run !== undefined; run = walk.next()) {
        for (const name of run?.names ?? []) out.push(`${run?.below}${name}`);
        if (turns.due) await turns.give();
      }
    } finally {
      folder.close();
    }
    return rows(out);
  }

  stats(paths: string): Promise<Float64Array> {
    return this.#during(this.#cold.stats(paths));
  }

  async bodies(paths: string, literal: Uint8Array | undefined): Promise<Bodies> {
    this.#share.warm?.asks();
    const asked = literal && Asked.of(literal);
    const root = await this.#place.root();
    const tree = this.#share.warm?.now;
    if (!asked || !tree?.isWhole || root === undefined) {
      return this.#seen(await this.#cold.bodies(paths, literal));
    }
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
      else return isWanted(dir.known[next], asked);
      return true;
    });
    return wanted.length > 0
      ? this.#seen(await this.#cold.bodies(rows(wanted), literal))
      : this.#cold.read(() => undefined, literal);
  }

  async holding(path: string, literal: Uint8Array): Promise<Bodies | undefined> {
    this.#share.warm?.asks();
    const found = await this.#at(path);
    if (!found) return this.#seen(await this.#cold.holding(path, literal));
    const asked = Asked.of(literal);
    const { tree } = found;
    const asks: Asks = (known, name, { real }) =>
      isWanted(known, asked) && (known !== LINK || this.#leadsTo(tree, `${real}/${name}`, asked));
    const walk = new KeptWalk(found.dir, path === "/" ? "/" : `${path}/`, asks);
    return this.#seen(this.#cold.read(() => walk.next(), literal));
  }

  /** The same, while what works between searches knows that one goes on. */
  #seen<B extends Bodies | undefined>(bodies: B): B {
    if (bodies) bodies.told = this.#share.warm?.searches;
    return bodies;
  }

  #during<T>(search: Promise<T>): Promise<T> {
    return this.#share.warm?.searches.during(search) ?? search;
  }

  /** Whether a link leads to a file that a search must read. */
  #leadsTo(tree: Tree, link: string, asked: Asked | undefined): boolean {
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
