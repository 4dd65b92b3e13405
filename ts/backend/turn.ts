// begin, undo: changes of several files that are made together. The turn itself is in Rust.

import chunk from "#chunk/turns";
import { received } from "../core/call.js";
import { BadArgument, bytesOf, kindOf, Options, text, wrong } from "../core/checks.js";
import { CompareGiven, TurnCall, TurnGiven, UndoGiven } from "../core/descriptions.js";
import { ask, askOnly, type Call, create, take, type Values } from "../core/given.js";
import { handleOf, sealClass } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import { Lines } from "../core/lines.js";
import { Pace, type Steps, unlessGivenUp } from "../core/pace.js";
import type { Reply } from "../core/reply.js";
import type { AnyBackend } from "../foreign/adapt.js";
import { withHandle } from "../foreign/calls.js";
import type {
  CallOptions,
  Capability,
  ErrorText,
  ExecuteResponse,
  Failure,
  Result,
} from "../types.js";
import { addShell, Backend, type ExecuteOptions } from "./backend.js";

/** Options of `begin`. */
export interface TurnOptions {
  /** Who makes the changes; it is in the receipt. */
  by?: string;
  /** Whether `write` refuses a file that exists (`"create"`, the default) or replaces it. */
  writeMode?: "create" | "overwrite";
}

/** A part of a text that a turn changes, by lines. */
export interface TurnHunk {
  /** Its name, for `accept`. */
  id: string;
  /** The file. */
  path: string;
  /** The first line before, from 1; the line above if there are none. */
  oldStart: number;
  /** Number of lines before. */
  oldLines: number;
  /** The first line after, from 1; the line above if there are none. */
  newStart: number;
  /** Number of lines after. */
  newLines: number;
  /** The lines before with `-`, then the lines after with `+` in front, without line feeds. */
  lines: string[];
}

/** A file that a turn changes. */
export interface TurnChange {
  /** The file. */
  path: string;
  /** What happens to it. A moved file is a new one with the content of a deleted one. */
  kind: "created" | "changed" | "deleted" | "moved";
  /** For a moved file, its path before. */
  from?: string;
  /** Its content before; `null` if there is no file. */
  before: Uint8Array | null;
  /** Its content after; `null` if it is deleted. */
  after: Uint8Array | null;
  /** Where its text differs; none for binary files and for files that were only moved. */
  hunks: TurnHunk[];
}

/** The result of `diff`. */
export type TurnDiff = Result<{
  /** The changed files, in byte order of their paths. */
  changes: TurnChange[];
}>;

/** The result of `accept` and `discard`. */
export type TurnPaths = Result<{
  /** The files with hunks that were kept, or whose changes were dropped. */
  paths: string[];
}>;

/** What a commit changed; `undo` takes it back. It is plain data, and can be stored. */
export interface Receipt {
  /** A name of its own. */
  id: string;
  /** Who made the changes. */
  by: string;
  /** When, in ISO 8601. */
  at: string;
  /** The changed files. */
  files: Array<{
    /** The file. */
    path: string;
    /** Its content before; `null` if there was no file. */
    before: Uint8Array | null;
    /** Its content after; `null` if it was deleted. */
    after: Uint8Array | null;
    /** Permission bits of a file that was created or deleted, if they are known. */
    mode?: number;
  }>;
}

/** Something that others changed since the turn read it. */
export interface TurnConflict {
  /** The file, or the directory of a listing or search. */
  path: string;
  /** What found something else: `"write"` for a file that the turn changes. */
  operation: "write" | "read" | "ls" | "glob" | "grep";
  /** For `"write"`: the content that the turn replaces; `null` if it found no file. */
  before: Uint8Array | null;
  /** For `"write"` and `"read"`: what the file holds now; `null` if there is none. */
  now: Uint8Array | null;
}

/** The result of `commit` and `undo`. */
export type CommitResult = Result<
  {
    /** What was changed. */
    receipt: Receipt;
  },
  Failure & {
    /** With `code: "conflict"`: what others changed. */
    conflicts?: TurnConflict[];
  }
>;

