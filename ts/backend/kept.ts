// beginKept: turns that outlive their process. What keeps them is in Rust.

import chunk from "#chunk/history";
import { received } from "../core/call.js";
import { kindOf, Options, refusedAsResult } from "../core/checks.js";
import { KeptCall, KeptGiven, KeptTurnsGiven } from "../core/descriptions.js";
import { ask, askOnly, type Call, pack, take, type Values } from "../core/given.js";
import { handleOf, sealClass } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import type { AnyBackend } from "../foreign/adapt.js";
import { withHandle } from "../foreign/calls.js";
import type { CallOptions, Failure, Result } from "../types.js";
import { type KeepIn, placeElsewhere, placeOf } from "./keep-in.js";
import { passWatch } from "./passing.js";
import { list, Turn, type TurnOptions } from "./turn.js";

/** Options of `beginKept`, beside those of `begin`. */
export interface KeptTurnOptions extends TurnOptions {
  /**
   * Where the turn is kept: `beginKept` with the same `keepIn` and `name` goes on with it, also in
   * another process. `path` is the directory of all kept turns, `/.kitbag/turns/kept` by default.
   */
  keepIn: KeepIn;
  /**
   * The name of the turn, such as that of its task: letters, digits, `-`, `_` and `.`. Default: a new
   * random name.
   */
  name?: string;
}

/** The result of `keptTurns`. */
export type KeptTurns = Result<{
  /** Names for the option `name` of `beginKept`. */
  names: string[];
}>;

/** Where turns are kept: a turn does not show this directory. */
const KEPT = "/.kitbag/turns/kept";

function plain(options: unknown): TurnOptions | undefined {
  const { by, writeMode } = (options ?? {}) as TurnOptions;
  return { by, writeMode } as TurnOptions;
}

/** Turns over files that do not change. */
export const still = new WeakSet<object>();

/** A turn that is kept in a backend. The result of `beginKept`. */
export class KeptTurn extends Turn {
  /** The name under which the turn is kept. */
  readonly name: string;

  /** Throws a `TypeError` if a backend is none, or an option is wrong. Reads nothing. */
  constructor(backend: AnyBackend, options: KeptTurnOptions, of = "beginKept") {
    const given = new Options(of, options);
    for (const own of ["by", "writeMode"]) given.raw(own);
    const place = placeElsewhere(given, KEPT);
    const values = take(given, KeptGiven);
    given.done();
    super(backend, plain(options));
    chunk.load();
    this.name = withHandle(`${of}: keepIn.backend`, place.backend, (kept) => {
      const room = { backend: kept, path: place.path, key: place.key };
      const all = { ...values, turn: handleOf(this), room };
      const { length } = pack(of, KeptGiven, all);
      enter(() => glue.turn_keep(length));
      const name = received((reply) => reply.text());
      if (typeof name === "string") return name;
      throw new TypeError(`${of}: ${(name as Failure)?.error ?? kindOf(name)}`);
    });
    passWatch(this, backend, {
      shows: async (paths) => {
        if (still.has(this)) return [];
        const answer = await askKept(this, KeptCall.showing, { paths });
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
      const paths = await askKept(this, KeptCall.changed, {}, { signal: waiting.signal });
      if (!Array.isArray(paths)) return;
      for (const tell of [...this.#told]) tell(paths);
    }
  }
}

sealClass(KeptTurn);

/** Starts a call of a kept turn that replies with texts. */
export function askKept<C extends Call>(
  turn: KeptTurn,
  call: C,
  values: Values<C["fields"]>,
  options?: CallOptions,
): Promise<string[] | Failure> {
  return ask(
    call,
    () => values,
    (length, limit) => glue.kept_ask(handleOf(turn), length, limit),
    (reply) => list(reply, () => reply.text()),
    options,
  );
}

/**
 * Begins a turn that outlives its process, or goes on with one that is kept under this name.
 *
 * @example
 * import { beginKept } from "kitbag/history";
 * const turn = beginKept(backend, {
 *   keepIn: { backend: new IndexedDbBackend({ database: "turns" }) },
 *   name: "task-7",
 * });
 */
export function beginKept(backend: AnyBackend, options: KeptTurnOptions): KeptTurn {
  return new KeptTurn(backend, options);
}

/**
 * Returns the names of the turns that are kept at a place, the `keepIn` of `beginKept`. `beginKept`
 * with such a name goes on with the turn.
 */
export async function keptTurns(keepIn: KeepIn, options?: CallOptions): Promise<KeptTurns> {
  try {
    const place = placeOf("keptTurns: keepIn", keepIn, KEPT);
    chunk.load();
    return await withHandle("keptTurns: keepIn.backend", place.backend, (backend) =>
      askOnly(
        KeptTurnsGiven,
        () => ({ backend, path: place.path }),
        glue.kept_turns,
        (reply) => ({ names: list(reply, () => reply.text()) }),
        options,
      ),
    );
  } catch (error) {
    return refusedAsResult(error);
  }
}
