// A review as an elicitation: the client shows the patch and asks its user what to do with it.

import { type ToolCall, visibleName } from "kitbag";
import type { ReviewData, ReviewDecision } from "kitbag/history";
import { onlyKnown } from "../../core/nearest.js";
import { exactly } from "../../core/paths.js";
import { changesOf } from "../../core/reviewed.js";
import { type Answer, answerInRounds, keyOf, PATIENCE_MS } from "./rounds.js";
import { askedBy, elicit, type McpServer } from "./sdk.js";

/** The question. Forms have flat fields only, so files are left out by their names. */
const formOf = (paths: string[]) => ({
  type: "object" as const,
  properties: {
    decision: {
      type: "string" as const,
      title: "Decision",
      enum: ["accept", "reject"],
      description: "accept commits the changes; reject drops all of them",
    },
    leaveOut: {
      type: "array" as const,
      title: "Leave out",
      description: "Files whose changes are dropped",
      items: { type: "string" as const, enum: paths },
    },
    message: {
      type: "string" as const,
      title: "Message",
      description: "What the agent should know",
    },
  },
  required: ["decision"],
});

/**
 * For the option `commit` of `changeTools`: asks the user of the client by an elicitation, which shows
 * the patch. Files can be left out. A client without forms gets an error, and nothing is done.
 *
 * Since the protocol of 2026-07-28 the question ends the call, and the client makes it again with the
 * answer. That counts once, for ten minutes, for the same call and changes; else the call fails.
 *
 * @param options `key`: signs what an answer is for, at least 32 bytes. Give one if the answer may come
 *   to another process. Default: random.
 * @example
 * const changes = changeTools({ commit: elicitReview(server) });
 * registerFileTools(server, begin(backend), { changes });
 */
export function elicitReview(
  server: McpServer,
  options?: {
    /** Signs what an answer is for, at least 32 bytes. */
    key?: string | Uint8Array;
  },
): (review: ReviewData, call?: ToolCall) => Promise<ReviewDecision | undefined> {
  onlyKnown("elicitReview", options, ["key"]);
  const key = keyOf(options?.key);
  return async (review, call) => {
    const { patch, files } = review;
    // By the names that the patch shows.
    const paths = new Map(files.map(({ path }) => [visibleName(path), path]));
    const params = {
      message: `Commit these changes?\n\n${patch}`,
      requestedSchema: formOf([...paths.keys()]),
    };
    const extra = call?.runtime as object;
    const { id, capabilities } = askedBy(extra);
    const answer =
      capabilities === undefined
        ? await elicit(server, params, {
            // Over HTTP the question goes the way of the call's answer.
            ...(id === undefined ? {} : { relatedRequestId: id }),
            ...(call?.signal ? { signal: call.signal } : {}),
            timeout: PATIENCE_MS,
          })
        : await answerInRounds(extra, params, changesOf(review), key);
    const { action, content } = (answer ?? { action: "cancel" }) as Answer;
    if (action === "cancel") return undefined;
    const message = typeof content?.message === "string" ? { message: content.message } : {};
    if (action !== "accept" || content?.decision !== "accept")
      return { type: "reject", ...message };
    const leaveOut = Array.isArray(content.leaveOut) ? content.leaveOut.map(String) : [];
    if (leaveOut.length === 0) return { type: "accept" };
    return { type: "edit", discard: leaveOut.map((name) => exactly(paths.get(name) ?? name)) };
  };
}
