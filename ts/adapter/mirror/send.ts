// Makes the copy like the tree. What was changed there since it was last brought back is left.

import { Spellings } from "../../core/folding.js";
import { BATCH_BYTES, batches } from "../transfer/place.js";
import { Stop } from "../transfer/tally.js";
import type { Tree } from "../transfer/tree.js";
import {
  type Book,
  check,
  type Fail,
  failing,
  type Held,
  heldBy,
  isGone,
  isTold,
  type Known,
  tick,
} from "./known.js";
import type { Listing } from "./listing.js";
import type { Sent } from "./types.js";

/** What is in the copy before the first `send`, unless it was read. */
const BEFORE = "before";

/** The clock of whoever writes to the tree may be late by this much. */
const MARGIN_MS = 60_000;

/** Both sides of a mirror, as they are listed. */
export interface Sides {
  from: Tree;
  to: Tree;
  here: Listing;
  there: Listing;
  /** When the tree was listed. */
  listed: number;
}

/** One call of `send`. */
export class Sending {
  readonly #book: Book;
  readonly #sides: Sides;
  readonly #result: Sent;
  readonly #fail: Fail;
  readonly #overwrites: boolean;
  /** Whether a file of the copy was written or read, so that its next change must get another time. */
  #isFresh = false;
  /** The sizes of the files that were sent. */
  readonly #sent = new Map<string, number>();
  readonly #spellings: Spellings;

  constructor(book: Book, sides: Sides, result: Sent, overwrites: boolean) {
    this.#book = book;
    this.#sides = sides;
    this.#result = result;
    this.#overwrites = overwrites;
    this.#fail = failing(sides.to, result.failures);
    this.#spellings = new Spellings(sides.to.names);
  }

