// history: a backend whose changes are noted. The history itself is in Rust.

import chunk from "#chunk/history";
import { BadArgument, kindOf, Options, refusedAsResult, text } from "../core/checks.js";
import { HistoryCall, HistoryGiven, KeepGiven, PinnedGiven } from "../core/descriptions.js";
import { ask, type Call, create, take, takeAll, type Values } from "../core/given.js";
import { handleOf, sealClass } from "../core/handle.js";
import { glue } from "../core/instance.js";
import { Pace } from "../core/pace.js";
import type { Reply } from "../core/reply.js";
import type { AnyBackend } from "../foreign/adapt.js";
import { withHandle } from "../foreign/calls.js";
import type { CallOptions, ExecuteResponse, Failure, Result } from "../types.js";
import { addShell, Backend, type ExecuteOptions } from "./backend.js";
import { type KeepIn, placeElsewhere } from "./keep-in.js";
import { outside, passWatch } from "./passing.js";
import { body, comparedFiles, list, type TurnDiff } from "./turn.js";

/** What a history keeps; older entries are dropped. */
interface HistoryKeep {
  /** Most entries. */
  count?: number;
  /** The greatest age of an entry, in milliseconds. */
  ageMs?: number;
  /** Most bytes of contents. */
  bytes?: number;
}

/** Who makes a change. */
export interface HistoryAuthor {
  /** A person or an agent. Default: the option `by`. */
  by?: string;
  /** The call, such as the id of a tool call. */
  call?: string;
}

/** Options of `withHistory`. */
export interface HistoryOptions {
  /**
   * Where the history is: another backend than the files', and a directory for the history of this
   * backend, which is `/.kitbag/history` by default.
   */
  keepIn: KeepIn;
  /** Who makes the changes. */
  by?: string;
  /** Called at each change; tells who makes it, and by which call. If it throws, nothing is changed. */
  who?: () => HistoryAuthor | undefined;
  /** What is kept. Default: everything. */
  keep?: HistoryKeep;
  /** Whether `write` refuses a file that exists (`"create"`, the default) or replaces it. */
  writeMode?: "create" | "overwrite";
}

/** A call that changed files. */
export interface HistoryEntry {
  /** Its id, which is also a moment: right after it. */
  id: string;
  /** Who made it. */
  by: string;
  /** The call, as `who` named it. */
  call: string;
  /** The operation. */
  operation: string;
  /** When, in ISO 8601. */
  at: string;
  /** What it changed. */
  files: Array<{
    /** The file. */
    path: string;
    /** The digest of its content before; `null` if there was no file. */
    before: string | null;
    /** The digest of its content after; `null` if it was deleted. */
    after: string | null;
  }>;
}

/**
 * A moment: right after the entry with this id, or a time (a `Date`, or text in ISO 8601); for `restore`
 * also a pin.
 */
export type HistoryMoment = string | Date;

/** Options of `log`. */
export interface HistoryLogOptions extends CallOptions {
  /** Most entries. Default 100. */
  limit?: number;
}

/** The result of `log`. */
export type HistoryLog = Result<{
  /** The entries, the newest first. */
  entries: HistoryEntry[];
}>;

/** The result of `why`. */
export type HistoryWhy = Result<{
  /** The calls that made the file what it is, the newest first, back to the one that created it. */
  entries: HistoryEntry[];
  /** Whether the newest entry left what the file holds now; otherwise it was changed past the history. */
  known: boolean;
}>;

/** The result of `restore`. */
export type RestoreResult = Result<{
  /** The files that were changed. */
  paths: string[];
}>;

/** The result of `prune`. */
export type PruneResult = Result<{
  /** Entries that were dropped. */
  dropped: number;
  /** Entries that are left. */
  entries: number;
  /** Bytes of contents that are left. */
  bytes: number;
}>;

/** A pin that is kept. */
export interface PinEntry {
  /** Its name, 48 hexadecimal digits. */
  pin: string;
  /** When it was made last, in ISO 8601. */
  at: string;
}

/** The result of `pin`. */
export type PinResult = Result<PinEntry>;

/** The result of `pins`. */
export type PinsResult = Result<{
  /** The pins, the oldest first. */
  pins: PinEntry[];
}>;

/** The result of `label`, `labelled` and `unpin`. */
export type PinNameResult = Result<{
  /** The name of the pin, 48 hexadecimal digits. */
  pin: string;
}>;

