// A review as an interrupt: when the agent has ended, a person sees what its turn would change. The
// form is that of LangChain's own middleware for approvals, so that its user interfaces know it.

import { HumanMessage } from "@langchain/core/messages";
import { interrupt, task } from "@langchain/langgraph";
import type { Turn } from "kitbag";
import {
  type ReviewData,
  type ReviewDecision,
  type ReviewEdit,
  reviewOf,
  settleReview,
} from "kitbag/history";
import { type AgentMiddleware, createMiddleware } from "langchain";
import { digestOf } from "../../core/reviewed.js";
import { namesFor } from "./rules.js";

/** The value of the interrupt. */
export interface ReviewRequest {
  /** One action. */
  actionRequests: Array<{
    /** Always `commit`. */
    name: "commit";
    /** What the decision `edit` may change: see `editedAction` of `ReviewDecisions`. */
    args: {
      /** The ids of all hunks. */
      hunks: string[];
    };
    /** The patch. */
    description: string;
  }>;
  /** The decisions that are allowed. */
  reviewConfigs: Array<{
    /** Always `commit`. */
    actionName: "commit";
    /** All of them. */
    allowedDecisions: ["approve", "edit", "reject"];
  }>;
  /** The changes in parts, for a page of your own. */
  review: ReviewData;
  /** The digest of the changes. If they are others when the graph is resumed, it asks again. */
  digest: string;
}

/** With what the graph is resumed: `new Command({ resume: decisions })`. */
export interface ReviewDecisions {
  /** One decision. */
  decisions: [
    | {
        /** Everything is committed. */
        type: "approve";
      }
    | {
        /** A part is committed, or something else. */
        type: "edit";
        /** What is committed. */
        editedAction: {
          /** Always `commit`. */
          name: "commit";
          /** The hunks that are kept, patterns of files that are dropped, files with other contents. */
          args: ReviewEdit;
        };
      }
    | {
        /** Everything is dropped. */
        type: "reject";
        /** Why. The agent is told, and goes on; without it the agent ends. */
        message?: string;
      },
  ];
}

/** The decision as `settleReview` takes it. */
function decisionOf(answer: unknown): ReviewDecision {
  const given = (answer as Partial<ReviewDecisions> | undefined)?.decisions?.[0];
  switch (given?.type) {
    case "approve":
      return { type: "accept" };
    case "edit":
      return { ...given.editedAction?.args, type: "edit" };
    case "reject":
      return { ...given, type: "reject" };
    default:
      throw new TypeError(
        'reviewMiddleware: resume with { decisions: [{ type }] }, whose type is "approve", "edit" or "reject"',
      );
  }
}

/**
 * What a task returned is kept with the checkpoint: the node of an interrupt begins anew when it is
 * resumed, and there a task returns what it did then.
 */
const noted = task("KitbagReview", async (value: string | boolean) => value);

/**
 * Shows what a turn would change until a decision is about what it would change now. Returns undefined if
 * there is nothing.
 */
async function decided(turn: Turn): Promise<ReviewDecision | undefined> {
  for (;;) {
    const { changes, error } = await turn.diff();
    if (!changes) throw new Error(error);
    const digest = await digestOf(changes);
    // A change that comes in between is shown, and has another digest later.
    const review = await reviewOf(turn);
    if (!review.files) throw new Error(review.error);
    if (review.files.length === 0) return undefined;
    const shown = await noted(digest);
    const hunks = review.files.flatMap((file) => file.hunks.map(({ id }) => id));
    const request: ReviewRequest = {
      actionRequests: [{ name: "commit", args: { hunks }, description: review.patch }],
      reviewConfigs: [{ actionName: "commit", allowedDecisions: ["approve", "edit", "reject"] }],
      review,
      digest,
    };
    const decision = decisionOf(await interrupt(request));
    // Noted, too: a decision about other changes stays one when they are changed back.
    if (await noted(shown === digest)) return decision;
  }
}

/**
 * Middleware for `createAgent`: when the agent has ended, an interrupt shows what its turn would change.
 * The graph is resumed with a decision: `approve` commits, `edit` commits a part or something else,
 * `reject` drops everything. If the changes are others by then, nothing is done and the next interrupt
 * shows them. Without changes there is no interrupt. It needs a checkpointer.
 *
 * @param turn The turn that the agent's tools work on, or a function that is called with the runtime and
 *   returns it: with `beginKept` and the thread's id as the name the review can wait for days. Pass what
 *   the tools got: of files that others have changed, the agent is told those names that its tools show.
 * @example
 * const turn = begin(backend);
 * const middleware = [kitbagMiddleware(turn), reviewMiddleware(turn)];
 * const agent = createAgent({ model, middleware, checkpointer });
 * const { __interrupt__ } = await agent.invoke(input, config);
 * await agent.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), config);
 */
export function reviewMiddleware(
  turn: Turn | ((runtime: unknown) => Turn | Promise<Turn>),
): AgentMiddleware {
  const tell = (text: string) => ({
    messages: [new HumanMessage(text)],
    jumpTo: "model" as const,
  });
  const middleware: unknown = createMiddleware({
    name: "KitbagReviewMiddleware",
    afterAgent: {
      canJumpTo: ["model"],
      hook: async (_state, runtime) => {
        const own = typeof turn === "function" ? await turn(runtime) : turn;
        const decision = await decided(own);
        if (!decision) return undefined;
        const done = await settleReview(own, decision);
        if (done.receipt) return undefined;
        if (decision.type === "reject" && done.code === "permission_denied") {
          return decision.message ? tell(done.error) : undefined;
        }
        if (done.code !== "conflict" || !done.conflicts) throw new Error(done.error);
        const named = (files: readonly { path: string }[]) =>
          namesFor(
            turn,
            runtime,
            files.map(({ path }) => path),
          );
        const changed = await named(done.conflicts);
        const { conflicts, error } = await own.rebase();
        if (!conflicts) throw new Error(error);
        const left = (await named(conflicts)) || "some files";
        return tell(
          `Others have changed ${changed || "files"} meanwhile; nothing was committed. ${conflicts.length > 0 ? `These could not be merged with your changes: ${left}.` : "Their changes were merged with yours: check the files."}`,
        );
      },
    },
  });
  return middleware as AgentMiddleware;
}
