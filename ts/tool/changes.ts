// changeTools: `diff` and `undo` for models, over a turn or a history. Each call of a tool that changes
// files is one change with an id, which its answer names. Over a turn a call is a turn of its own that
// begins on it, so that it is made whole and can be taken back exactly; over a history the id is that
// of the note.

import { HistoryBackend } from "../backend/history.js";
import { type Receipt, Turn, type TurnChange, undo } from "../backend/turn.js";
import { kindOf, Options } from "../core/checks.js";
import { canonical } from "../core/paths.js";
import { noted } from "../core/reviewed.js";
import { visible } from "../core/visible.js";
import type { AnyBackend } from "../foreign/adapt.js";
import type { MaybePromise } from "../types.js";
import { type Base, OverHistory, OverTurn, said, wrong } from "./bases.js";
import { argumentsOf } from "./input.js";
import {
  type ReviewData,
  type ReviewDecision,
  reviewFields,
  settleReview,
  shortened,
} from "./review.js";
import { TABLE } from "./table.js";
import {
  type BackendOrFactory,
  type ChangeToolName,
  type ChangeTools,
  type FileTool,
  type FileTools,
  type FileToolsOptions,
  resolveBackend,
  shown,
  type ToolCall,
  type ToolResult,
} from "./tools.js";
import { type Around, shownChanges, shownPaths } from "./veil.js";

