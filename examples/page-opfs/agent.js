// The agent: the AI SDK's loop over a turn, which holds back all changes until a person has approved
// the tool `commit`.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { isStepCount, streamText } from "ai";
import { begin } from "kitbag";
import { fileTools } from "kitbag/ai";
import { changeTools, reviewOf } from "kitbag/history";

/**
 * An agent over a backend. `baseURL` is your own server, which adds the key of the model's API: a key in a
 * page is public.
 *
 * `onText` gets the answer piece by piece, `onCall` the name and the input of each call, `onReview` the
 * changes as a patch; it returns whether a person wants them.
 */
export function makeAgent({ backend, baseURL, model, onText, onCall, onReview }) {
  const turn = begin(backend);
  const { tools, systemPrompt } = fileTools(turn, { changes: changeTools({ commit: true }) });
  const instructions = `${systemPrompt}\nWhen your changes are complete, call commit.`;
  const provider = createOpenAICompatible({ name: "server", baseURL });
  const messages = [];

  /** Streams one answer; returns the approvals that it waits for. */
  async function stream(abortSignal) {
    const asked = [];
    const result = streamText({
      model: provider(model),
      instructions,
      tools,
      messages,
      stopWhen: isStepCount(20),
      abortSignal,
      // What failed is a part of the stream.
      onError: () => {},
    });
    for await (const part of result.fullStream) {
      if (part.type === "text-delta") onText(part.text);
      else if (part.type === "tool-call") onCall(part.toolName, part.input);
      else if (part.type === "tool-approval-request") asked.push(part.approvalId);
      else if (part.type === "error") throw part.error;
      else if (part.type === "abort") throw new Error("Stopped");
    }
    messages.push(...(await result.responseMessages));
    return asked;
  }

  /** Answers a message. Changes that no one approved are dropped, also after an error. */
  return async function answer(text, abortSignal) {
    messages.push({ role: "user", content: text });
    const before = messages.length;
    try {
      let asked = await stream(abortSignal);
      while (asked.length > 0) {
        const { patch, error } = await reviewOf(turn);
        const approved = !error && (await onReview(patch));
        if (!approved) await turn.discard(["/**"]);
        const content = asked.map((approvalId) => ({
          type: "tool-approval-response",
          approvalId,
          approved,
          ...(approved ? {} : { reason: error ?? "The user dropped the changes." }),
        }));
        messages.push({ role: "tool", content });
        asked = await stream(abortSignal);
      }
    } catch (error) {
      // The model's API takes no calls without results.
      messages.length = before;
      throw error;
    } finally {
      await turn.discard(["/**"]);
    }
  };
}
