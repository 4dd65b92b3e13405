// changeTools: `diff` and `undo` for models, over a turn or a history. Each call of a tool that changes
// files is one change with an id, which its answer names. Over a turn a call is a turn of its own that
// begins on it, so that it is made whole and can be taken back exactly; over a history the id is that
// of the note.

import { HistoryBackend, type HistoryEntry, type HistoryMoment } from "../backend/history.js";
import {
  begin,
  type Receipt,
  type ReceiptFile,
  Turn,
  type TurnChange,
  undo,
} from "../backend/turn.js";
import { kindOf, Options } from "../core/checks.js";
import type { AnyBackend } from "../foreign/adapt.js";
import type { MaybePromise } from "../types.js";
import { argumentsOf } from "./input.js";
import {
  patchOf,
  type ReviewDecision,
  type ReviewFields,
  reviewOf,
  settleReview,
} from "./review.js";
import {
  type BackendOrFactory,
  type ChangeToolName,
  type ChangeTools,
  type FileTool,
  type FileTools,
  type FileToolsOptions,
  type InputSchema,
  resolveBackend,
  shown,
  type ToolCall,
  type ToolResult,
} from "./tools.js";

/** The tools whose calls are changes. */
const CHANGING = [
  ...["write_file", "edit_file", "delete"],
  ...["move_file", "copy_file", "append_file"],
];
/** Most changes of a turn that can be taken back; the contents of each are held. */
const RECEIPTS = 256;
/** Attempts of a call whose turn met another change. */
const TRIES = 8;
/** Entries of a history that are searched for one change. */
const ENTRIES = 1_000;
/** Newest entries among which that of a call is looked for. */
const NEWEST = 16;

const TOOLS: Record<ChangeToolName, { description: string; inputSchema: InputSchema }> = {
  diff: {
    description: "Show what has changed since this session began, as a unified diff.",
    inputSchema: {
      type: "object",
      properties: { path: { type: "string", description: "Only this file or directory" } },
    },
  },
  undo: {
    description: "Take back one change. Refused if a file of it was changed again since.",
    inputSchema: {
      type: "object",
      properties: { change: { type: "string", description: "The id in the answer of the change" } },
      required: ["change"],
    },
  },
  commit: {
    description: "Ask the user to accept what has changed. Call it when the work is done.",
    inputSchema: { type: "object", properties: {} },
  },
};

/** Options of `changeTools`. */
export interface ChangeToolsOptions {
  /**
   * Add the tool `commit`, over a turn: a function that lets a person decide about the review, such as
   * `elicitReview(server)` of `kitbag/mcp`; or `true` where the framework asks before the tool runs, as
   * the AI SDK does. If the function returns undefined, nothing is done. Default: there is no such tool.
   */
  commit?:
    | true
    | ((review: ReviewFields, call?: ToolCall) => MaybePromise<ReviewDecision | undefined>);
}

/** The same for a model, with what it may be wrong about. */
const said = (text: string, isError = false): ToolResult => ({
  content: [{ type: "text", text }],
  text,
  isError,
});
const wrong = (text: string) => said(`Error: ${text}`, true);

/** A result of text that names its change. */
function naming(result: ToolResult, id: string): ToolResult {
  const text = `${result.text}\n[change ${id}]`;
  return { ...result, text, content: [{ type: "text", text }] };
}

/** What a set of tools does with the backend that it is over. */
interface Base {
  /** Runs a call that may change files. */
  run(go: (files: AnyBackend) => Promise<ToolResult>, call?: ToolCall): Promise<ToolResult>;
  /** What has changed. */
  diff(): ReturnType<Turn["diff"]>;
  /** The files of a change, or why there is none. */
  find(id: string): Promise<readonly ReceiptFile[] | string>;
  /** Runs work after the calls that began before it, and before those after it. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Who makes changes. */
  by: string;
}

/** Calls over a turn: each is a turn on it, one after the other. */
class OverTurn implements Base {
  readonly by: string;
  readonly #turn: Turn;
  readonly #receipts = new Map<string, Receipt>();
  #before: Promise<unknown> = Promise.resolve();

  constructor(turn: Turn) {
    this.#turn = turn;
    this.by = turn.by;
  }

