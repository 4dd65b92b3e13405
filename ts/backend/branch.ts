// fork and merge: branches, which are kept turns over a pin, or over what is below now. How changes are
// merged is in merging.ts.

import { kindOf, Options, refusedAsResult } from "../core/checks.js";
import { KeptCall } from "../core/descriptions.js";
import { sealClass } from "../core/handle.js";
import type { AnyBackend } from "../foreign/adapt.js";
import { withHandle } from "../foreign/calls.js";
import type { CallOptions, ErrorText, Failure, Result } from "../types.js";
import { HistoryBackend, openPin } from "./history.js";
import { placeElsewhere } from "./keep-in.js";
import { askKept, KeptTurn, type KeptTurnOptions, still } from "./kept.js";
import { type MergeResult, mergeInto, type Settle, TAKES } from "./merging.js";
import type { CommitResult, RebaseOptions, RebaseResult, TurnCapability } from "./turn.js";

/** The directory of all branches in the backend that keeps them. */
const BRANCHES = "/.kitbag/branches";

/** The result of `fork`. */
type ForkResult = Result<{
  /** The branch: a backend for an agent's tools. */
  branch: Branch;
}>;

/** Options of `merge`. */
export interface MergeOptions extends CallOptions {
  /** Where the changes are made: what the branch was forked from, another branch, or any backend. */
  into: AnyBackend;
  /** Who makes the changes; it is in the receipt. Default: `by` of the first branch. */
  by?: string;
  /** Which files are merged; the others stay in the branch. Default: all. */
  only?: (path: string) => boolean;
  /**
   * What to do about a file that both sides changed at the same place: leave it as it is (`"leave"`, the
   * default), take the content of the branch or of `into`, unless that is a deletion, or what a function
   * returns. It is called again when others change a file meanwhile.
   */
  onConflict?: Settle;
  /**
   * Whether the next merge takes only what is new. Default: whether `into` is the object that the branch was
   * forked from. Say `true` for the same files behind another object, such as one with rules.
   */
  remember?: boolean;
  /** Only returns what would be done. */
  dryRun?: boolean;
}

/** What a branch was forked from, and the pin that it shows. */
interface Forked {
  from: AnyBackend;
  pin?: string;
}

const forks = new WeakMap<Branch, Forked>();

/**
 * A branch of a backend: a kept turn that shows the files of its fork, and can be merged again and again. The
 * result of `fork`.
 */
export class Branch extends KeptTurn {
  /** `fork` calls it. */
  constructor(from: AnyBackend, options: KeptTurnOptions) {
    super(from, options, "fork");
    forks.set(this, { from });
  }

  /** The pin whose files the branch shows; undefined if it shows what is below now. */
  get pin(): string | undefined {
    return forks.get(this)?.pin;
  }

  /** What the branch guarantees; `base` is whether it shows a pin, or what is below now. */
  override get capability(): TurnCapability & {
    /** What the branch shows where it has changed nothing. */
    base: "pin" | "live";
  } {
    return { ...super.capability, base: this.pin === undefined ? "live" : "pin" };
  }

  /**
   * Merges the branch into what it was forked from, all or nothing: what conflicts is in `conflicts`, and
   * nothing was changed then. `merge` can do more.
   */
  override commit(options?: CallOptions): Promise<CommitResult> {
    const into = forks.get(this)?.from as AnyBackend;
    const how = { into, by: this.by, remembers: () => true, whole: true };
    return mergeInto([this], how, options) as Promise<CommitResult>;
  }

  /**
   * Brings the branch up to date with what it was forked from, of which it shows a new pin then: changes of
   * others are merged with its own by lines. What cannot be merged is listed, and stays as it is in the
   * branch; `discard` it, or name it in `keep`.
   */
  override async rebase(options?: RebaseOptions): Promise<RebaseResult> {
    const failed = await follow(this, true, options);
    return failed ?? super.rebase(options);
  }
}

/** Lets a branch show the files of its fork, or with `newest` those of now. */
async function follow(
  branch: Branch,
  newest: boolean,
  options: CallOptions | undefined,
): Promise<Failure | undefined> {
  const fork = forks.get(branch) as Forked;
  const call = { signal: options?.signal, timeoutMs: options?.timeoutMs } as CallOptions;
  const { from } = fork;
  const world = from instanceof HistoryBackend ? from : undefined;
  const noted = newest ? [] : await askKept(branch, KeptCall.noted, {}, call);
  if (!Array.isArray(noted)) return noted;
  if (!world) {
    return noted.length > 0 ? overPin(branch.name) : show(branch, from, undefined, call);
  }
  const made = noted[0] === undefined ? await world.pin(call) : { pin: noted[0] };
  if (made.pin === undefined) return made as Failure;
  if (made.pin === fork.pin) return undefined;
  const { backend: then, ...failed } = await openPin(world, made.pin, call);
  if (!then) return failed as Failure;
  const refused = await show(branch, then, made.pin, call);
  if (!refused) fork.pin = made.pin;
  still.add(branch);
  return refused;
}