/** The result of `rebase`. */
export type RebaseResult = Result<{
  /** Files in which changes of others were merged with those of the turn. */
  merged: string[];
  /** Files and directories that the turn had read, and that are different now. */
  read: string[];
  /** Files that could not be merged; they stay as they are in the turn, and a commit refuses them. */
  conflicts: Array<{
    /** The file. */
    path: string;
    /** Its content when the turn first changed it; `null` if there was no file. */
    before: Uint8Array | null;
    /** Its content in the backend now; `null` if there is no file. */
    now: Uint8Array | null;
    /** Its content in the turn; `null` if the turn deletes it. */
    ours: Uint8Array | null;
  }>;
}>;

/** Options of `rebase`. */
export interface RebaseOptions extends CallOptions {
  /** Patterns of files for which the turn's content wins where it cannot be merged. */
  keep?: readonly string[];
}

/** What a turn guarantees. */
export interface TurnCapability extends Capability {
  /**
   * How a commit is made one step. `"transaction"`: everybody sees all of it or nothing.
   * `"journal"`: a commit that is broken off is finished or taken back by the next turn; meanwhile,
   * calls past turns can see a part of it. `"none"`: files are compared and written one by one, as
   * the backend has no conditional writes.
   */
  commit: "transaction" | "journal" | "none";
  /**
   * Whether a commit checks what the turn has read: `"checked"` against all changes, `"turns"`
   * against those of other turns and those that end before the commit begins (so it is also with
   * transactions of SQL databases and IndexedDB), `"compared"` without protection against changes at
   * the same moment.
   */
  reads: "checked" | "turns" | "compared";
}

export const body = (reply: Reply): Uint8Array | null => (reply.bool() ? reply.bodyBytes() : null);

export function list<T>(reply: Reply, one: () => T): T[] {
  return Array.from({ length: reply.u32() }, one);
}

const KINDS = ["created", "changed", "deleted", "moved"] as const;

/** A change as it crosses: the name of its hunks, and four numbers for each of them. */
interface Crossed {
  change: TurnChange;
  name: string;
  ranges: readonly number[];
}

function unpackChange(reply: Reply): Crossed {
  const path = reply.text();
  const kind = KINDS[reply.u8()] ?? "changed";
  const from = reply.optionalText();
  const before = body(reply);
  const after = body(reply);
  const name = reply.text();
  const ranges = new Array<number>(reply.u32() * 4);
  for (let at = 0; at < ranges.length; at++) ranges[at] = reply.u32();
  const moved = from === undefined ? {} : { from };
  return { change: { path, kind, ...moved, before, after, hunks: [] }, name, ranges };
}

const unpackChanges = (reply: Reply) => ({ crossed: list(reply, () => unpackChange(reply)) });

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Reads the lines of hunks. */
function* withHunks(crossed: readonly Crossed[]): Steps<TurnDiff> {
  for (const { change, name, ranges } of crossed) {
    if (ranges.length === 0) continue;
    const linesIn = (bytes: Uint8Array | null) =>
      new Lines(decoder.decode(bytes ?? new Uint8Array()));
    const [old, fresh] = [linesIn(change.before), linesIn(change.after)];
    yield;
    for (let at = 0; at < ranges.length; at += 4) {
      const [a, m, b, n] = ranges.slice(at, at + 4) as [number, number, number, number];
      const lines: string[] = [];
      yield* old.take(a, m, (line) => lines.push(`-${line}`));
      yield* fresh.take(b, n, (line) => lines.push(`+${line}`));
      change.hunks.push({
        id: `${name}.${at / 4}`,
        path: change.path,
        oldStart: m > 0 ? a + 1 : a,
        oldLines: m,
        newStart: n > 0 ? b + 1 : b,
        newLines: n,
        lines,
      });
      yield;
    }
  }
  return { changes: crossed.map(({ change }) => change) };
}

/** The changes of a call that crossed. */
async function changesOf(
  call: Promise<{ crossed: Crossed[] } | Failure>,
  pace: Pace,
): Promise<TurnDiff> {
  const answer = await call;
  return "crossed" in answer ? unlessGivenUp(pace.run(withHunks(answer.crossed))) : answer;
}

const CHANGED =
  "Nothing was done: others changed what this turn read or changes. See conflicts; rebase().";
