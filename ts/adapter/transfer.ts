// Copies and compares whole trees between any two backends. Nothing is kept about an earlier run: a
// file that is in the target already, whole and equal, is recognised by its content, so a copy that
// was broken off goes on when it is started again.

import type { AnyBackend } from "kitbag";
import { notInside } from "./transfer/inside.js";
import { LARGE, Large } from "./transfer/large.js";
import { checkOptions, directoryOf } from "./transfer/options.js";
import {
  BATCH_BYTES,
  batches,
  type ConflictRule,
  type Content,
  inParallel,
  Place,
} from "./transfer/place.js";
import { Stop, Tally, type TransferProgress, type TransferResult } from "./transfer/tally.js";
import { type Listed, LOOP, type Refusal, same, Tree, UNKNOWN } from "./transfer/tree.js";

export { type Mirror, type MirrorOptions, mirror } from "./mirror/mirror.js";
export type { ConflictRule, TransferConflict } from "./transfer/place.js";
export type { TransferFailure, TransferProgress, TransferResult } from "./transfer/tally.js";

/** Options of `copyTree`. */
export interface CopyTreeOptions {
  /** The directory of the source. Default `/`. */
  from?: string;
  /** The directory of the target. Default `/`. */
  to?: string;
  /**
   * What to do about a file that the target has with other content: end the copy (`"error"`, the
   * default), keep the target's file (`"skip"`), replace it (`"overwrite"`), or what a function
   * returns. A file with the same content is never a conflict.
   */
  onConflict?: ConflictRule;
  /**
   * How to find out that a file is in the target already: by its bytes (`"content"`, the default), or
   * by its size and a time that is not older than the source's (`"time"`), without reading either.
   */
  compare?: "content" | "time";
  /**
   * Whether links inside a folder are followed, so that their files are copied (`"follow"`, the
   * default), or copied as links (`"keep"`, from one `FilesystemBackend` to another). Links that lead
   * out of the folder are never copied as links.
   */
  links?: "follow" | "keep";
  /** Bytes that are read before they are stored, twice at the same time. Default 8 MiB. */
  batchBytes?: number;
  /** Called after each batch. What it throws ends the copy. */
  onProgress?: (progress: TransferProgress) => unknown;
  /** Ends the copy; the result then has `code: "timeout"`. */
  signal?: AbortSignal;
}

/** Options of `compareTrees`. */
export interface CompareTreesOptions {
  /** The directory of the first tree. Default `/`. */
  from?: string;
  /** The directory of the second tree. Default `/`. */
  to?: string;
  /** As of `copyTree`. Default `"content"`. */
  compare?: "content" | "time";
  /** Bytes that are read at a time from each tree. Default 8 MiB. */
  batchBytes?: number;
  /** Called after each batch. */
  onProgress?: (progress: TransferProgress) => unknown;
  /** Ends the comparison; the result then has `code: "timeout"`. */
  signal?: AbortSignal;
}

/** Result of `compareTrees`; the paths are those below the directories, in order. */
export interface TreeComparison {
  /** What ended the comparison. Absent on success. */
  error?: string;
  /** The kind of error. Absent on success. */
  code?: string;
  /** Files of the first tree only. */
  onlyFirst: string[];
  /** Files of the second tree only. */
  onlySecond: string[];
  /** Files of both with different content. */
  different: string[];
  /** Number of files that are equal. */
  equal: number;
}

/** Batches that are copied at the same time: one is read while the other is stored. */
const BATCHES_AT_ONCE = 2;

const COMMON = {
  from: "text",
  to: "text",
  compare: ["content", "time"],
  batchBytes: "positive",
  onProgress: "callback",
  signal: "signal",
} as const;

/**
 * Copies all files of a directory to another backend. Start it again after it was broken off, and it
 * goes on: files that are equal are not stored again. Never rejects; throws for a wrong option.
 *
 * @example
 * const result = await copyTree(folder, bucket, { to: "/backup", onConflict: "overwrite" });
 * if (result.error) console.error(result.error, result.failures);
 */