async function show(
  branch: Branch,
  backend: AnyBackend,
  note: string | undefined,
  options: CallOptions,
): Promise<Failure | undefined> {
  const answer = await withHandle("fork: the backend", backend, (base) =>
    askKept(branch, KeptCall.show, { base, note }, options),
  );
  return Array.isArray(answer) ? undefined : answer;
}

const overPin = (name: string): Failure => ({
  error:
    `fork: the branch "${name}" shows a pin; pass the withHistory that it was forked from` as ErrorText,
  code: "invalid_argument",
});

/**
 * Begins a branch of a backend, or goes on with the one that is kept under this name. A branch of a
 * `withHistory` shows the files as they are now, whatever happens there later; one of anything else shows what
 * is below in each file that it has not changed.
 *
 * @example
 * import { fork, merge, withHistory } from "kitbag/history";
 * const world = withHistory(backend, { keepIn: { backend: notes } });
 * const { branch } = await fork(world, { keepIn: { backend: notes }, name: "agent-7" });
 * await branch.edit("/plan.md", "Measure", "Look");
 * const { receipt, conflicts } = await merge(branch, { into: world });
 */
export async function fork(
  backend: AnyBackend,
  options: KeptTurnOptions & CallOptions,
): Promise<ForkResult> {
  try {
    const given = new Options("fork", options);
    const place = placeElsewhere(given, BRANCHES);
    withHandle("fork: the backend", backend, () => undefined);
    const { signal, timeoutMs, ...rest } = options;
    // Here, so that a bundle without branches has nothing of them.
    sealClass(Branch);
    const branch = new Branch(backend, {
      ...rest,
      keepIn: { ...options.keepIn, path: place.path },
    });
    const failed = await follow(branch, false, { signal, timeoutMs } as CallOptions);
    return failed ?? { branch };
  } catch (error) {
    return refusedAsResult(error);
  }
}

/** The branches that are merged. */
function branchesOf(value: unknown): Branch[] {
  const all = [value].flat() as unknown[];
  all.forEach((one, at) => {
    if (!(one instanceof Branch)) {
      throw new TypeError(
        `merge: the first argument must be what fork returned as branch, not ${kindOf(one)}`,
      );
    }
    if (all.indexOf(one) < at)
      throw new TypeError(`merge: the branch "${one.name}" is there twice`);
  });
  if (all.length === 0) throw new TypeError("merge: the list of branches is empty");
  return all as Branch[];
}

/**
 * Merges one or several branches: all their changes are made in `into` as one commit, merged by lines with what
 * others changed there. What both sides changed at the same place is in `conflicts`, and stays as it is on both
 * sides unless `onConflict` settles it.
 *
 * @example
 * const { receipt, conflicts } = await merge([one, two], { into: world });
 * if (receipt) await undo(world, receipt);
 */
export async function merge(
  branches: Branch | readonly Branch[],
  options: MergeOptions,
): Promise<MergeResult> {
  try {
    const all = branchesOf(branches);
    const given = new Options("merge", options);
    const into = given.raw("into") as AnyBackend;
    if (into === undefined) given.refuse("into", "a backend", undefined);
    if (all.includes(into as Branch)) {
      throw new TypeError("merge: a branch cannot be merged into itself");
    }
    withHandle("merge: into", into, () => undefined);
    const remember = given.raw("remember") === undefined || given.boolean("remember", false);
    const always = given.raw("remember") !== undefined;
    const how = {
      into,
      by: given.text("by") ?? all[0]?.by ?? "",
      only: given.callback("only") as MergeOptions["only"],
      onConflict: settleOf(given),
      remembers: (one: KeptTurn) => remember && (always || forks.get(one as Branch)?.from === into),
      dryRun: given.boolean("dryRun", false),
    };
    const call = { signal: given.raw("signal"), timeoutMs: given.raw("timeoutMs") } as CallOptions;
    given.done();
    for (const one of all) {
      if (forks.get(one)?.from === into) continue;
      const labelled = await withHandle("merge: into", into, (handle) =>
        askKept(one, KeptCall.apart, { into: handle }, call),
      );
      if (!Array.isArray(labelled)) return labelled;
    }
    return (await mergeInto(all, how, call)) as MergeResult;
  } catch (error) {
    return refusedAsResult(error);
  }
}

function settleOf(given: Options): Settle {
  const value = given.raw("onConflict") ?? "leave";
  if (typeof value === "function") return value as Settle;
  if (TAKES.includes(value as (typeof TAKES)[number])) return value as Settle;
  return given.refuse("onConflict", `a function, or one of ${TAKES.join(", ")}`, value);
}