const NEWER = "Nothing was done: others changed these files since. See conflicts; undo that.";

function unpackFile(reply: Reply): Receipt["files"][number] {
  const file = { path: reply.text(), before: body(reply), after: body(reply) };
  const mode = reply.f64();
  return mode < 0 ? file : { ...file, mode };
}

function unpackOutcome(reply: Reply, conflict: string): CommitResult {
  if (reply.bool()) {
    const receipt = {
      id: reply.text(),
      by: reply.text(),
      at: new Date(reply.f64()).toISOString(),
      files: list(reply, () => unpackFile(reply)),
    };
    return { receipt };
  }
  const conflicts = list(reply, () => ({
    path: reply.text(),
    operation: reply.text() as TurnConflict["operation"],
    before: body(reply),
    now: body(reply),
  }));
  return { error: conflict as ErrorText, code: "conflict", conflicts };
}

/** Validates a list of texts. */
function texts(name: string, values: unknown): string[] {
  if (!Array.isArray(values)) {
    throw new BadArgument(`${name} must be an array, not ${kindOf(values)}`);
  }
  return Array.from(values, (one, at) => text(`${name}[${at}]`, one));
}

/**
 * Changes of several files over a backend, which is not changed before `commit`. A turn is a backend
 * itself: its methods see the files as if the changes were made. `execute` is refused. The result of
 * `begin`.
 */
export class Turn extends Backend {
  /** Who makes the changes. */
  readonly by: string;
  /** Identifies the machine of the backend, if it can run commands. */
  declare readonly id?: string;
  /** Refuses a command: it would not see the files of the turn. Only if the backend has it. */
  declare readonly execute?: (
    command: string,
    options?: ExecuteOptions,
  ) => Promise<ExecuteResponse>;

  /** Throws a `TypeError` if the backend is none, or an option is wrong. Reads nothing. */
  constructor(backend: AnyBackend, options?: TurnOptions) {
    const given = new Options("begin", options);
    const values = take(given, TurnGiven);
    given.done();
    chunk.load();
    super(
      withHandle("begin: the backend", backend, (base) =>
        create("begin", TurnGiven, { ...values, base }, glue.turn_new),
      ),
    );
    this.by = values.by;
    addShell(this);
  }

  /** What the turn guarantees, and how it commits. */
  override get capability(): TurnCapability {
    enter(() => glue.turn_commits(handleOf(this)));
    const commits = received((reply) => reply.u8()) as number;
    return {
      ...super.capability,
      commit: (["transaction", "journal", "none"] as const)[commits] ?? "transaction",
      reads: (["checked", "turns", "compared"] as const)[commits] ?? "turns",
    };
  }

  /** Returns what the turn would change. It grows with the changes, not with the files below. */
  diff(options?: CallOptions): Promise<TurnDiff> {
    const pace = new Pace(options);
    return changesOf(
      this.#ask(TurnCall.diff, () => ({}), unpackChanges, options),
      pace,
    );
  }