export function copyTree(
  source: AnyBackend,
  target: AnyBackend,
  options: CopyTreeOptions = {},
): Promise<TransferResult> {
  const onConflict = ["skip", "overwrite", "error", "()"];
  const kinds = { ...COMMON, onConflict, links: ["follow", "keep"] };
  checkOptions("copyTree", options, kinds);
  const from = new Tree(source, directoryOf("copyTree", "from", options.from), options.signal);
  const to = new Tree(target, directoryOf("copyTree", "to", options.to), options.signal);
  const tally = new Tally(options);
  return tally.run(async () => {
    await notInside(source, target, from, to);
    if (options.links === "keep") await keepLinks(from, to);
    const [have, there] = await both(from, to);
    tally.result.totalFiles = have.length + from.links.size;
    tally.result.totalBytes = sum(have);
    tally.tell();
    const known = new Map(there.map((file) => [file.name, file]));
    const place = new Place(to, tally, options.onConflict);
    place.settled = [];
    const copy = new Copy(from, to, place, tally, options);
    const all = batches(have, options.batchBytes ?? BATCH_BYTES);
    await inParallel(all, BATCHES_AT_ONCE, async (batch) => {
      tally.check();
      await copy.batch(batch, known);
      tally.tell();
    });
    await place.links(from.links);
    for (const name of from.loops) tally.fail(to.path(name), LOOP);
    for (const name of from.unknown) tally.fail(to.path(name), UNKNOWN);
    tally.result.emptyDirectories = from.emptyDirectories.length;
    if (from.otherLinks > 0) tally.result.linksLeftOut = from.otherLinks;
  });
}

/**
 * Compares all files of two directories. Never rejects; throws for a wrong option.
 *
 * @example
 * const { onlyFirst, onlySecond, different } = await compareTrees(folder, bucket, { to: "/backup" });
 */
export function compareTrees(
  first: AnyBackend,
  second: AnyBackend,
  options: CompareTreesOptions = {},
): Promise<TreeComparison> {
  checkOptions("compareTrees", options, COMMON);
  const one = new Tree(first, directoryOf("compareTrees", "from", options.from), options.signal);
  const other = new Tree(second, directoryOf("compareTrees", "to", options.to), options.signal);
  const tally = new Tally(options);
  const found: TreeComparison = { onlyFirst: [], onlySecond: [], different: [], equal: 0 };
  const work = async () => {
    const [have, there] = await both(one, other);
    for (const tree of [one, other]) complete(tree);
    tally.result.totalFiles = have.length;
    tally.result.totalBytes = sum(have);
    const known = new Map(there.map((file) => [file.name, file]));
    for (const batch of batches(have, options.batchBytes ?? BATCH_BYTES)) {
      tally.check();
      const pairs = batch.flatMap((file) => {
        const match = known.get(file.name);
        known.delete(file.name);
        if (match === undefined) found.onlyFirst.push(file.name);
        return match === undefined ? [] : [{ file, match, looks: look(file, match, options) }];
      });
      for (const pair of pairs) {
        if (pair.looks === "unsure") pair.looks = await lookInRanges(one, other, pair.file);
      }
      const unsure = pairs.filter(({ looks }) => looks === "unsure");
      const names = unsure.map(({ file }) => file.name);
      const [ours, theirs] = await Promise.all([one.bytes(names), other.bytes(names)]);
      for (const { file, looks } of pairs) {
        const at = names.indexOf(file.name);
        if (looks === "equal" || (looks === "unsure" && equal(ours[at], theirs[at]))) {
          found.equal += 1;
        } else found.different.push(file.name);
      }
      tally.result.equal = found.equal;
      tally.tell();
    }
    found.onlySecond = [...known.keys()];
  };
  return tally.run(work).then(({ error, code }) => ({ ...found, ...(error && { error, code }) }));
}

/** Lets links be links, where both trees have any. */
async function keepLinks(from: Tree, to: Tree): Promise<void> {
  if (!from.isOnDisk || !to.isOnDisk) {
    const error =
      'links: "keep" copies from a FilesystemBackend to another; only folders have links';
    throw new Stop(error, "unsupported");
  }
  await from.keepLinks();
}

/** The files of both trees. */
async function both(one: Tree, other: Tree): Promise<[Listed[], Listed[]]> {
  const lists = await Promise.all([one.list(), other.list()]);
  for (const list of lists) if (!Array.isArray(list)) throw new Stop(list.error, list.code);
  return lists as [Listed[], Listed[]];
}

/** Throws if a tree has files that cannot be listed. */
function complete(tree: Tree): void {
  const [name] = tree.unknown;
  if (name !== undefined) throw new Stop(`${tree.path(name)}: ${UNKNOWN.error}`, UNKNOWN.code);
}

function sum(files: readonly Listed[]): number | undefined {
  let bytes = 0;
  for (const { size } of files) {
    if (size === undefined) return undefined;
    bytes += size;
  }
  return bytes;
}

/** What listings say about a file that is in both trees. */
function look(
  file: Listed,
  match: Listed,
  { compare }: { compare?: "content" | "time" },
): "equal" | "different" | "unsure" {
  if (file.size !== undefined && match.size !== undefined && file.size !== match.size) {
    return "different";
  }
  if (compare !== "time" || file.size === undefined || match.size === undefined) return "unsure";
  return match.changed >= file.changed ? "equal" : "different";
}