  /** @param again Lists the copy once more. */
  async run(signal: AbortSignal | undefined, again: () => Promise<Listing>): Promise<void> {
    if (!this.#book.isBegun) await this.#noteBefore();
    await this.#remove();
    const { here } = this.#sides;
    for (const batch of batches(listed([...here.keys()], here), BATCH_BYTES)) {
      check(signal);
      await this.#batch(batch.map(({ name }) => name));
    }
    this.#book.isBegun = true;
    let there = this.#sides.there;
    if (this.#sent.size > 0) {
      there = await again();
      for (const [name, size] of this.#sent) {
        const known = this.#book.known.get(name);
        const stamp = there.get(name);
        if (known && stamp?.size === size) known.stamps.there = stamp;
      }
    }
    if (this.#isFresh) await tick(there);
  }

  /** What is in the copy before the first `send`, and not in the tree, is left alone. */
  async #noteBefore(): Promise<void> {
    const { here, there, to } = this.#sides;
    const names = [...there.keys()].filter((name) => !here.has(name));
    this.#isFresh = true;
    const note = (name: string, digest: string | undefined) => {
      const stamps = { there: there.get(name) };
      this.#book.known.set(name, { origin: "before", sent: undefined, there: digest, stamps });
    };
    for (const name of names) note(name, BEFORE);
    const unsure = names.filter((name) => there.get(name) === undefined);
    for (const batch of batches(listed(unsure, there), BATCH_BYTES)) {
      const held = await heldBy(
        to,
        batch.map(({ name }) => name),
        this.#fail,
      );
      for (const [name, content] of held) note(name, content?.digest);
    }
  }

  /** Deletes in the copy what the tree has no longer. */
  async #remove(): Promise<void> {
    const { here, there, from, to } = this.#sides;
    const missing = [...this.#book.known.keys()].filter((name) => !here.has(name));
    const gone = missing.filter((name) => this.#book.known.get(name)?.origin === "mirrored");
    // What a listing leaves out because it is ignored now is not gone.
    const ours = await heldBy(from, gone, this.#fail);
    const theirs = await this.#there(gone.filter((name) => there.has(name)));
    for (const name of gone) {
      if (!ours.has(name) || (there.has(name) && !theirs.has(name))) continue;
      const isLeft = ours.get(name) !== undefined || !there.has(name);
      if (!isLeft) {
        if (theirs.get(name) !== this.#book.known.get(name)?.there) {
          this.#result.waiting.push(to.path(name));
          continue;
        }
        const refused = await to.remove(name);
        if (refused && !isGone(refused)) {
          this.#fail(name, refused);
          continue;
        }
        this.#result.removed += 1;
      }
      this.#book.known.delete(name);
      this.#book.texts.forget(name);
    }
  }

  /** The digests of files of the copy; what was changed since it was last seen is read. */
  async #there(names: readonly string[]): Promise<Map<string, string | undefined>> {
    const { there, to } = this.#sides;
    const known = (name: string) => this.#book.known.get(name);
    const isKnown = (name: string) =>
      known(name)?.there !== BEFORE && isTold(known(name), "there", there.get(name));
    const unknown = names.filter((name) => !isKnown(name));
    const read = await heldBy(to, unknown, this.#fail);
    this.#isFresh ||= unknown.length > 0;
    const found = new Map<string, string | undefined>();
    for (const name of names) {
      if (isKnown(name)) found.set(name, known(name)?.there);
      else if (read.has(name)) found.set(name, read.get(name)?.digest);
    }
    return found;
  }

  async #batch(names: readonly string[]): Promise<void> {
    const { from, here, there } = this.#sides;
    const known = (name: string) => this.#book.known.get(name);
    const changed = names.filter((name) => !isTold(known(name), "here", here.get(name)));
    const ours = await heldBy(from, changed, this.#fail);
    const theirs = await this.#there(names.filter((name) => there.has(name)));
    const wanted: string[] = [];
    for (const name of names) {
      const digest = changed.includes(name) ? ours.get(name)?.digest : known(name)?.sent;
      // It could not be read, or was deleted since it was listed.
      if (digest === undefined || (there.has(name) && !theirs.has(name))) continue;
      const has = theirs.get(name);
      if (has === digest) {
        this.#result.equal += 1;
        const held = ours.get(name);
        if (held && known(name)?.sent !== digest) this.#book.texts.keep(name, held.bytes);
        this.#settle(name, digest, there.get(name));
      } else if (this.#mayReplace(name, has)) wanted.push(name);
      else this.#result.waiting.push(this.#sides.to.path(name));
    }
    const unread = wanted.filter((name) => !ours.has(name));
    const more = await heldBy(from, unread, this.#fail);
    const held = wanted.map((name) => [name, ours.get(name) ?? more.get(name)] as const);
    await this.#put(held.flatMap(([name, content]) => (content ? [[name, content]] : [])));
  }

  /** Whether a file of the copy that differs may be replaced, or is one that somebody changed there. */
  #mayReplace(name: string, has: string | undefined): boolean {
    const known = this.#book.known.get(name);
    if (known && known.origin !== "before") return has === known.there;
    if (has === undefined) return true;
    if (known === undefined && this.#book.isBegun) return false;
    if (this.#overwrites) return true;
    const path = this.#sides.to.path(name);
    throw new Stop(
      `${path} exists with other content; pass onConflict: "overwrite", or another directory`,
      "already_exists",
    );
  }

  async #put(files: ReadonlyArray<[name: string, content: Held]>): Promise<void> {
    const { from, to } = this.#sides;
    const distinct = files.filter(([name]) => {
      const other = this.#spellings.other(to.path(name));
      if (other === undefined) return true;
      const error = `${to.path(name)} and ${other} are one name there; rename one of the two`;
      this.#fail(name, { error, code: "already_exists" });
      return false;
    });
    const answers = await to.put(distinct.map(([name, { bytes }]) => [name, bytes]));
    const stored: string[] = [];
    for (const [at, [name, { bytes, digest }]] of distinct.entries()) {
      const refused = answers[at];
      if (refused) {
        this.#fail(name, refused);
        continue;
      }
      stored.push(name);
      this.#isFresh = true;
      this.#settle(name, digest, undefined);
      this.#book.texts.keep(name, bytes);
      this.#sent.set(name, bytes.length);
      this.#result.sent += 1;
      this.#result.bytes += bytes.length;
    }
    await to.permit(stored, from);
  }

  /** Both sides have the same. */
  #settle(name: string, digest: string, there: Known["stamps"]["there"]): void {
    const { here, listed } = this.#sides;
    const stamp = here.get(name);
    const sure = stamp && stamp.changed + MARGIN_MS < listed ? stamp : undefined;
    const stamps = { here: sure, there };
    this.#book.known.set(name, { origin: "mirrored", sent: digest, there: digest, stamps });
  }
}

/** Files as batches are made of. */
export function listed(names: readonly string[], listing: Listing) {
  return names.map((name) => ({ name, size: listing.get(name)?.size, changed: 0 }));
}