  /**
   * Keeps only these hunks of the files that they are in; the other hunks of these files are
   * dropped, other files stay as they are. Hunks are those of the last diff: pass all hunks of a
   * file in one call.
   */
  accept(hunks: TurnHunk | readonly TurnHunk[], options?: CallOptions): Promise<TurnPaths> {
    const ids = () => [hunks].flat().map((hunk: TurnHunk | undefined) => hunk?.id);
    return this.#ask(
      TurnCall.accept,
      () => ({ hunks: texts("hunks", ids()) }),
      (reply) => ({ paths: list(reply, () => reply.text()) }),
      options,
    ) as Promise<TurnPaths>;
  }

  /** Drops the changes of all files that match one of the patterns, such as `/drafts/**`. */
  discard(patterns: readonly string[], options?: CallOptions): Promise<TurnPaths> {
    return this.#ask(
      TurnCall.discard,
      () => ({ patterns: texts("patterns", patterns) }),
      (reply) => ({ paths: list(reply, () => reply.text()) }),
      options,
    ) as Promise<TurnPaths>;
  }

  /**
   * Makes all changes, or none. With `code: "conflict"` somebody else has changed a file that the
   * turn changes, or something that it has read, and nothing was changed. After a commit the turn is
   * empty and can go on.
   */
  commit(options?: CallOptions): Promise<CommitResult> {
    return this.#ask(
      TurnCall.commit,
      () => ({}),
      (reply) => unpackOutcome(reply, CHANGED),
      options,
    ) as Promise<CommitResult>;
  }

  /**
   * Brings the turn up to date: changes of others are merged with its own by lines. What cannot be
   * merged is listed, and stays as it is in the turn; `discard` it, or name it in `keep`.
   */
  rebase(options?: RebaseOptions): Promise<RebaseResult> {
    return this.#ask(
      TurnCall.rebase,
      () => ({ keep: texts("options.keep", options?.keep ?? []) }),
      (reply) => ({
        merged: list(reply, () => reply.text()),
        read: list(reply, () => reply.text()),
        conflicts: list(reply, () => ({
          path: reply.text(),
          before: body(reply),
          now: body(reply),
          ours: body(reply),
        })),
      }),
      options,
      ["keep"],
    ) as Promise<RebaseResult>;
  }

  #ask<C extends Call, T>(
    call: C,
    look: () => Values<C["fields"]>,
    unpack: (reply: Reply) => T,
    options: CallOptions | undefined,
    own?: readonly string[],
  ): Promise<T | Failure> {
    const start = (length: number, limit: number) => glue.turn_ask(handleOf(this), length, limit);
    return ask(call, look, start, unpack, options, own);
  }
}

sealClass(Turn);

/**
 * Begins a turn: changes of several files that are reviewed, and made together or not at all.
 *
 * @example
 * const turn = begin(backend, { by: "agent-7" });
 * await turn.write("/plan.md", "1. Measure");
 * const { changes } = await turn.diff();
 * const done = await turn.commit();
 * if (done.receipt) await undo(backend, done.receipt);
 */
export function begin(backend: AnyBackend, options?: TurnOptions): Turn {
  return new Turn(backend, options);
}

/** Options of `undo`. */
export interface UndoOptions extends CallOptions {
  /** Who takes the change back. Default: who made it. */
  by?: string;
}

/**
 * Takes back a commit: every file gets its content before. With `code: "conflict"` one of the files
 * was changed since, and nothing was changed. The receipt of the result undoes the undo.
 */
export function undo(
  backend: AnyBackend,
  receipt: Receipt,
  options?: UndoOptions,
): Promise<CommitResult> {
  chunk.load();
  return withHandle("undo: the backend", backend, (base) =>
    askOnly(
      UndoGiven,
      () => {
        const by = text("options.by", options?.by ?? receipt?.by ?? "");
        return { base, by, files: filesOf(receipt) };
      },
      glue.turn_undo,
      (reply) => unpackOutcome(reply, NEWER),
      options,
      ["by"],
    ),
  ) as Promise<CommitResult>;
}

/** Compares files as a diff does; each has its content before and after. */
export function comparedFiles(
  files: readonly Receipt["files"][number][],
  options?: CallOptions,
): Promise<TurnDiff> {
  chunk.load();
  const values = () => ({ files: filesOf({ files }) });
  const pace = new Pace(options);
  return changesOf(askOnly(CompareGiven, values, glue.turn_compare, unpackChanges, options), pace);
}

function modeOf(name: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const fits = typeof value === "number" && Number.isInteger(value) && value >= 0;
  return fits && value <= 0o777 ? value : wrong(name, "permission bits up to 0o777", value);
}

/** The files of a receipt, checked. */
function filesOf(receipt: unknown): Values<typeof CompareGiven>["files"] {
  const files = (receipt as Receipt | undefined)?.files;
  if (!Array.isArray(files)) throw new BadArgument("receipt must be what a commit returned");
  const content = (name: string, value: unknown) =>
    value === null ? undefined : bytesOf(name, value);
  return Array.from(files, (file: Partial<Receipt["files"][number]> | undefined, at) => {
    const name = `receipt.files[${at}]`;
    return {
      path: text(`${name}.path`, file?.path),
      before: content(`${name}.before`, file?.before),
      after: content(`${name}.after`, file?.after),
      mode: modeOf(`${name}.mode`, file?.mode),
    };
  });
}