  alone<T>(work: () => Promise<T>): Promise<T> {
    const after = this.#before.then(work);
    this.#before = after.catch(() => {});
    return after;
  }

  run(go: (files: AnyBackend) => Promise<ToolResult>): Promise<ToolResult> {
    return this.alone(async () => {
      for (let tried = 1; ; tried++) {
        const own = begin(this.#turn, { by: this.by });
        try {
          const result = await go(own);
          if (result.isError) return result;
          const done = await own.commit();
          if (done.receipt) return this.#named(result, done.receipt);
          if (done.code !== "conflict" || tried === TRIES) return wrong(done.error);
        } finally {
          own.dispose();
        }
      }
    });
  }

  /** Keeps a receipt, and names it in the answer of its call. */
  #named(result: ToolResult, receipt: Receipt): ToolResult {
    if (receipt.files.length === 0) return result;
    this.#receipts.set(receipt.id, receipt);
    for (const id of this.#receipts.keys()) {
      if (this.#receipts.size <= RECEIPTS) break;
      this.#receipts.delete(id);
    }
    return naming(result, receipt.id);
  }

  diff() {
    return this.#turn.diff();
  }

  async find(id: string) {
    const missing = `There is no change ${id} here, or it is older than the last ${RECEIPTS}.`;
    return this.#receipts.get(id)?.files ?? missing;
  }
}

/** Calls over a history: each notes its changes under a name of its own. */
class OverHistory implements Base {
  readonly by = "";
  readonly #history: HistoryBackend;
  /** The newest entry before the first call. */
  #since: Promise<HistoryMoment> | undefined;
  /** The names of calls, each of which is used once. */
  readonly #calls = new Set<string>();

  constructor(history: HistoryBackend) {
    this.#history = history;
  }

  alone<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }

  async run(go: (files: AnyBackend) => Promise<ToolResult>, call?: ToolCall): Promise<ToolResult> {
    const given = call?.callId;
    const name = given && !this.#calls.has(given) ? given : `call_${crypto.randomUUID()}`;
    this.#calls.add(name);
    await this.#began();
    const own = this.#history.as({ call: name });
    const result = await go(own).finally(() => own.dispose());
    if (result.isError) return result;
    const { entries = [] } = await this.#history.log("/", { limit: NEWEST });
    const noted = entries.find((one) => one.call === name);
    return noted ? naming(result, noted.id) : result;
  }

  #began(): Promise<HistoryMoment> {
    const newest = async () => {
      const { entries, error } = await this.#history.log("/", { limit: 1 });
      if (entries) return entries[0]?.id ?? new Date(0);
      this.#since = undefined;
      throw new Error(error);
    };
    this.#since ??= newest();
    return this.#since;
  }

  async diff() {
    return this.#history.diff(await this.#began());
  }

  async find(id: string): Promise<readonly ReceiptFile[] | string> {
    const { entries, error } = await this.#history.log("/", { limit: ENTRIES });
    if (!entries) return error;
    const at = entries.findIndex((one) => one.id === id);
    const named = entries[at];
    if (!named) return `There is no change ${id}, or it is older than the last ${ENTRIES}.`;
    const files = new Map<string, ReceiptFile>();
    for (const [index, entry] of entries.entries()) {
      if (index < at || !isSame(entry, named)) continue;
      // Of an entry whose change was not made, the newer one of the same call has what was.
      const paths = entry.files.map(({ path }) => path).filter((path) => !files.has(path));
      if (paths.length === 0) continue;
      const before = entries[index + 1]?.id ?? new Date(Date.parse(entry.at) - 1);
      const compared = await this.#history.diff(before, entry.id);
      if (!compared.changes) return compared.error;
      const fresh = new Set(paths);
      const put = (file: ReceiptFile) => {
        if (fresh.has(file.path)) files.set(file.path, file);
      };
      for (const { path, kind, from, before, after } of compared.changes) {
        if (kind === "moved" && from) put({ path: from, before, after: null });
        put({ path, before: kind === "moved" ? null : before, after });
      }
    }
    return [...files.values()];
  }
}

/** Whether two entries are of one call. */
const isSame = (one: HistoryEntry, other: HistoryEntry) =>
  one.id === other.id || (other.call !== "" && one.call === other.call && one.by === other.by);

