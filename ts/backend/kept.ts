// beginKept: turns that outlive their process. What keeps them is in Rust.

import chunk from "#chunk/history";
import { received } from "../core/call.js";
import { called } from "../core/called.js";
import { kindOf, Options, refused, text } from "../core/checks.js";
import { handleOf, sealClass } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import * as question from "../core/questions.js";
import type { AnyBackend } from "../foreign/adapt.js";
import { withHandle } from "../foreign/calls.js";
import type { CallOptions, Failure, Result } from "../types.js";
import { passWatch } from "./passing.js";
import { list, Turn, type TurnOptions } from "./turn.js";

/** Options of `beginKept`, beside those of `begin`. */
export interface KeptTurnOptions extends TurnOptions {
  /**
   * Where the turn is kept: `beginKept` with the same `keepIn`, `folder` and `name` goes on with it,
   * also in another process.
   */
  keepIn: AnyBackend;
  /** The directory of `keepIn` with all kept turns. Default `/.kitbag/turns/kept`. */
  folder?: string;
  /**
   * The name of the turn, such as that of its task: letters, digits, `-`, `_` and `.`. Default: a new
   * random name.
   */
  name?: string;
}

/** Where turns are kept. */
export interface KeptTurnsOptions extends CallOptions {
  /** The option `folder` of `beginKept`. */
  folder?: string;
}

/** What `keptTurns` returns. */
export interface KeptTurnsFields {
  /** Names for the option `name` of `beginKept`. */
  names: string[];
}

/** The result of `keptTurns`. */
export type KeptTurns = Result<KeptTurnsFields>;

/** Where turns are kept: a turn does not show this directory. */
const KEPT = "/.kitbag/turns/kept";

function plain(options: unknown): TurnOptions | undefined {
  const { by, writeMode } = (options ?? {}) as TurnOptions;
  return { by, writeMode } as TurnOptions;
}

/** A turn that is kept in a backend. The result of `beginKept`. */
export class KeptTurn extends Turn {
  /** The name under which the turn is kept. */
  readonly name: string;

  /** Throws a `TypeError` if a backend is none, or an option is wrong. Reads nothing. */
  constructor(backend: AnyBackend, options: KeptTurnOptions) {
    const given = new Options("beginKept", options);
    for (const own of ["by", "writeMode"]) given.raw(own);
    const keepIn = given.raw("keepIn");
    if (keepIn === undefined) given.refuse("keepIn", "a backend", undefined);
    const folder = given.text("folder") ?? KEPT;
    const wanted = given.text("name");
    given.done();
    super(backend, plain(options));
    chunk.load();
    this.name = withHandle('beginKept: option "keepIn"', keepIn, (kept) => {
      enter(() => glue.turn_keep(handleOf(this), kept, folder, wanted));
      const name = received((reply) => reply.text());
      if (typeof name === "string") return name;
      throw new TypeError(`beginKept: ${(name as Failure)?.error ?? kindOf(name)}`);
    });
    passWatch(this, backend, {
      shows: async (paths) => {
        const answer = await this.#asked(question.SHOWING, paths.join("\n"));
        return Array.isArray(answer) ? answer : undefined;
      },
      own: (tell) => this.#changes(tell),
    });
  }

  /** Frees what this object holds, and ends what its watchers hear of it; see `Backend.dispose`. */
  override dispose(): void {
    this.#told.clear();
    this.#waiting?.abort();
    this.#waiting = undefined;
    super.dispose();
  }

  /** Who is told of the turn's own changes. */
  readonly #told = new Set<(paths: string[]) => void>();
  #waiting: AbortController | undefined;

  /** Tells of the turn's own changes; the returned function ends that. */
  #changes(tell: (paths: string[]) => void): () => void {
    this.#told.add(tell);
    if (!this.#waiting) void this.#follow();
    return () => {
      this.#told.delete(tell);
      if (this.#told.size > 0) return;
      this.#waiting?.abort();
      this.#waiting = undefined;
    };
  }

  async #follow(): Promise<void> {
    const waiting = new AbortController();
    this.#waiting = waiting;
    for (;;) {
      const paths = await this.#asked(question.CHANGED, "", waiting.signal);
      if (!Array.isArray(paths)) return;
      for (const tell of [...this.#told]) tell(paths);
    }
  }

  #asked(what: number, lines: string, signal?: AbortSignal): Promise<string[] | Failure> {
    return called(
      signal && { signal },
      (limit) => glue.history_ask(what, handleOf(this), lines, "", 0, limit),
      (reply) => list(reply, () => reply.text()),
    );
  }
}

sealClass(KeptTurn);

/**
 * Begins a turn that outlives its process, or goes on with one that is kept under this name.
 *
 * @example
 * import { beginKept } from "kitbag/history";
 * const turn = beginKept(backend, { keepIn: new IndexedDbBackend(), name: "task-7" });
 */
export function beginKept(backend: AnyBackend, options: KeptTurnOptions): KeptTurn {
  return new KeptTurn(backend, options);
}

/**
 * Returns the names of the turns that are kept in a backend. `beginKept` with such a name goes on with
 * the turn.
 */
export function keptTurns(keepIn: AnyBackend, options?: KeptTurnsOptions): Promise<KeptTurns> {
  chunk.load();
  return withHandle("keptTurns: the backend", keepIn, (handle) => {
    let folder = KEPT;
    const refusal = refused(() => {
      folder = text("options.folder", options?.folder ?? KEPT);
    });
    if (refusal) return Promise.resolve(refusal);
    return called(
      options,
      (limit) => glue.history_ask(question.KEPT_TURNS, handle, folder, "", 0, limit),
      (reply) => ({ names: list(reply, () => reply.text()) }),
    );
  }) as Promise<KeptTurns>;
}
