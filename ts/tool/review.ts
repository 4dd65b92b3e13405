// A review: what a turn would change, as plain data that a person or an interrupt can be shown, and the
// decision about it. The adapters put it into the form that each framework has for approvals.

import { patchOf } from "../backend/patch.js";
import type { CommitResult, Turn, TurnChange, TurnHunk } from "../backend/turn.js";
import { BadArgument, isRecord, kindOf, refused } from "../core/checks.js";
import { Pace, unlessGivenUp } from "../core/pace.js";
import { exactly } from "../core/paths.js";
import { visible } from "../core/visible.js";
import type { CallOptions, Failure, Fields, Result } from "../types.js";

/** A file in a review. */
export interface ReviewFile {
  /** The file. */
  path: string;
  /** What happens to it. */
  kind: TurnChange["kind"];
  /** For a moved file, its path before. */
  from?: string;
  /** Where its text differs; none for binary files and for files that were only moved. */
  hunks: TurnHunk[];
}

/** The result of `reviewOf`: what a turn would change, as plain data. */
export type Review = Result<{
  /** All changes as a unified patch, shortened. */
  patch: string;
  /** The files. */
  files: ReviewFile[];
}>;

/** A review that could be made. */
export type ReviewData = Fields<Review>;

/** What is committed of a turn if not all. */
export interface ReviewEdit {
  /** Only these hunks of texts, by their ids. Default: all. */
  hunks?: readonly string[];
  /** Files whose changes are dropped, as patterns. */
  discard?: readonly string[];
  /** Files with other contents than the turn gives them; null deletes one. */
  files?: Readonly<Record<string, string | null>>;
}

/** What a person decides about a review. */
export type ReviewDecision =
  | {
      /** Everything is committed. */
      type: "accept";
    }
  | ({
      /** A part is committed, or something else; the rest is dropped. */
      type: "edit";
    } & ReviewEdit)
  | {
      /** Nothing is committed; the turn is emptied. */
      type: "reject";
      /** Why, for the model. */
      message?: string;
    };

/** Characters of a patch that a model or a person is shown. */
const SHOWN = 20_000;

/** Changes as a unified patch; what is too long is named instead, and the only change is cut. */
export async function shortened(
  changes: readonly TurnChange[],
  pace = new Pace(),
): Promise<string> {
  let patch = "";
  const left: string[] = [];
  for (const change of changes) {
    const { patch: whole } = await pace.run(patchOf([change]));
    const part = whole ?? `Binary file ${visible(change.path)} was ${change.kind}.\n`;
    if (changes.length === 1) patch = cut(part);
    else if (patch.length + part.length > SHOWN)
      left.push(`${visible(change.path)} (${change.kind})`);
    else patch += part;
  }
  if (left.length === 0) return patch;
  const some = left.slice(0, 100).join(", ");
  const more = left.length > 100 ? ` and ${left.length - 100} more` : "";
  return `${patch}[Too long to show; name a path to see one: ${some}${more}]\n`;
}

/** The first lines of a long patch. */
function cut(patch: string): string {
  if (patch.length <= SHOWN) return patch;
  const end = patch.lastIndexOf("\n", SHOWN) + 1 || SHOWN;
  return `${patch.slice(0, end)}\n[The patch goes on; ${patch.length - end} characters are not shown]\n`;
}

/**
 * What a turn would change, as plain data: for an interrupt, a message, or a page of your own.
 *
 * @example
 * const { patch, files } = await reviewOf(turn);
 */
export async function reviewOf(turn: Turn, options?: CallOptions): Promise<Review> {
  const pace = new Pace(options);
  const { changes, ...failed } = await turn.diff(options);
  return changes ? unlessGivenUp(reviewFields(changes, pace)) : (failed as Failure);
}

/** Changes as plain data. */
export async function reviewFields(
  changes: readonly TurnChange[],
  pace?: Pace,
): Promise<ReviewData> {
  const files = changes.map(({ path, kind, from, hunks }) => ({
    ...{ path, kind, hunks },
    ...(from === undefined ? {} : { from }),
  }));
  return { patch: await shortened(changes, pace), files };
}