const TOOLS: Record<ChangeToolName, Omit<FileTool, "name" | "execute">> = {
  diff: {
    title: "Show changes",
    effect: "reads",
    description: "Show what has changed since this session began, as a unified diff.",
    inputSchema: {
      type: "object",
      properties: { path: { type: "string", description: "Only this file or directory" } },
    },
  },
  undo: {
    title: "Undo a change",
    effect: "destroys",
    description: "Take back one change. Refused if a file of it was changed again since.",
    inputSchema: {
      type: "object",
      properties: { change: { type: "string", description: "The id in the answer of the change" } },
      required: ["change"],
    },
  },
  commit: {
    title: "Commit the changes",
    effect: "destroys",
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
    | ((review: ReviewData, call?: ToolCall) => MaybePromise<ReviewDecision | undefined>);
}

const isIn = (path: string, place: string) =>
  place === "/" || path === place || path.startsWith(`${place}/`);

/**
 * For the option `changes` of `createFileTools` and the adapters: adds the tools `diff` and `undo`, and
 * the answers of tools that change files name the change. The backend must be a turn or a history.
 *
 * @example
 * import { changeTools, withHistory } from "kitbag/history";
 * const files = withHistory(backend, { keepIn: { backend: notes }, by: "agent-7" });
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
async function committed(
  turn: Turn,
  decision: ReviewDecision,
  before: readonly TurnChange[],
  rules: Around,
): Promise<ToolResult> {
  const done = await settleReview(turn, decision);
  if (done.receipt) {
    const paths = done.receipt.files.map(({ path }) => path);
    const left = before.filter(({ path }) => !paths.includes(path)).map(({ path }) => path);
    const rest = left.length > 0 ? ` The user left out ${listed(left)}.` : "";
    return said(`Committed ${listed(paths) || "nothing"}.${rest}`);
  }
  if (done.code !== "conflict" || !done.conflicts) return wrong(done.error);
  const others = await namesOf(turn, done.conflicts, rules);
  const { conflicts, error } = await turn.rebase();
  if (error !== undefined) {
    const plain = (await rules(turn)) === turn;
    return wrong(plain ? error : `others have changed ${others}; nothing was committed`);
  }
  const unmerged = conflicts?.length ? await namesOf(turn, conflicts, rules) : "";
  const next = unmerged
    ? `These could not be merged with your changes: ${unmerged}.`
    : "Their changes were merged: look at them, and commit again.";
  return wrong(`others have changed ${others} meanwhile; nothing was committed. ${next}`);
}

/** Most files that an answer names. */
const NAMED = 100;

function listed(paths: readonly string[]): string {
  const some = paths.slice(0, NAMED).map(visible).join(", ");
  return paths.length > NAMED ? `${some} and ${paths.length - NAMED} more` : some;
}

/** The files of conflicts, as far as the rules show them. */
async function namesOf(
  base: AnyBackend,
  conflicts: ReadonlyArray<{ path: string }> | undefined,
  rules: Around,
): Promise<string> {
  const paths = [...new Set(conflicts?.map(({ path }) => path))];
  const shown = await shownPaths(base, paths, rules);
  return listed(paths.filter((path) => shown.has(path))) || "other files";
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
  // Of a function it is not known whether its backend runs commands.
  const usual = TABLE.filter(({ isUsual }) => isUsual).map(({ name }) => name);
  const files = create(
    (runtime: unknown) => instead ?? resolveBackend(backend, runtime),
    runs && options.tools === undefined ? { ...options, tools: usual } : options,
  );
  const within = <T>(target: AnyBackend, begin: () => T): T => {
    instead = target;
    try {
      return begin();
    } finally {
      instead = undefined;
    }
  };
  /** The tools whose calls are changes. */
  const changing = new Set<string>(
    files.tools
      .filter(({ effect }) => effect === "changes" || effect === "destroys")
      .map(({ name }) => name),
  );

  /** The rules of these tools, for one call. */
  const rulesOf =
    (call?: ToolCall): Around =>
    (base) =>
      within(base, () => files.backend(call));

  const diff = async (
    base: Base,
    given: AnyBackend,
    path: unknown,
    call?: ToolCall,
  ): Promise<ToolResult> => {
    if (path !== undefined && path !== null && typeof path !== "string") {
      return wrong(`path must be a string, not ${kindOf(path)}`);
    }
    const place = canonical(path ?? "");
    const answer = await base.diff();
    if (!answer.changes) return wrong(await told(answer.error, given, call));
    const some = answer.changes.filter(
      (one) => isIn(one.path, place) || (one.from !== undefined && isIn(one.from, place)),
    );
    const allowed = await shownChanges(given, some, rulesOf(call));
    return allowed.length === 0 ? said("Nothing has changed.") : said(await shortened(allowed));
  };
  /** An error from below the rules, which may name what they hide. */
  const told = async (error: string, given: AnyBackend, call?: ToolCall) =>
    (await rulesOf(call)(given)) === given ? error : "the changes could not be read; try again";
  const takeBack = async (
    base: Base,
    given: AnyBackend,
    id: unknown,
    call?: ToolCall,
  ): Promise<ToolResult> => {
    if (typeof id !== "string" || id === "") {
      return wrong("change is missing: the id in the answer of the change");
    }
    const found = await base.find(id);
    if (typeof found === "string") return wrong(found);
    if ("error" in found) return wrong(await told(found.error, given, call));
    const paths = found.files.map(({ path }) => path);
    const shown = await shownPaths(given, paths, rulesOf(call));
    if (paths.some((path) => !shown.has(path))) return wrong(base.missing(id));
    return base.run(async (target) => {
      const guarded = await rulesOf(call)(target);
      const at = new Date().toISOString();
      const receipt: Receipt = { id, by: base.by, at, files: found.files };
      const done = await undo(guarded, receipt, call?.signal ? { signal: call.signal } : undefined);
      if (done.receipt) return said(`Took back ${listed(paths)}.`);
      if (done.code !== "conflict") return wrong(done.error);
      const others = await namesOf(given, done.conflicts, rulesOf(call));
      return wrong(`${others} was changed since; nothing was done. Undo the newer change first.`);
    }, call);
  };
  const turnOf = (given: AnyBackend): Turn => {
    if (given instanceof Turn) return given;
    throw new TypeError('changeTools: option "commit" needs a turn as the backend, not a history');
  };
  if (commit && typeof backend !== "function") turnOf(backend);
  const decided = async (base: Base, turn: Turn, call?: ToolCall): Promise<ToolResult> => {
    const seen = await turn.diff();
    if (!seen.changes) return wrong(await told(seen.error, turn, call));
    if (seen.changes.length === 0) return said("Nothing has changed.");
    const rules = rulesOf(call);
    const allowed = await shownChanges(turn, seen.changes, rules);
    if (!isAlike(seen.changes, allowed)) {
      // A review without them would commit what nobody has seen.
      return wrong(
        "the changes cannot be committed with these tools: some are of files that their rules do not show",
      );
    }
    const decision: ReviewDecision | undefined =
      typeof commit === "function"
        ? await commit(noted(await reviewFields(allowed), allowed), call)
        : { type: "accept" };
    if (!decision) return wrong("nobody has decided; nothing was done");
    return base.alone(async () => {
      const now = await turn.diff();
      if (!now.changes) return wrong(await told(now.error, turn, call));
      // Calls can go on while a person looks, and what nobody has seen is not committed.
      return isAlike(allowed, now.changes)
        ? committed(turn, decision, allowed, rules)
        : wrong("files were changed while the user looked at the review; commit again");
    });
  };
  const names: ChangeToolName[] = ["diff", "undo", ...(commit ? (["commit"] as const) : [])];
  const run = async (name: string, input: unknown, call?: ToolCall): Promise<ToolResult> => {
    try {
      const own = names.includes(name as ChangeToolName);
      if (!own && !changing.has(name)) {
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
      if (typeof parsed === "string") return wrong(parsed);
      const named: Record<string, unknown> = Object.fromEntries(parsed);
      if (name === "commit") return await decided(base, turnOf(given), call);
      if (name === "undo") return await takeBack(base, given, named.change ?? named.id, call);
      return await diff(base, given, named.path ?? named.file_path, call);
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
