// How branches are merged into a backend: in a turn over it, which is begun anew when somebody changes a file
// meanwhile. Contents are merged in Rust.

import { kindOf, messageOf } from "../core/checks.js";
import { KeptCall } from "../core/descriptions.js";
import { ask } from "../core/given.js";
import { handleOf } from "../core/handle.js";
import { glue } from "../core/instance.js";
import { Pace } from "../core/pace.js";
import type { AnyBackend } from "../foreign/adapt.js";
import type { CallOptions, ErrorCode, ErrorText, Failure, Fields, Result } from "../types.js";
import { askKept, type KeptTurn } from "./kept.js";
import {
  begin,
  body,
  comparedFiles,
  list,
  type Receipt,
  type Turn,
  type TurnChange,
  type TurnConflict,
  type TurnHunk,
} from "./turn.js";

/** What `onConflict` can be, beside a function. */
export const TAKES = ["leave", "branch", "into"] as const;

/** One of them. */
type Take = (typeof TAKES)[number];

/** A file that a branch and others changed at the same place. */
type MergeConflict = Omit<Fields<MergeResult>["conflicts"][number], "took">;

/** A decision about a conflict: a side, or the content that `into` gets (`null` deletes the file). */
type Decision =
  | Take
  | {
      /** The content; `null` deletes the file. */
      content: string | Uint8Array | null;
    };

/** What is done about conflicts: always the same, or what a function decides. */
export type Settle = Take | ((conflict: MergeConflict) => Decision | Promise<Decision>);

/** The result of `merge`. */
export type MergeResult = Result<
  {
    /** What was changed in `into`, for `undo`; undefined if nothing was. */
    receipt?: Receipt;
    /** The same with hunks; with `dryRun`, what would be changed. */
    changes: TurnChange[];
    /** What both sides changed at the same place, and what was done about it. */
    conflicts: Array<{
      /** The file. */
      path: string;
      /** The name of the branch. */
      branch: string;
      /** What both sides had; `null` if there was no file. */
      before: Uint8Array | null;
      /** What `into` had; `null` if there was no file. */
      now: Uint8Array | null;
      /** What the branch has; `null` if it deletes the file. */
      ours: Uint8Array | null;
      /** Where the branch differs from `into`; none for binary files. */
      hunks: TurnHunk[];
      /** What was done: nothing, a side was taken, or the content that `onConflict` returned. */
      took: "leave" | "branch" | "into" | "content";
    }>;
    /** Files that `into` does not let be read. They stay in the branch. */
    refused: Array<{
      /** The file. */
      path: string;
      /** The name of the branch. */
      branch: string;
      /** Why. */
      error: string;
    }>;
  },
  Failure & {
    /** What was changed, if only the branch could not note that it is merged. */
    made?: Receipt;
  }
>;

/** How it is merged. */
interface How {
  into: AnyBackend;
  by: string;
  only?: ((path: string) => boolean) | undefined;
  onConflict?: Settle;
  /** Which branches note what was merged. */
  remembers(branch: KeptTurn): boolean;
  /** Whether nothing is done if something conflicts. */
  whole?: boolean;
  dryRun?: boolean;
}

/** How often a merge is begun anew because others change the same files. */
const ATTEMPTS = 64;

/** A file of a branch, with what it is merged with. */
interface File {
  path: string;
  before: Uint8Array | null;
  ours: Uint8Array | null;
  now: Uint8Array | null;
}

/** What `into` gets, and what the branch had then. */
interface Taken {
  file: File;
  result: Uint8Array | null;
}

/** What was found out about one branch. */
interface Part {
  branch: KeptTurn;
  taken: Taken[];
}

type Conflicts = Fields<MergeResult>["conflicts"];
type Refusals = Fields<MergeResult>["refused"];

/** What a merge comes to, for a `MergeResult` or a `CommitResult`. */
interface Done {
  receipt?: Receipt;
  made?: Receipt;
  changes?: TurnChange[];
  conflicts?: Conflicts | TurnConflict[];
  refused?: Refusals;
  error?: ErrorText;
  code?: ErrorCode;
}

/** Ends a merge with a failure. */
class Failed extends Error {
  constructor(
    readonly failure: Failure,
    /** Whether somebody changed a file meanwhile. */
    readonly isStale = false,
  ) {
    super(failure.error);
  }
}

/** What a call returned, unless it failed. */
function ok<T extends object>(answer: T): T {
  const { error, code } = answer as { error?: string; code?: ErrorCode };
  if (error !== undefined) throw new Failed({ error: error as ErrorText, code: code as ErrorCode });
  return answer;
}

/** Whether two contents are the same. */
function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

/** Merges branches; with `whole` the result is that of a commit. */
export async function mergeInto(
  branches: readonly KeptTurn[],
  how: How,
  options?: CallOptions,
): Promise<Done> {
  const pace = new Pace(options);
  for (let attempt = 1; ; attempt++) {
    const merge = new Merge(how, pace);
    try {
      const done = await merge.run(branches);
      if (merge.isOver || attempt === ATTEMPTS) return done;
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      if (!error.isStale || attempt === ATTEMPTS) {
        return error.failure;
      }
    }
  }
}

