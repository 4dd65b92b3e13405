// Puts files into a tree under a conflict rule. A file that is not expected in the target is created
// with a condition, so that one which another writer made meanwhile is never replaced by accident. Two
// names that the target takes for one are refused, because one file would replace the other.

import { Spellings } from "../../core/folding.js";
import { Large } from "./large.js";
import { Stop, type Tally } from "./tally.js";
import { type Listed, same, type Tree } from "./tree.js";

/** A file that is in both trees with different content. */
export interface TransferConflict {
  /** Path in the target. */
  path: string;
  /** Size of the source's file in bytes, if it is known. */
  sourceSize?: number;
  /** Size of the target's file in bytes, if it is known. */
  targetSize?: number;
}

/** What to do about a conflict: leave the target's file, replace it, or end the transfer. */
export type ConflictRule =
  | "skip"
  | "overwrite"
  | "error"
  | ((
      conflict: TransferConflict,
    ) => "skip" | "overwrite" | "error" | Promise<"skip" | "overwrite" | "error">);

/** Most files that are created at the same time. */
const CREATED_AT_ONCE = 16;

/** Why a link is not made. */
const TAKEN = { error: "A directory is there, and the source has a link", code: "is_directory" };

/** A file to store. */
export type Content = [name: string, bytes: Uint8Array];