const isIn = (path: string, place: string) =>
  place === "/" || path === place || path.startsWith(`${place}/`);

/**
 * For the option `changes` of `createFileTools` and the adapters: adds the tools `diff` and `undo`, and
 * the answers of tools that change files name the change. The backend must be a turn or a history.
 *
 * @example
 * import { changeTools, history } from "kitbag/history";
 * const files = history(backend, { keepIn, by: "agent-7" });
 * const { tools } = createFileTools(files, { changes: changeTools() });
 */
export function changeTools(options?: ChangeToolsOptions): ChangeTools {
  const given = new Options("changeTools", options);
  const commit = given.checked(
    "commit",
    "true or a function",
    (value): value is NonNullable<ChangeToolsOptions["commit"]> =>
      value === true || typeof value === "function",
  );
  given.done();
  return { around: (backend, rest, create) => around(backend, rest, create, commit) };
}

const isSameBody = (one: Uint8Array | null, other: Uint8Array | null) =>
  one === other ||
  (one?.length === other?.length && one?.every((byte, at) => byte === other?.[at]) === true);

/** Whether two diffs change the same files in the same way. */
function isAlike(some: readonly TurnChange[], others: readonly TurnChange[]): boolean {
  const isEqual = (one: TurnChange, other: TurnChange | undefined) =>
    one.path === other?.path &&
    one.kind === other.kind &&
    one.from === other.from &&
    isSameBody(one.after, other.after);
  return some.length === others.length && some.every((one, at) => isEqual(one, others[at]));
}

/** What a model is told after a commit. */
async function committed(turn: Turn, decision: ReviewDecision): Promise<ToolResult> {
  const { files: before = [] } = await reviewOf(turn);
  const done = await settleReview(turn, decision);
  if (done.receipt) {
    const paths = done.receipt.files.map(({ path }) => path);
    const left = before.filter(({ path }) => !paths.includes(path)).map(({ path }) => path);
    const rest = left.length > 0 ? ` The user left out ${left.join(", ")}.` : "";
    return said(`Committed ${paths.join(", ") || "nothing"}.${rest}`);
  }
  if (done.code !== "conflict" || !done.conflicts) return wrong(done.error);
  const others = [...new Set(done.conflicts.map(({ path }) => path))].join(", ");
  const { conflicts, error } = await turn.rebase();
  if (error !== undefined) return wrong(error);
  const unmerged = conflicts?.map(({ path }) => path).join(", ");
  const next = unmerged
    ? `These could not be merged with your changes: ${unmerged}.`
    : "Their changes were merged: look at them, and commit again.";
  return wrong(`others have changed ${others} meanwhile; nothing was committed. ${next}`);
}

