// The Vercel AI SDK (`ai` 5 and later): a tool set for `generateText`, `streamText` and agents, and the
// sandbox session of version 7.

import { jsonSchema, type ToolSet, tool } from "ai";
import type {
  BackendOrFactory,
  ContentBlock,
  FileTools,
  FileToolsOptions,
  ToolOutput,
} from "kitbag";
import { toolsFor } from "./framework/options.js";

export { type SandboxSessionOptions, sandboxSession } from "./ai/sandbox.js";

type Shown = { type: "text"; text: string } | { type: "media"; data: string; mediaType: string };

function shown(block: ContentBlock): Shown {
  return block.type === "text"
    ? { type: "text", text: block.text }
    : { type: "media", data: block.data, mediaType: block.mimeType };
}

/** What the SDK tells a tool of its call. */
interface AiCall {
  toolCallId: string;
  messages?: unknown;
  abortSignal?: AbortSignal;
}

interface Part {
  type?: unknown;
  toolCallId?: unknown;
  output?: { type?: unknown; value?: unknown };
}

/** The text of an earlier result in the messages that the model has received. */
function textOf(messages: unknown, id: string): string | undefined {
  for (const { content } of Array.isArray(messages) ? messages : []) {
    for (const part of (Array.isArray(content) ? content : []) as Part[]) {
      if (part.type !== "tool-result" || part.toolCallId !== id) continue;
      return part.output?.type === "text" ? String(part.output.value) : undefined;
    }
  }
  return undefined;
}

/** In `ai` 6 the argument is `{ output }`, in `ai` 5 it is the output itself. */
function toModelOutput(given: unknown) {
  const wrapped =
    typeof given === "object" && given !== null && !Array.isArray(given) && "output" in given;
  const output = (wrapped ? (given as { output: unknown }).output : given) as ToolOutput;
  if (typeof output === "string") return { type: "text" as const, value: output };
  return { type: "content" as const, value: output.map(shown) };
}

/**
 * The result of `fileTools`: that of `createFileTools`, with the tools as the AI SDK takes them. The SDK
 * runs them itself, so there is no `run`.
 */
export interface AiTools extends Omit<FileTools, "tools"> {
  /** The tools by name, for the option `tools` of `generateText`, `streamText` and agents. */
  tools: ToolSet;
}

/**
 * The file tools for the Vercel AI SDK (`ai` 5 or later). A tool never throws: what failed is a text
 * for the model.
 *
 * @param backend The backend, or a function that is called at each tool call and returns one. The
 *   function receives the SDK's options of the call.
 * @param options Which tools, and rules; the same as of `createFileTools`.
 * @example
 * const { tools, systemPrompt } = fileTools(new StateBackend());
 * const { text } = await generateText({ model, system: systemPrompt, tools, prompt });
 */
export function fileTools(backend: BackendOrFactory, options?: FileToolsOptions): AiTools {
  const files = toolsFor("fileTools", backend, options);
  const entries = files.tools.map(({ name, description, inputSchema, needsApproval, execute }) => {
    const made = tool({
      description,
      inputSchema: jsonSchema<Record<string, unknown>>(inputSchema),
      execute: (input: unknown, call: AiCall) =>
        execute(input, {
          callId: call.toolCallId,
          runtime: call,
          shown: (id) => textOf(call.messages, id),
          ...(call.abortSignal ? { signal: call.abortSignal } : {}),
        }),
      toModelOutput,
      ...(needsApproval ? { needsApproval } : {}),
    });
    return [name, made] as const;
  });
  return { ...files, tools: Object.fromEntries(entries) as ToolSet };
}