/** One attempt. */
class Merge {
  /** Whether its result is final. */
  isOver = false;
  readonly #turn: Turn;
  readonly #conflicts: Conflicts = [];
  readonly #refused: Refusals = [];

  constructor(
    readonly how: How,
    readonly pace: Pace,
  ) {
    this.#turn = begin(how.into, { by: how.by, writeMode: "overwrite" });
  }

  async run(branches: readonly KeptTurn[]): Promise<Done> {
    const parts: Part[] = [];
    for (const branch of branches) {
      const part = await this.#look(branch);
      await this.#make(part.taken);
      parts.push(part);
    }
    const { changes } = ok(await this.#turn.diff(this.pace.left)) as { changes: TurnChange[] };
    const found = { changes, conflicts: this.#conflicts, refused: this.#refused };
    this.isOver = true;
    if (this.how.dryRun) return found;
    if (this.how.whole) {
      const failed = this.#unfit();
      if (failed) return failed;
    }
    let receipt: Receipt | undefined;
    if (changes.length > 0 || this.how.whole) {
      const done = await this.#turn.commit(this.pace.left);
      this.isOver = done.code !== "conflict";
      if (!done.receipt) return done;
      receipt = done.receipt;
    }
    for (const { branch, taken } of parts) {
      if (!this.how.remembers(branch)) continue;
      const failed = await note(branch, taken);
      if (failed) return { ...failed, ...(receipt && { made: receipt }) };
    }
    if (this.how.whole) return receipt ? { receipt } : {};
    return receipt ? { receipt, ...found } : found;
  }

  /** Why the branch is not merged as a whole. */
  #unfit(): Done | undefined {
    const [refused] = this.#refused;
    if (refused) return { error: refused.error as ErrorText, code: "permission_denied" };
    if (this.#conflicts.length === 0) return undefined;
    const conflicts = this.#conflicts.map(({ path, before, now }) => ({
      ...{ path, before, now },
      operation: "write" as const,
    }));
    const error =
      "Nothing was done: others changed what this branch changes. See conflicts; rebase(), or merge with onConflict." as ErrorText;
    return { error, code: "conflict", conflicts };
  }

  /** Finds out what of a branch is taken. */
  async #look(branch: KeptTurn): Promise<Part> {
    const { changes } = ok(await branch.diff(this.pace.left)) as { changes: TurnChange[] };
    const { only } = this.how;
    const wanted = changes.filter(
      ({ path, from }) => !only || (only(path) && (from === undefined || only(from))),
    );
    const paths = wanted.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]));
    const now = await this.#now(branch.name, paths);
    const files: File[] = [];
    const moves: Array<{ to: File; from: File }> = [];
    for (const { path, from, before, after } of wanted) {
      const there = now.get(path);
      const old = from === undefined ? undefined : now.get(from);
      // What cannot be read stays, with the other half of a move.
      if (there === undefined || (from !== undefined && old === undefined)) continue;
      if (from === undefined) files.push({ path, before, ours: after, now: there });
      else {
        const to = { path, before: null, ours: after, now: there };
        moves.push({ to, from: { path: from, before, ours: null, now: old ?? null } });
      }
    }
    const taken: Taken[] = [];
    for (const { to, from } of moves) {
      const isEdited = from.now !== null && !isSame(from.now, from.before);
      // An edit of others goes along with the file that the branch moved.
      if (to.now === null && isEdited) {
        taken.push({ file: to, result: from.now }, { file: from, result: null });
      } else if (to.now === null || isSame(to.now, to.ours)) {
        taken.push({ file: to, result: to.ours }, { file: from, result: null });
      } else {
        // The old file stays while the new one is not there.
        const settled = await this.#settle(branch.name, to);
        if (settled.length === 0) continue;
        const stays = isEdited || this.#conflicts.at(-1)?.took === "into";
        taken.push(...settled, { file: from, result: stays ? from.now : null });
      }
    }
    const results = await this.#merged(branch, files);
    for (const [at, file] of files.entries()) {
      const result = results[at];
      if (result === undefined) taken.push(...(await this.#settle(branch.name, file)));
      else taken.push({ file, result });
    }
    return { branch, taken };
  }

  /** What `into` has at these paths; those that may not be read are noted and left out. */
  async #now(branch: string, paths: string[]): Promise<Map<string, Uint8Array | null>> {
    const found = new Map<string, Uint8Array | null>();
    if (paths.length === 0) return found;
    const answers = await this.#turn.downloadFiles(paths, this.pace.left);
    for (const [at, path] of paths.entries()) {
      const { content, error, code, message } = answers[at] ?? {};
      if (content) found.set(path, content);
      else if (error === "file_not_found" || code === "not_found") found.set(path, null);
      else if (code === "timeout" || code === "unavailable") {
        throw new Failed({ error: `${path}: ${message ?? error}` as ErrorText, code });
      } else this.#refused.push({ path, branch, error: message ?? String(error) });
    }
    return found;
  }

  /** What each file becomes; undefined where both sides changed the same place. */
  async #merged(
    branch: KeptTurn,
    files: readonly File[],
  ): Promise<Array<Uint8Array | null | undefined>> {
    if (files.length === 0) return [];
    const given = files.map(({ before, ours, now }) => ({
      before: before ?? undefined,
      ours: ours ?? undefined,
      now: now ?? undefined,
    }));
    const answer = await ask(
      KeptCall.merge,
      () => ({ files: given }),
      (length, limit) => glue.kept_ask(handleOf(branch), length, limit),
      (reply) => ({
        all: list(reply, () => {
          const what = reply.u8();
          return { what, content: what === 3 ? body(reply) : null };
        }),
      }),
      this.pace.left,
    );
    const { all } = ok(answer) as { all: Array<{ what: number; content: Uint8Array | null }> };
    return files.map(({ ours, now }, at) => {
      const { what, content } = all[at] ?? { what: 1, content: null };
      return [now, undefined, ours, content][what];
    });
  }

  /** What becomes of a file that conflicts; none if it is left. */
  async #settle(branch: string, file: File): Promise<Taken[]> {
    const { path, before, ours, now } = file;
    const compared = await comparedFiles([{ path, before: now, after: ours }], this.pace.left);
    const hunks = compared.changes?.[0]?.hunks ?? [];
    const conflict: MergeConflict = { path, branch, before, now, ours, hunks };
    const { onConflict = "leave" } = this.how;
    const decision =
      typeof onConflict === "function"
        ? await decided(onConflict, conflict)
        : kept(onConflict, conflict);
    const took = typeof decision === "string" ? decision : "content";
    this.#conflicts.push({ ...conflict, took });
    if (decision === "leave") return [];
    if (typeof decision !== "string") return [{ file, result: bytes(decision.content) }];
    return [{ file, result: decision === "branch" ? ours : now }];
  }

  /** Makes changes in the turn. */
  async #make(taken: readonly Taken[]): Promise<void> {
    const changed = taken.filter(({ file, result }) => !isSame(file.now, result));
    const stored = changed.filter(({ result }) => result !== null);
    for (const { file, result } of changed) {
      if (result !== null || file.now === null) continue;
      const gone = await this.#turn.delete(file.path, { ...this.pace.left, unchanged: file.now });
      const isStale = gone.code === "conflict" || gone.code === "not_found";
      if (gone.error !== undefined) throw new Failed(gone as Failure, isStale);
    }
    const uploads = stored.map(({ file, result }): [string, Uint8Array] => [
      file.path,
      result as Uint8Array,
    ]);
    if (uploads.length === 0) return;
    const answers = await this.#turn.uploadFiles(uploads, this.pace.left);
    for (const { path, error, code, message } of answers) {
      if (error) {
        const failed = `${path}: ${message ?? error}` as ErrorText;
        throw new Failed({ error: failed, code: code ?? "unavailable" });
      }
    }
  }
}

