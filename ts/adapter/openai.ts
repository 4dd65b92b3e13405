// OpenAI: definitions and runners for Chat Completions and for Responses. No package of OpenAI is
// needed: definitions and results are plain objects. In Chat Completions a tool result is text, so
// images follow in a message with the role `user`.

import {
  type BackendOrFactory,
  type ContentBlock,
  createFileTools,
  type FileToolsOptions,
  type ToolCall,
  type ToolResult,
} from "kitbag";

/** A tool call in a message of Chat Completions. */
export interface ChatToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** A tool call in the output of Responses. */
export interface ResponsesCall {
  type: "function_call";
  call_id: string;
  name: string;
  arguments: string;
}

type Media = Exclude<ContentBlock, { type: "text" }>;

const mediaOf = (result: ToolResult): Media[] =>
  result.content.filter((block): block is Media => block.type !== "text");

const url = (block: Media) => `data:${block.mimeType};base64,${block.data}`;

/** Definitions, prompt and runners for OpenAI's APIs. */
export function openaiTools(backend: BackendOrFactory, options?: FileToolsOptions) {
  const files = createFileTools(backend, options);
  const names = new Set<string>(files.tools.map((tool) => tool.name));
  return {
    ...files,
    /** Whether this is the name of one of these tools. */
    handles: (name: string) => names.has(name),
    /** Definitions for `tools` of Chat Completions. */
    chatTools: files.tools.map(({ name, description, inputSchema }) => ({
      type: "function" as const,
      function: {
        name,
        description,
        parameters: inputSchema as unknown as Record<string, unknown>,
      },
    })),
    /** Definitions for `tools` of Responses. */
    responsesTools: files.tools.map(({ name, description, inputSchema }) => ({
      type: "function" as const,
      name,
      description,
      parameters: inputSchema as unknown as Record<string, unknown>,
      strict: false as const,
    })),
    /** Runs the tool calls of an assistant's message; returns the messages to append. */
    runChat: async (message: { tool_calls?: readonly unknown[] | null }, call?: ToolCall) => {
      const results: Array<{ role: "tool"; tool_call_id: string; content: string }> = [];
      const seen: Media[] = [];
      for (const asked of (message.tool_calls ?? []) as ChatToolCall[]) {
        if (asked.type !== "function") continue;
        const { name, arguments: input } = asked.function;
        const result = await files.call(name, input, { ...call, callId: asked.id });
        results.push({ role: "tool", tool_call_id: asked.id, content: result.text });
        seen.push(...mediaOf(result));
      }
      if (seen.length === 0) return results;
      const shown = seen.map((block) =>
        block.type === "image"
          ? { type: "image_url" as const, image_url: { url: url(block) } }
          : block.type === "file"
            ? { type: "file" as const, file: { filename: "file.pdf", file_data: url(block) } }
            : { type: "text" as const, text: `[${block.mimeType}: this type cannot be shown]` },
      );
      return [...results, { role: "user" as const, content: shown }];
    },
    /** Runs the tool calls of an output; returns the input items to append. */
    runResponses: async (output: readonly unknown[], call?: ToolCall) => {
      const items: Array<{
        type: "function_call_output";
        call_id: string;
        output: string | object[];
      }> = [];
      for (const asked of output as ResponsesCall[]) {
        if (asked.type !== "function_call") continue;
        const result = await files.call(asked.name, asked.arguments, {
          ...call,
          callId: asked.call_id,
        });
        const media = mediaOf(result);
        const shown = media.map((block) =>
          block.type === "image"
            ? { type: "input_image", image_url: url(block), detail: "auto" }
            : block.type === "file"
              ? { type: "input_file", filename: "file.pdf", file_data: url(block) }
              : { type: "input_text", text: `[${block.mimeType}: this type cannot be shown]` },
        );
        items.push({
          type: "function_call_output",
          call_id: asked.call_id,
          output:
            media.length === 0
              ? result.text
              : [{ type: "input_text", text: result.text }, ...shown],
        });
      }
      return items;
    },
  };
}