function around(
  backend: BackendOrFactory,
  options: FileToolsOptions,
  create: (backend: BackendOrFactory, options: FileToolsOptions) => FileTools,
  commit: ChangeToolsOptions["commit"],
): FileTools {
  const bases = new WeakMap<object, Base>();
  const baseOf = (given: AnyBackend): Base => {
    const known = bases.get(given);
    if (known) return known;
    if (!(given instanceof Turn || given instanceof HistoryBackend)) {
      const name = (given as object | null)?.constructor?.name ?? kindOf(given);
      throw new TypeError(
        `createFileTools: option "changes" needs a turn (begin, beginKept) or a history as the backend, not ${name}; give rules and ignore files as options of the tools`,
      );
    }
    const made = given instanceof Turn ? new OverTurn(given) : new OverHistory(given);
    bases.set(given, made);
    return made;
  };
  if (typeof backend !== "function") baseOf(backend);
  // Set while a call begins, which asks for its backend before it first waits.
  let instead: AnyBackend | undefined;
  const runs = typeof (backend as { execute?: unknown }).execute === "function";
  const files = create(
    (runtime: unknown) => instead ?? resolveBackend(backend, runtime),
    runs && options.tools === undefined ? { ...options, tools: [...USUAL, "execute"] } : options,
  );
  const within = <T>(target: AnyBackend, begin: () => T): T => {
    instead = target;
    try {
      return begin();
    } finally {
      instead = undefined;
    }
  };
  const offered = new Set<string>(files.tools.map(({ name }) => name));

  const diff = async (base: Base, path: unknown): Promise<ToolResult> => {
    if (path !== undefined && path !== null && typeof path !== "string") {
      return wrong(`path must be a string, not ${kindOf(path)}`);
    }
    const place = `/${path ?? ""}`.replace(/\/+/g, "/").replace(/(.)\/$/, "$1");
    const answer = await base.diff();
    if (!answer.changes) return wrong(answer.error);
    const some = answer.changes.filter(
      (one) => isIn(one.path, place) || (one.from !== undefined && isIn(one.from, place)),
    );
    return some.length === 0 ? said("Nothing has changed.") : said(patchOf(some));
  };
  const takeBack = async (base: Base, id: unknown, call?: ToolCall): Promise<ToolResult> => {
    if (typeof id !== "string" || id === "") {
      return wrong("change is missing: the id in the answer of the change");
    }
    const found = await base.find(id);
    if (typeof found === "string") return wrong(found);
    return base.run(async (target) => {
      const guarded = await within(target, () => files.backend(call));
      const receipt: Receipt = { id, by: base.by, at: new Date().toISOString(), files: [...found] };
      const done = await undo(guarded, receipt, call?.signal ? { signal: call.signal } : undefined);
      if (done.receipt) return said(`Took back ${found.map(({ path }) => path).join(", ")}.`);
      if (done.code !== "conflict") return wrong(done.error);
      const paths = [...new Set(done.conflicts?.map((one) => one.path))].join(", ");
      return wrong(`${paths} was changed since; nothing was done. Undo the newer change first.`);
    }, call);
  };
  const turnOf = (given: AnyBackend): Turn => {
    if (given instanceof Turn) return given;
    throw new TypeError('changeTools: option "commit" needs a turn as the backend, not a history');
  };
  if (commit && typeof backend !== "function") turnOf(backend);
  const decided = async (base: Base, turn: Turn, call?: ToolCall): Promise<ToolResult> => {
    const seen = await turn.diff();
    if (!seen.changes) return wrong(seen.error);
    const review = await reviewOf(turn);
    if (!review.files) return wrong(review.error);
    if (review.files.length === 0) return said("Nothing has changed.");
    const decision: ReviewDecision | undefined =
      typeof commit === "function" ? await commit(review, call) : { type: "accept" };
    if (!decision) return wrong("nobody has decided; nothing was done");
    return base.alone(async () => {
      const now = await turn.diff();
      if (!now.changes) return wrong(now.error);
      // Calls can go on while a person looks, and what nobody has seen is not committed.
      return isAlike(seen.changes, now.changes)
        ? committed(turn, decision)
        : wrong("files were changed while the user looked at the review; commit again");
    });
  };
  const names: ChangeToolName[] = ["diff", "undo", ...(commit ? (["commit"] as const) : [])];
  const run = async (name: string, input: unknown, call?: ToolCall): Promise<ToolResult> => {
    try {
      const own = names.includes(name as ChangeToolName);
      if (!own && !(offered.has(name) && CHANGING.includes(name))) {
        return await files.call(name, input, call);
      }
      const given = await resolveBackend(backend, call?.runtime);
      const base = baseOf(given);
      if (!own) {
        return await base.run(
          (target) => within(target, () => files.call(name, input, call)),
          call,
        );
      }
      const parsed = argumentsOf(input);
      const named = Array.isArray(parsed) ? Object.fromEntries(parsed as [string, unknown][]) : {};
      if (name === "commit") return await decided(base, turnOf(given), call);
      if (name === "undo") return await takeBack(base, named.change ?? named.id, call);
      return await diff(base, named.path ?? named.file_path);
    } catch (error) {
      return wrong(`the tool could not run: ${error instanceof Error ? error.message : error}`);
    }
  };
  const toolOf = (tool: Omit<FileTool, "execute">): FileTool => ({
    ...tool,
    execute: async (input, call) => shown(await run(tool.name, input, call)),
    ...(tool.name === "commit" && commit === true ? { needsApproval: true } : {}),
  });
  return {
    ...files,
    tools: [...files.tools, ...names.map((name) => ({ name, ...TOOLS[name] }))].map(toolOf),
    call: run,
  };
}

/** The tools that are offered if none are named. */
const USUAL = ["ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep"] as const;
