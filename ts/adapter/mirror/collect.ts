// Brings what was changed in the copy into a turn over the tree. Where the tree was changed too, texts are
// merged; where both changes touch, the tree's file stays, and the other one is put beside it.

import { Spellings } from "../../core/folding.js";
import { BATCH_BYTES, batches } from "../transfer/place.js";
import type { Refusal, Tree } from "../transfer/tree.js";
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
import { merged } from "./merging.js";
import { listed } from "./send.js";
import type { Collected } from "./types.js";

/** How many names are tried for a file beside another. */
const TRIES = 10;

/** `a/b.txt` as `a/b (conflict of the sandbox, 2026-11-27 05.31.00).txt`. */
function besideName(name: string, changed: number | undefined, tries: number): string {
  const [day, time = ""] = new Date(changed ?? Date.now()).toISOString().slice(0, 19).split("T");
  const again = tries === 0 ? "" : ` ${tries + 1}`;
  const dot = name.lastIndexOf(".");
  const end = dot > name.lastIndexOf("/") + 1 ? dot : name.length;
  const mark = ` (conflict of the sandbox, ${day} ${time.replaceAll(":", ".")})${again}`;
  return name.slice(0, end) + mark + name.slice(end);
}

/** Whether the tree has what the copy was changed from: what was sent, or what was brought back since. */
function isFollowed({ digest }: Held, known: Known | undefined): boolean {
  return digest === known?.sent || digest === known?.there;
}

/** One call of `collect`. */
export class Collecting {
  readonly #book: Book;
  readonly #to: Tree;
  readonly #there: Listing;
  /** The tree, as the turn changes it. */
  readonly #turn: Tree;
  readonly #result: Collected;
  readonly #fail: Fail;
  readonly #spellings: Spellings;
  /** What is known afterwards, if it comes to an end. */
  readonly #settled = new Map<string, Known>();

  constructor(book: Book, to: Tree, there: Listing, turn: Tree, result: Collected) {
    this.#book = book;
    this.#to = to;
    this.#there = there;
    this.#turn = turn;
    this.#result = result;
    this.#fail = failing(turn, result.failures);
    this.#spellings = new Spellings(turn.names);
  }

  /** @param checkBytes Throws if so many bytes are too many. */
  async run(signal: AbortSignal | undefined, checkBytes: (bytes: number) => void): Promise<void> {
    await this.#removed();
    const changed = [...this.#there.keys()].filter((name) => this.#mayBeChanged(name));
    let bytes = 0;
    for (const batch of batches(listed(changed, this.#there), BATCH_BYTES)) {
      check(signal);
      // One that is too large is not read.
      for (const { size = 0 } of batch) checkBytes(size);
      const names = batch.map(({ name }) => name);
      for (const [name, held] of await heldBy(this.#to, names, this.#fail)) {
        if (!held) continue;
        bytes += await this.#found(name, held);
        checkBytes(bytes);
      }
    }
    for (const [name, known] of this.#settled) this.#book.known.set(name, known);
    if (changed.length > 0) await tick(this.#there);
  }

  #mayBeChanged(name: string): boolean {
    const known = this.#book.known.get(name);
    if (!known || !isTold(known, "there", this.#there.get(name))) return true;
    return known.origin !== "before" && known.there !== known.sent;
  }

  /** What the commands deleted. */
  async #removed(): Promise<void> {
    const missing = [...this.#book.known.keys()].filter((name) => !this.#there.has(name));
    const ours = missing.filter((name) => this.#book.known.get(name)?.origin === "mirrored");
    for (const [name, held] of await heldBy(this.#to, ours, this.#fail)) {
      const known = this.#book.known.get(name);
      // It is there, but ignored now.
      if (!known || held) continue;
      const kept = (await heldBy(this.#turn, [name], this.#fail)).get(name);
      // A deletion never beats an edit.
      if (kept && isFollowed(kept, known)) {
        const refused = await this.#turn.remove(name);
        if (refused && !isGone(refused)) {
          this.#fail(name, refused);
          continue;
        }
        this.#result.changed.push({ path: this.#turn.path(name), what: "deleted" });
      }
      const stamps = { here: known.stamps.here };
      this.#settled.set(name, { ...known, there: undefined, stamps });
    }
  }

  /** A file of the copy. Returns how many bytes of it are brought back. */
  async #found(name: string, held: Held): Promise<number> {
    const known = this.#book.known.get(name);
    const stamps = {
      here: known?.stamps.here,
      there: this.#there.get(name),
    };
    const isAsBefore = known?.origin === "before" && known.there === held.digest;
    const isAsSent = known?.sent === held.digest;
    if (!isAsBefore && !isAsSent && !(await this.#take(name, held, known))) return 0;
    const origin = known?.origin === "before" && !isAsBefore ? "taken" : known?.origin;
    this.#settled.set(name, {
      origin: origin ?? "mirrored",
      sent: known?.sent,
      there: held.digest,
      stamps,
    });
    return isAsBefore || isAsSent ? 0 : held.bytes.length;
  }

  /** Brings a changed file back. Returns whether that could be done. */
  async #take(name: string, theirs: Held, known: Known | undefined): Promise<boolean> {
    const path = this.#turn.path(name);
    const other = this.#spellings.other(path);
    if (other !== undefined) {
      const error = `${path} and ${other} are one name in the tree; rename one of the two`;
      this.#fail(name, { error, code: "already_exists" });
      return false;
    }
    const read = await heldBy(this.#turn, [name], this.#fail);
    if (!read.has(name)) return false;
    const ours = read.get(name);
    if (ours?.digest === theirs.digest) return true;
    // It is as it was sent; or it is no longer there, and a deletion never beats an edit.
    if (!ours || isFollowed(ours, known)) {
      return this.#put(name, theirs.bytes, ours ? "changed" : "created");
    }
    const base = this.#book.texts.of(name);
    const both = base && known?.sent && (await merged(base, ours.bytes, theirs.bytes));
    if (both) return this.#put(name, both, "merged");
    return this.#beside(name, theirs);
  }

  async #put(
    name: string,
    bytes: Uint8Array,
    what: "created" | "changed" | "merged",
  ): Promise<boolean> {
    const [refused] = await this.#turn.put([[name, bytes]]);
    if (refused) this.#fail(name, refused);
    else this.#result.changed.push({ path: this.#turn.path(name), what });
    return refused === undefined;
  }

  /** Puts a file beside the one of the tree, unless that was done before. */
  async #beside(name: string, { bytes, digest }: Held): Promise<boolean> {
    let refused: Refusal | undefined;
    for (let tries = 0; tries < TRIES; tries++) {
      const copy = besideName(name, this.#there.get(name)?.changed, tries);
      refused = await this.#turn.create(copy, bytes);
      if (refused === undefined) {
        const path = this.#turn.path(name);
        this.#result.conflicts.push({ path, copy: this.#turn.path(copy) });
        return true;
      }
      if (refused.code !== "already_exists") break;
      const there = (await heldBy(this.#turn, [copy], this.#fail)).get(copy);
      if (there?.digest === digest) return true;
    }
    if (refused) this.#fail(name, refused);
    return false;
  }
}