/** Something that a pin names and that is gone. */
export interface PinLoss {
  /** The file; or, with `what: "list"`, the text at which the paths of that part begin. */
  path: string;
  /** A content, or a part of the list of files. */
  what: "content" | "list";
  /** Whether nothing is there any more, or something else. */
  reason: "missing" | "damaged";
  /** The name of its file in `bodies` or `nodes`. */
  digest: string;
}

/** The result of `verify`. */
export type VerifyResult = Result<{
  /** What is gone; reads of it answer `unavailable`. */
  lost: PinLoss[];
  /** Files of the backend that were changed past the history. */
  drifted: string[];
}>;

/** How many entries `log` returns if the caller does not say. */
const LOG_ENTRIES = 100;
/** Objects of other authors after which the history is pruned. */
const PRUNE_EVERY = 64;

const unpackEntry = (reply: Reply): HistoryEntry => ({
  id: reply.text(),
  by: reply.text(),
  call: reply.text(),
  operation: reply.text(),
  at: new Date(reply.f64()).toISOString(),
  files: list(reply, () => ({
    path: reply.text(),
    before: reply.optionalText() ?? null,
    after: reply.optionalText() ?? null,
  })),
});

const unpackPin = (reply: Reply): PinEntry => ({
  pin: reply.text(),
  at: new Date(reply.f64()).toISOString(),
});

/** A moment as Rust reads it. */
function momentOf(name: string, value: unknown): string {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  if (typeof value === "string" && value !== "") return value;
  throw new BadArgument(`${name} must be the id of an entry or a time, not ${kindOf(value)}`);
}

/** One line, as the history stores it. */
const line = (value: string): string => value.replace(/[\r\n]+/g, " ");

/** Who makes a change, and by which call. */
function authors(by: string, who: (() => unknown) | undefined): () => [string, string] {
  return () => {
    const told = (who?.() ?? {}) as HistoryAuthor;
    const given = (name: "by" | "call", otherwise: string) => {
      const value = told[name] ?? otherwise;
      if (typeof value === "string") return line(value);
      throw new TypeError(`who() must return ${name} as a string, not ${kindOf(value)}`);
    };
    return [given("by", by), given("call", "")];
  };
}

/**
 * A backend that notes each change: what it replaced, who made it, when, and by which call. The result
 * of `withHistory`.
 */
export class HistoryBackend extends Backend {
  /** Identifies the machine of the backend, if it can run commands. */
  declare readonly id?: string;
  /** Runs a command, if the backend can. What it changes is not noted. */
  declare readonly execute?: (
    command: string,
    options?: ExecuteOptions,
  ) => Promise<ExecuteResponse>;

  readonly #made: { backend: AnyBackend; options: HistoryOptions };
  #others = 0;

  /** Throws a `TypeError` if a backend is none, or an option is wrong. Reads nothing. */
  constructor(backend: AnyBackend, options: HistoryOptions) {
    const given = new Options("withHistory", options);
    const place = placeElsewhere(given, "/.kitbag/history");
    const by = given.text("by") ?? "";
    const who = given.callback("who") as (() => unknown) | undefined;
    const values = take(given, HistoryGiven);
    const kept = given.object("keep") ?? {};
    given.done();
    const keep = takeAll("withHistory: option keep", kept, KeepGiven);
    if (place.backend === backend) {
      throw new TypeError(
        "withHistory: keepIn.backend must be another backend than the one whose changes are noted",
      );
    }
    chunk.load();
    super(
      withHandle("withHistory: the backend", backend, (handle) =>
        withHandle("withHistory: keepIn.backend", place.backend, (kept) => {
          const room = { backend: kept, path: place.path, key: place.key };
          const all = { ...values, inner: handle, room, keep, who: authors(by, who) };
          return create("withHistory", HistoryGiven, all, glue.history_new);
        }),
      ),
    );
    addShell(this);
    this.#made = { backend, options };
    // Another object may keep the notes beside the files.
    const own = place.path.startsWith("/.kitbag/");
    passWatch(this, backend, own ? { shows: outside(place.path) } : {});
  }