/** Always the same choice: but a deletion never takes an edit away. */
function kept(choice: Take, { now, ours }: MergeConflict): Take {
  if (choice === "branch" && ours === null) return "into";
  if (choice === "into" && now === null) return "branch";
  return choice;
}

async function decided(
  onConflict: Exclude<Settle, Take>,
  conflict: MergeConflict,
): Promise<Decision> {
  let decision: unknown;
  try {
    decision = await onConflict(conflict);
  } catch (error) {
    const what = `onConflict failed, and nothing was done: ${messageOf(error)}` as ErrorText;
    throw new Failed({ error: what, code: "unavailable" });
  }
  if (TAKES.includes(decision as Take)) return decision as Take;
  const content = (decision as { content?: unknown } | undefined)?.content;
  if (content === null || typeof content === "string" || content instanceof Uint8Array) {
    return { content };
  }
  const what =
    `onConflict must return "leave", "branch", "into" or { content }, not ${kindOf(decision)}; nothing was done` as ErrorText;
  throw new Failed({ error: what, code: "invalid_argument" });
}

function bytes(content: string | Uint8Array | null): Uint8Array | null {
  return typeof content === "string" ? new TextEncoder().encode(content) : content;
}

/** Notes in a branch what of it was merged. */
async function note(branch: KeptTurn, taken: readonly Taken[]): Promise<Failure | undefined> {
  if (taken.length === 0) return undefined;
  const files = taken.map(({ file: { path, before, ours } }) => ({
    path,
    before: before ?? undefined,
    after: ours ?? undefined,
    mode: undefined,
  }));
  const noted = await askKept(branch, KeptCall.settle, { files });
  if (Array.isArray(noted)) return undefined;
  const { error, code } = noted;
  return {
    error: `The branch "${branch.name}" was merged, but could not note it: ${error}` as ErrorText,
    code,
  };
}