/** The same of large files that both backends read in ranges. */
async function lookInRanges(
  first: Tree,
  second: Tree,
  { name, size = 0 }: Listed,
): Promise<"equal" | "different" | "unsure"> {
  if (size <= LARGE) return "unsure";
  const [one, other] = await Promise.all([Large.of(first, name), Large.of(second, name)]);
  if (!one || !other) return "unsure";
  const isEqual = await one.equals(other);
  if (typeof isEqual === "object") throw new Stop(isEqual.error, isEqual.code);
  return isEqual ? "equal" : "different";
}

/** Whether two contents are the same; one that could not be read ends the comparison. */
function equal(one?: Uint8Array | Refusal, other?: Uint8Array | Refusal): boolean {
  for (const content of [one, other]) {
    if (content instanceof Uint8Array) continue;
    throw new Stop(content?.error ?? "A file was not read", content?.code ?? "unavailable");
  }
  return same(one as Uint8Array, other as Uint8Array);
}

/** Copies batches of files. */
class Copy {
  readonly #from: Tree;
  readonly #to: Tree;
  readonly #place: Place;
  readonly #tally: Tally;
  readonly #options: CopyTreeOptions;

  constructor(from: Tree, to: Tree, place: Place, tally: Tally, options: CopyTreeOptions) {
    this.#from = from;
    this.#to = to;
    this.#place = place;
    this.#tally = tally;
    this.#options = options;
  }

  async batch(files: readonly Listed[], known: ReadonlyMap<string, Listed>): Promise<void> {
    const missing: string[] = [];
    const unsure: string[] = [];
    const replaced: string[] = [];
    for (const file of files) {
      if (await this.#large(file, known.get(file.name))) continue;
      const match = known.get(file.name);
      const looks = match === undefined ? "missing" : look(file, match, this.#options);
      if (looks === "missing") missing.push(file.name);
      else if (looks === "unsure") unsure.push(file.name);
      else if (looks === "equal") this.#place.equal(file.name);
      else if ((await this.#place.verdict(file.name, file.size, match?.size)) === "overwrite") {
        replaced.push(file.name);
      }
    }
    const [ours, theirs] = await Promise.all([
      this.#read([...missing, ...replaced, ...unsure]),
      this.#to.bytes(unsure),
    ]);
    for (const [at, name] of unsure.entries()) {
      const content = ours.get(name);
      if (content === undefined) continue;
      const there = theirs[at];
      if (there instanceof Uint8Array && same(content, there)) this.#place.equal(name);
      // It was deleted since it was listed.
      else if (!(there instanceof Uint8Array) && there?.code === "not_found") missing.push(name);
      else if (!(there instanceof Uint8Array)) {
        this.#tally.fail(this.#to.path(name), there ?? { error: "No answer", code: "unavailable" });
      } else if ((await this.#place.verdict(name, content.length, there.length)) === "overwrite") {
        replaced.push(name);
      }
    }
    const contents = (names: readonly string[]) =>
      names.flatMap((name): Content[] => {
        const content = ours.get(name);
        return content === undefined ? [] : [[name, content]];
      });
    await this.#place.create(contents(missing));
    await this.#place.put(contents(replaced));
    await this.#to.permit(this.#place.settled?.splice(0) ?? [], this.#from);
  }

  /** Copies a large file in ranges; `false` if one of the two backends must have all of it at once. */
  async #large(file: Listed, match: Listed | undefined): Promise<boolean> {
    const { name, size = 0 } = file;
    const looks = match && look(file, match, this.#options);
    if (size <= LARGE || looks === "equal" || !this.#to.takesParts) return false;
    const source = await Large.of(this.#from, name);
    if (source === undefined) return false;
    if (looks === "unsure") {
      const there = await Large.of(this.#to, name);
      if (there === undefined) return false;
      const isEqual = await source.equals(there);
      if (typeof isEqual === "object") {
        this.#tally.check();
        this.#tally.fail(this.#to.path(name), isEqual);
        return true;
      }
      if (isEqual) {
        this.#place.equal(name);
        return true;
      }
    }
    const known = match !== undefined;
    if (known && (await this.#place.verdict(name, source.size, match.size)) === "skip") return true;
    await this.#place.large(name, source, known);
    return true;
  }

  async #read(names: readonly string[]): Promise<Map<string, Uint8Array>> {
    const read = new Map<string, Uint8Array>();
    const answers = await this.#from.bytes(names);
    for (const [at, name] of names.entries()) {
      const answer = answers[at];
      if (answer instanceof Uint8Array) read.set(name, answer);
      else {
        this.#tally.check();
        this.#tally.fail(
          this.#from.path(name),
          answer ?? { error: "No answer", code: "unavailable" },
        );
      }
    }
    return read;
  }
}