const texts = (name: string, value: unknown): string[] => {
  const isList = Array.isArray(value) && value.every((one) => typeof one === "string");
  if (value !== undefined && value !== null && !isList) {
    throw new BadArgument(`decision.${name} must be an array of strings, not ${kindOf(value)}`);
  }
  return (value ?? []) as string[];
};

/** Changes a turn as a person has decided. */
async function edited(turn: Turn, decision: Record<string, unknown>): Promise<Failure | undefined> {
  let discard: string[] = [];
  let hunks: string[] | undefined;
  let files: Array<[string, string | null]> = [];
  const refusal = refused(() => {
    discard = texts("discard", decision.discard);
    if (decision.hunks !== undefined && decision.hunks !== null) {
      hunks = texts("hunks", decision.hunks);
    }
    if (decision.files !== undefined && !isRecord(decision.files)) {
      throw new BadArgument("decision.files must be an object of texts by path");
    }
    files = Object.entries(decision.files ?? {}).map(([path, content]) => {
      if (content === null || typeof content === "string") return [path, content];
      throw new BadArgument(`decision.files: the content of ${path} must be a string or null`);
    });
  });
  if (refusal) return refusal;
  if (hunks) {
    const { changes, ...failed } = await turn.diff();
    if (!changes) return failed as Failure;
    const wanted = new Set(hunks);
    const parts = changes.filter((one) => one.hunks.length > 0);
    const kept = parts.flatMap((one) => one.hunks.filter(({ id }) => wanted.has(id)));
    if (kept.length < wanted.size) {
      const error = "A hunk is not of this review, or its file was changed since; look again";
      return { error: error as Failure["error"], code: "conflict" };
    }
    const accepted = kept.length > 0 ? await turn.accept(kept) : undefined;
    if (accepted?.error !== undefined) return accepted as Failure;
    const without = parts.filter((one) => !one.hunks.some(({ id }) => wanted.has(id)));
    discard = [...discard, ...without.map(({ path }) => exactly(path))];
  }
  const dropped = discard.length > 0 ? await turn.discard(discard) : undefined;
  if (dropped?.error !== undefined) return dropped as Failure;
  for (const [path, content] of files) {
    if (content === null) {
      const gone = await turn.delete(path);
      if (gone.error !== undefined) return gone as Failure;
      continue;
    }
    const [stored] = await turn.uploadFiles([[path, new TextEncoder().encode(content)]]);
    if (stored?.error) {
      return {
        error: `${path}: ${stored.message ?? stored.error}` as Failure["error"],
        code: "unavailable",
      };
    }
  }
  return undefined;
}

/**
 * Carries out what a person has decided about a turn. After `"reject"` the turn is empty, and the result
 * is that of a refusal, with `code: "permission_denied"`.
 *
 * @example
 * const done = await settleReview(turn, { type: "edit", hunks: [files[0].hunks[1].id] });
 */
export async function settleReview(turn: Turn, decision: ReviewDecision): Promise<CommitResult> {
  const given = isRecord(decision) ? (decision as Record<string, unknown>) : {};
  const type = given.type;
  if (type === "reject") {
    const gone = await turn.discard(["/**"]);
    if (gone.error !== undefined) return gone as Failure;
    const why = typeof given.message === "string" && given.message ? `: ${given.message}` : ".";
    const error = `The changes were rejected, and none was made${why}`;
    return { error: error as Failure["error"], code: "permission_denied" };
  }
  if (type !== "accept" && type !== "edit") {
    const error = 'The decision must have type: "accept", "edit" or "reject"; nothing was done';
    return { error: error as Failure["error"], code: "invalid_argument" };
  }
  const failed = type === "edit" ? await edited(turn, given) : undefined;
  return failed ?? (await turn.commit());
}