  /** The same files and history for another author, or for one call. */
  as(author: HistoryAuthor): HistoryBackend {
    const { backend, options } = this.#made;
    const who = () => ({ ...options.who?.(), ...author });
    // Each may make one change, after which it is not used again.
    this.#others += 1;
    if (options.keep && this.#others % PRUNE_EVERY === 0) void this.prune();
    return new HistoryBackend(backend, { ...options, who });
  }

  /** Returns the newest changes of a file, or of all files in a directory. Default: of all files. */
  log(path?: string | null, options?: HistoryLogOptions): Promise<HistoryLog> {
    return this.#ask(
      HistoryCall.log,
      () => {
        const most = limitOfLog(options?.limit) ?? LOG_ENTRIES;
        return { path: text("path", path ?? "/"), most };
      },
      (reply) => ({ entries: list(reply, () => unpackEntry(reply)) }),
      options,
      ["limit"],
    ) as Promise<HistoryLog>;
  }

  /**
   * Returns what was changed after one moment up to another, which is now if it is left out; with
   * hunks, so that `toPatch` takes it. Changes past the history are not seen.
   */
  async diff(
    from: HistoryMoment,
    to?: HistoryMoment | null,
    options?: CallOptions,
  ): Promise<TurnDiff> {
    const pace = new Pace(options);
    const found = await this.#ask(
      HistoryCall.diff,
      () => ({
        from: momentOf("from", from),
        to: to === undefined || to === null ? undefined : momentOf("to", to),
      }),
      (reply) => ({
        files: list(reply, () => ({ path: reply.text(), before: body(reply), after: body(reply) })),
      }),
      options,
    );
    if (!("files" in found)) return found;
    return comparedFiles(found.files, pace.left);
  }

  /**
   * Gives a file, or all files in a directory, what they held at a moment. With `code: "conflict"`
   * somebody changed a file meanwhile. A restore is noted like every change, so it can be taken back.
   */
  restore(path: string, moment: HistoryMoment, options?: CallOptions): Promise<RestoreResult> {
    return this.#ask(
      HistoryCall.restore,
      () => ({ path: text("path", path), moment: momentOf("moment", moment) }),
      (reply) => ({ paths: list(reply, () => reply.text()) }),
      options,
    ) as Promise<RestoreResult>;
  }

  /** Returns the calls that made a file what it is. */
  why(path: string, options?: CallOptions): Promise<HistoryWhy> {
    return this.#ask(
      HistoryCall.why,
      () => ({ path: text("path", path) }),
      (reply) => ({ known: reply.bool(), entries: list(reply, () => unpackEntry(reply)) }),
      options,
    ) as Promise<HistoryWhy>;
  }

  /** Drops what is more than the option `keep` says. That also happens after every 64 changes. */
  prune(options?: CallOptions): Promise<PruneResult> {
    return this.#ask(
      HistoryCall.prune,
      () => ({}),
      (reply) => ({ dropped: reply.f64(), entries: reply.f64(), bytes: reply.f64() }),
      options,
    ) as Promise<PruneResult>;
  }

  /**
   * Names the state of all files, and keeps it until `unpin`. The same files have the same pin. The
   * first one reads all files; later ones read those that were changed, and list the others.
   */
  pin(options?: CallOptions): Promise<PinResult> {
    return this.#ask(HistoryCall.pin, () => ({}), unpackPin, options) as Promise<PinResult>;
  }

  /** Lets a pin go: the next `prune` deletes what only this pin named. */
  unpin(pin: string, options?: CallOptions): Promise<PinNameResult> {
    return this.#ask(
      HistoryCall.unpin,
      () => ({ pin: text("pin", pin) }),
      () => ({ pin }),
      options,
    ) as Promise<PinNameResult>;
  }

  /** Returns the pins that are kept. */
  pins(options?: CallOptions): Promise<PinsResult> {
    return this.#ask(
      HistoryCall.pins,
      () => ({}),
      (reply) => ({ pins: list(reply, () => unpackPin(reply)) }),
      options,
    ) as Promise<PinsResult>;
  }

  /** Gives a pin a name, such as that of a release or a thread, in place of the pin that had it. */
  label(label: string, pin: string, options?: CallOptions): Promise<PinNameResult> {
    return this.#ask(
      HistoryCall.label,
      () => ({ label: text("label", label), pin: text("pin", pin) }),
      () => ({ pin }),
      options,
    ) as Promise<PinNameResult>;
  }

  /** Returns the pin that has a name. */
  labelled(label: string, options?: CallOptions): Promise<PinNameResult> {
    return this.#ask(
      HistoryCall.labelled,
      () => ({ label: text("label", label) }),
      (reply) => ({ pin: reply.text() }),
      options,
    ) as Promise<PinNameResult>;
  }

  /**
   * Reads everything that a pin names (without one: every pin), and all files of the backend. Returns
   * what is lost or damaged, and the files that were changed past the history.
   */
  verify(pin?: string | null, options?: CallOptions): Promise<VerifyResult> {
    return this.#ask(
      HistoryCall.verify,
      () => ({ pin: pin === undefined || pin === null ? undefined : text("pin", pin) }),
      (reply) => ({
        lost: list(reply, () => ({
          path: reply.text(),
          what: reply.bool() ? "list" : "content",
          reason: reply.bool() ? "missing" : "damaged",
          digest: reply.text(),
        })),
        drifted: list(reply, () => reply.text()),
      }),
      options,
    ) as Promise<VerifyResult>;
  }

  #ask<C extends Call, T>(
    call: C,
    look: () => Values<C["fields"]>,
    unpack: (reply: Reply) => T,
    options: CallOptions | undefined,
    own?: readonly string[],
  ): Promise<T | Failure> {
    const start = (length: number, limit: number) =>
      glue.history_ask(handleOf(this), length, limit);
    return ask(call, look, start, unpack, options, own);
  }
}

