// Two changes of one file in one step. They are made in turn, and the later one sees the earlier one; but if the
// later one was interrupted, the earlier one has ended in a run of which it sees nothing.

import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { visibleName } from "kitbag";
import { canonical } from "../../core/paths.js";
import { configs } from "../../graph/running.js";

interface Request {
  toolCall: { id?: string; name: string; args: unknown };
  state?: unknown;
  runtime?: unknown;
}

/** The calls of a message that were begun. A run that goes on after an interrupt has another message. */
const begun = new WeakMap<object, Set<string>>();

/** Whether the step goes on after an interrupt. */
function isResumed(runtime: unknown): boolean {
  return configs(runtime).some(({ configurable }) => {
    const scratchpad = (configurable as Record<string, unknown> | undefined)?.__pregel_scratchpad;
    const { resume, nullResume } = (scratchpad ?? {}) as {
      resume?: unknown[];
      nullResume?: unknown;
    };
    return (resume?.length ?? 0) > 0 || nullResume !== undefined;
  });
}

/** The file that a call is about, in the form that all names of it have. */
function fileOf(args: unknown): string | undefined {
  const path = (args as { file_path?: unknown } | null)?.file_path;
  return typeof path === "string" ? canonical(path) : undefined;
}

/**
 * Notes that a call begins. Returns what a call is refused with that was interrupted, if another one of its
 * step had changed its file before.
 */
export function changedBefore(
  { toolCall, state, runtime }: Request,
  changes: (tool: string) => boolean,
): string | undefined {
  const messages = ((state as { messages?: unknown } | undefined)?.messages ?? []) as BaseMessage[];
  const { id } = toolCall;
  if (id === undefined || !Array.isArray(messages)) return undefined;
  const asks = (one: BaseMessage) =>
    AIMessage.isInstance(one) && (one.tool_calls ?? []).some((call) => call.id === id);
  const at = messages.findLastIndex(asks);
  const asked = messages[at];
  if (!AIMessage.isInstance(asked)) return undefined;
  const known = begun.get(asked) ?? new Set();
  begun.set(asked, known.add(id));
  const file = fileOf(toolCall.args);
  if (file === undefined || !changes(toolCall.name) || !isResumed(runtime)) return undefined;
  const answered = new Set(
    messages.slice(at).flatMap((one) => (ToolMessage.isInstance(one) ? one.tool_call_id : [])),
  );
  const calls = asked.tool_calls ?? [];
  const earlier = calls.slice(
    0,
    calls.findIndex((call) => call.id === id),
  );
  const other = earlier.find(
    (call) =>
      changes(call.name) &&
      fileOf(call.args) === file &&
      !known.has(call.id ?? "") &&
      !answered.has(call.id ?? ""),
  );
  return (
    other &&
    `Error: ${toolCall.name} was interrupted, and ${other.name} of the same step has changed '${visibleName(file)}' ` +
      "since; nothing was changed by this call. Read the file, and call again if it is still needed"
  );
}
