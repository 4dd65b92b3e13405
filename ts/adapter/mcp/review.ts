// A review as an elicitation: the client shows the patch and asks its user what to do with it.

import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { type ToolCall, visibleName } from "kitbag";
import type { ReviewData, ReviewDecision } from "kitbag/history";
import { exactly } from "../../core/paths.js";

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
 * @example
 * const changes = changeTools({ commit: elicitReview(server) });
 * registerFileTools(server, begin(backend), { changes });
 */
export function elicitReview(
  server: McpServer,
): (review: ReviewData, call?: ToolCall) => Promise<ReviewDecision | undefined> {
  return async ({ patch, files }, call) => {
    // By the names that the patch shows.
    const paths = new Map(files.map(({ path }) => [visibleName(path), path]));
    const { requestId } = (call?.runtime ?? {}) as { requestId?: string | number };
    const { action, content } = await server.server.elicitInput(
      { message: `Commit these changes?\n\n${patch}`, requestedSchema: formOf([...paths.keys()]) },
      {
        // Over HTTP the question goes the way of the call's answer.
        ...(requestId === undefined ? {} : { relatedRequestId: requestId }),
        ...(call?.signal ? { signal: call.signal } : {}),
        timeout: PATIENCE_MS,
      },
    );
    if (action === "cancel") return undefined;
    const message = typeof content?.message === "string" ? { message: content.message } : {};
    if (action === "decline" || content?.decision !== "accept")
      return { type: "reject", ...message };
    const leaveOut = Array.isArray(content.leaveOut) ? content.leaveOut.map(String) : [];
    if (leaveOut.length === 0) return { type: "accept" };
    return { type: "edit", discard: leaveOut.map((name) => exactly(paths.get(name) ?? name)) };
  };
}

/** A person needs longer than a program. */
const PATIENCE_MS = 600_000;