/** Runs work over items, a few at a time. */
export async function inParallel<T>(
  items: Iterable<T>,
  count: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const all = items[Symbol.iterator]();
  let failed = false;
  const worker = async () => {
    while (!failed) {
      const { done, value } = all.next();
      if (done) return;
      try {
        await work(value);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  // Waits for all of them, so that nothing is stored after the result is known.
  const ends = await Promise.allSettled(Array.from({ length: count }, worker));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

/** The target of a transfer. */
export class Place {
  readonly #tree: Tree;
  readonly #tally: Tally;
  readonly #rule: ConflictRule;
  readonly #spellings: Spellings;
  /** Files that were stored, or were there already, since somebody took them from here. */
  settled: string[] | undefined;

  constructor(tree: Tree, tally: Tally, rule: ConflictRule | undefined) {
    this.#tree = tree;
    this.#tally = tally;
    this.#rule = rule ?? "error";
    this.#spellings = new Spellings(tree.names);
  }

  /** The verdict about a file that is there with other content; throws for `error`. */
  async verdict(
    name: string,
    source: number | undefined,
    target: number | undefined,
  ): Promise<"skip" | "overwrite"> {
    const path = this.#tree.path(name);
    const asked: TransferConflict = { path };
    if (source !== undefined) asked.sourceSize = source;
    if (target !== undefined) asked.targetSize = target;
    const rule = typeof this.#rule === "function" ? await this.#rule(asked) : this.#rule;
    if (rule === "skip") this.#tally.result.skipped += 1;
    if (rule === "skip" || rule === "overwrite") return rule;
    if (rule !== "error") {
      throw new Stop(`onConflict must answer "skip", "overwrite" or "error"`, "invalid_argument");
    }
    throw new Stop(
      `${path} exists with other content; pass onConflict: "skip" or "overwrite", or another directory`,
      "already_exists",
    );
  }

  /** Stores files that are not expected there. */
  async create(files: readonly Content[]): Promise<void> {
    if (this.#rule === "overwrite" || !this.#tree.createsExclusively) return this.put(files);
    const names = new Set(this.#distinct(files.map(([name]) => name)));
    const all = files.filter(([name]) => names.has(name));
    await inParallel(all, CREATED_AT_ONCE, async ([name, bytes]) => {
      this.#tally.check();
      const refused = await this.#tree.create(name, bytes);
      if (refused === undefined) this.#stored(name, bytes.length);
      else if (refused.code === "already_exists") await this.#exists(name, bytes);
      else this.#fail(name, refused);
    });
  }

  /** Stores files and replaces those that exist. */
  async put(given: readonly Content[]): Promise<void> {
    const names = new Set(this.#distinct(given.map(([name]) => name)));
    const files = given.filter(([name]) => names.has(name));
    const answers = await this.#tree.put(files);
    for (const [at, [name, bytes]] of files.entries()) {
      const refused = answers[at];
      if (refused === undefined) this.#stored(name, bytes.length);
      else this.#fail(name, refused);
    }
  }

  /** Stores a large file. `known` is whether one is expected there, about which the rule was asked. */
  async large(name: string, file: Large, known: boolean): Promise<void> {
    if (this.#distinct([name]).length === 0) return;
    const { createsExclusively } = this.#tree;
    const isNew = !known && this.#rule !== "overwrite" && createsExclusively;
    let refused = await file.store(this.#tree, isNew);
    if (isNew && refused?.code === "already_exists") {
      const there = await Large.of(this.#tree, name);
      if (there && (await file.equals(there)) === true) return this.equal(name);
      if ((await this.verdict(name, file.size, there?.size)) === "skip") return;
      refused = await file.store(this.#tree, false);
    }
    if (refused === undefined) this.#stored(name, file.size);
    else this.#fail(name, refused);
  }

  /** Makes links, when the files are there. */
  async links(links: ReadonlyMap<string, string>): Promise<void> {
    for (const [name, text] of links) {
      this.#tally.check();
      let done = await this.#tree.link(name, text, this.#rule === "overwrite");
      if (done === "other" && (await this.verdict(name, undefined, undefined)) === "overwrite") {
        done = await this.#tree.link(name, text, true);
      }
      if (done === "made") this.#tally.stored(0);
      else if (done === "equal") this.#tally.result.equal += 1;
      else if (done === "directory") this.#fail(name, TAKEN);
      else if (done !== "other") this.#fail(name, done);
    }
  }

  /** The names that are not another spelling of an earlier one. */
  #distinct(names: readonly string[]): readonly string[] {
    return names.filter((name) => {
      const path = this.#tree.path(name);
      const other = this.#spellings.other(path);
      if (other === undefined) return true;
      const error = `${path} and ${other} are one name in the target, which does not distinguish them (${this.#tree.names}); rename one of the two`;
      this.#fail(name, { error, code: "already_exists" });
      return false;
    });
  }

  async #exists(name: string, bytes: Uint8Array): Promise<void> {
    const [there] = await this.#tree.bytes([name]);
    if (there instanceof Uint8Array && same(there, bytes)) return this.equal(name);
    const size = there instanceof Uint8Array ? there.length : undefined;
    if ((await this.verdict(name, bytes.length, size)) === "overwrite") {
      await this.put([[name, bytes]]);
    }
  }

  /** A file is there already. */
  equal(name: string): void {
    this.#tally.result.equal += 1;
    this.settled?.push(name);
  }

  #stored(name: string, bytes: number): void {
    this.#tally.stored(bytes);
    this.settled?.push(name);
  }

  #fail(name: string, refused: { error: string; code: string }): void {
    this.#tally.check();
    this.#tally.fail(this.#tree.path(name), refused);
  }
}

/** Files in groups whose sizes come to about `bytes`; a larger file is alone in its group. */
export function* batches(files: Iterable<Listed>, bytes: number): Generator<Listed[]> {
  let batch: Listed[] = [];
  let sum = 0;
  for (const file of files) {
    const size = file.size ?? UNKNOWN_SIZE;
    if (batch.length > 0 && (sum + size > bytes || batch.length >= BATCH_FILES)) {
      yield batch;
      batch = [];
      sum = 0;
    }
    batch.push(file);
    sum += size;
  }
  if (batch.length > 0) yield batch;
}

/** Most files of a batch. */
const BATCH_FILES = 64;
/** What a file counts whose size is not listed. */
const UNKNOWN_SIZE = 256 * 1024;
/** Bytes of a batch, if the caller does not say. */
export const BATCH_BYTES = 8 * 1024 * 1024;
