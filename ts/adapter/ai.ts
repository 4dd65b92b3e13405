// The Vercel AI SDK (`ai` 5 and later): a tool set for `generateText`, `streamText` and agents.

import { jsonSchema, type ToolSet, tool } from "ai";
import {
  type BackendOrFactory,
  type ContentBlock,
  createFileTools,
  type FileToolsOptions,
  type ToolOutput,
} from "kitbag";

type Shown = { type: "text"; text: string } | { type: "media"; data: string; mediaType: string };

function shown(block: ContentBlock): Shown {
  return block.type === "text"
    ? { type: "text", text: block.text }
    : { type: "media", data: block.data, mediaType: block.mimeType };
}

/** In `ai` 6 the argument is `{ output }`, in `ai` 5 it is the output itself. */
function toModelOutput(given: unknown) {
  const wrapped =
    typeof given === "object" && given !== null && !Array.isArray(given) && "output" in given;
  const output = (wrapped ? (given as { output: unknown }).output : given) as ToolOutput;
  if (typeof output === "string") return { type: "text" as const, value: output };
  return { type: "content" as const, value: output.map(shown) };
}

/** The file tools for `generateText({ system: systemPrompt, tools })` of the Vercel AI SDK. */
export function aiTools(backend: BackendOrFactory, options?: FileToolsOptions) {
  const files = createFileTools(backend, options);
  const entries = files.tools.map(({ name, description, inputSchema, execute }) => {
    const made = tool({
      description,
      inputSchema: jsonSchema<Record<string, unknown>>(inputSchema as never),
      execute: (input: unknown, call: { toolCallId: string; abortSignal?: AbortSignal }) =>
        execute(input, {
          callId: call.toolCallId,
          runtime: call,
          ...(call.abortSignal ? { signal: call.abortSignal } : {}),
        }),
      toModelOutput,
    } as never);
    return [name, made] as const;
  });
  return { ...files, tools: Object.fromEntries(entries) as ToolSet };
}