sealClass(HistoryBackend);

function limitOfLog(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (Number.isSafeInteger(value) && (value as number) > 0) return value as number;
  throw new BadArgument("options.limit must be a whole number, one or more");
}

/**
 * Notes each change of a backend in another one: what it replaced, who made it, when, and by which
 * call. Make all changes through the result.
 *
 * @example
 * import { withHistory } from "kitbag/history";
 * const files = withHistory(new S3Backend(bucket), {
 *   keepIn: { backend: new S3Backend(notes) },
 *   by: "agent-7",
 * });
 * await files.edit("/plan.md", "Measure", "Look");
 * const { entries } = await files.log("/plan.md");
 * await files.restore("/plan.md", new Date(Date.now() - 3_600_000));
 */
export function withHistory(backend: AnyBackend, options: HistoryOptions): HistoryBackend {
  return new HistoryBackend(backend, options);
}

/** The files of a pin, which cannot be changed. The result of `openPin`. */
export class PinnedBackend extends Backend {
  /** The pin. */
  readonly pin: string;

  /** Throws a `TypeError` if the text is no pin. Reads nothing; `openPin` calls it. */
  constructor(world: HistoryBackend, pin: string, madeAt: string) {
    if (!(world instanceof HistoryBackend)) {
      throw new TypeError(`openPin: the first argument must be a history, not ${kindOf(world)}`);
    }
    if (typeof pin !== "string") {
      throw new TypeError(`openPin: the pin must be a string, not ${kindOf(pin)}`);
    }
    const values = { history: handleOf(world), pin, madeAt: Date.parse(madeAt) };
    super(create("openPin", PinnedGiven, values, glue.history_pinned));
    this.pin = pin;
  }
}

sealClass(PinnedBackend);

/** The result of `openPin`. */
export type OpenPinResult = Result<{
  /** The files of the pin. */
  backend: PinnedBackend;
}>;

/** The time that listings show if the pin is not kept any more. */
const UNKNOWN_TIME = "1970-01-01T00:00:00.000Z";

/**
 * Returns the files of a pin, as a backend that cannot be changed. What the history no longer holds
 * answers `unavailable`, never what the file holds today. A text that is no pin fails with
 * `invalid_argument`.
 *
 * @example
 * import { openPin, withHistory } from "kitbag/history";
 * const world = withHistory(backend, { keepIn: { backend: notes } });
 * const { pin } = await world.pin();
 * const { backend: then } = await openPin(world, pin);
 */
export async function openPin(
  world: HistoryBackend,
  pin: string,
  options?: CallOptions,
): Promise<OpenPinResult> {
  try {
    const made = new PinnedBackend(world, pin, UNKNOWN_TIME);
    const { pins = [] } = await world.pins(options);
    const kept = pins.find((one) => one.pin === pin);
    return { backend: kept ? new PinnedBackend(world, pin, kept.at) : made };
  } catch (error) {
    return refusedAsResult(error);
  }
}
