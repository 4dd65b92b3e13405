// mirror: a tree written out to where commands run, and what the commands changed brought back as a turn.

import { type AnyBackend, begin } from "kitbag";
import { notInside } from "../transfer/inside.js";
import { checkOptions, directoryOf } from "../transfer/options.js";
import { Stop, summary } from "../transfer/tally.js";
import { Tree } from "../transfer/tree.js";
import { Collecting } from "./collect.js";
import { type Book, check } from "./known.js";
import { type Listing, list } from "./listing.js";
import { Texts } from "./merging.js";
import { Sending } from "./send.js";
import type { Collected, Mirror, MirrorOptions, Sent } from "./types.js";

export type { Mirror, MirrorOptions } from "./types.js";

const MOST_FILES = 10_000;
const MOST_BYTES = 256 << 20;

const KINDS = {
  from: "text",
  to: "text",
  paths: "texts",
  ignore: "ignore",
  maxFiles: "positive",
  maxBytes: "positive",
  onConflict: ["error", "overwrite"],
  by: "name",
} as const;

class BackendMirror implements Mirror {
  readonly #source: AnyBackend;
  readonly #target: AnyBackend;
  readonly #options: MirrorOptions;
  readonly #from: string;
  readonly #to: string;
  readonly #book: Book = { known: new Map(), texts: new Texts(), isBegun: false };
  /** The call before; calls do not overlap. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(source: AnyBackend, target: AnyBackend, options: MirrorOptions) {
    checkOptions("mirror", options, KINDS);
    this.#source = source;
    this.#target = target;
    this.#options = options;
    this.#from = directoryOf("mirror", "from", options.from);
    this.#to = directoryOf("mirror", "to", options.to);
    // What is no backend is told now.
    this.#trees(undefined);
  }

  send({ signal }: { signal?: AbortSignal } = {}): Promise<Sent> {
    const result: Sent = { sent: 0, bytes: 0, removed: 0, equal: 0, waiting: [], failures: [] };
    return this.#alone(result, signal, async () => {
      const { from, to } = this.#trees(signal);
      await notInside(this.#source, this.#target, from, to);
      await notInside(this.#target, this.#source, to, from);
      const listed = Date.now();
      const here = await this.#list("from", signal);
      const sizes = [...here.values()].reduce((sum, stamp) => sum + (stamp?.size ?? 0), 0);
      this.#checkBytes(sizes, `the files of ${this.#from} have`);
      const there = await this.#list("to", signal);
      const sides = { from, to, here, there, listed };
      const overwrites = this.#options.onConflict === "overwrite";
      const sending = new Sending(this.#book, sides, result, overwrites);
      await sending.run(signal, () => this.#list("to", signal));
    });
  }

  collect({ signal }: { signal?: AbortSignal } = {}): Promise<Collected> {
    const result: Collected = { changed: [], conflicts: [], failures: [] };
    return this.#alone(result, signal, async () => {
      if (!this.#book.isBegun) {
        const error = "Nothing was sent yet, so no change can be told apart; call send() first";
        throw new Stop(error, "invalid_argument");
      }
      const { to } = this.#trees(signal);
      const there = await this.#list("to", signal);
      const by = this.#options.by ?? "mirror";
      const turn = begin(this.#source, { by, writeMode: "overwrite" });
      const changed = new Tree(turn, this.#from, signal);
      const collecting = new Collecting(this.#book, to, there, changed, result);
      await collecting.run(signal, (bytes) => this.#checkBytes(bytes, "the changes have"));
      result.turn = turn;
    });
  }

  #trees(signal: AbortSignal | undefined): { from: Tree; to: Tree } {
    const from = new Tree(this.#source, this.#from, signal);
    return { from, to: new Tree(this.#target, this.#to, signal) };
  }

  /** The files of a side. */
  #list(side: "from" | "to", signal: AbortSignal | undefined): Promise<Listing> {
    const backend = side === "from" ? this.#source : this.#target;
    const of = {
      backend: this.#options.ignore?.around(backend) ?? backend,
      root: side === "from" ? this.#from : this.#to,
      paths: this.#options.paths ?? ["**"],
      most: this.#options.maxFiles ?? MOST_FILES,
    };
    return list(of, signal ? { signal } : {});
  }

  #checkBytes(bytes: number, what: string): void {
    const most = this.#options.maxBytes ?? MOST_BYTES;
    if (bytes <= most) return;
    const error = `mirror: ${what} more than ${most} bytes; name fewer files by paths or ignore, or pass maxBytes`;
    throw new Stop(error, "too_large");
  }

  /** Runs a call when the one before has ended. */
  #alone<R extends Sent | Collected>(
    result: R,
    signal: AbortSignal | undefined,
    work: () => Promise<void>,
  ): Promise<R> {
    const run = async (): Promise<R> => {
      try {
        check(signal);
        await work();
      } catch (error) {
        result.error = error instanceof Error ? error.message : String(error);
        result.code = error instanceof Stop ? error.code : "unavailable";
        return result;
      }
      return Object.assign(result, summary(result.failures, result.failures.length));
    };
    const done = this.#last.then(run);
    this.#last = done;
    return done;
  }
}

/**
 * Mirrors a tree to where commands run, such as a sandbox: `send` writes its files there, `collect` brings
 * what commands changed back as a turn, for review. Nothing is read yet. Throws for a wrong option.
 *
 * @example
 * const work = mirror(backend, sandbox, { to: "/work" });
 * await work.send();
 * await sandbox.execute("cd /work && npm test -- --update");
 * const { turn, changed } = await work.collect();
 * await turn?.commit();
 */
export function mirror(
  backend: AnyBackend,
  sandbox: AnyBackend,
  options: MirrorOptions = {},
): Mirror {
  return new BackendMirror(backend, sandbox, options);
}
