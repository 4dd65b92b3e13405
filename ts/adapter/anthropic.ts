// Anthropic's Messages API: definitions and a runner for the file tools, and handlers for the
// memory and text editor tools that are built into Claude, over any backend. No package of
// Anthropic is needed: definitions and results are plain objects.

import type {
  BackendOrFactory,
  ContentBlock,
  FileTool,
  FileTools,
  FileToolsOptions,
  ToolCall,
} from "kitbag";
import { toolsFor } from "./framework/options.js";

export { type MemoryToolOptions, memoryTool, textEditorTool } from "./anthropic/built-in.js";
export { agentToolset } from "./anthropic/toolset.js";

/** A block of a tool result. */
type AnthropicBlock =
  | {
      /** A text. */
      type: "text";
      /** The text; never empty, because the API refuses that. */
      text: string;
    }
  | {
      /** An image. */
      type: "image";
      /** The image itself. */
      source: {
        /** How `data` is encoded. */
        type: "base64";
        /** MIME type of the image. */
        media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp";
        /** The image in base64. */
        data: string;
      };
    }
  | {
      /** A PDF. */
      type: "document";
      /** The PDF itself. */
      source: {
        /** How `data` is encoded. */
        type: "base64";
        /** MIME type of a PDF. */
        media_type: "application/pdf";
        /** The PDF in base64. */
        data: string;
      };
    };

/** The result of one tool use, for the next message to the model. */
type AnthropicToolResult = {
  /** The kind of block. */
  type: "tool_result";
  /** The `id` of the tool use. */
  tool_use_id: string;
  /** The result. */
  content: AnthropicBlock[];
  /** Whether the result reports a failure. */
  is_error: boolean;
};

/** A tool use in a message of the model. */
type AnthropicToolUse = {
  /** The kind of block. */
  type: "tool_use";
  /** Identifies the tool use; the result repeats it. */
  id: string;
  /** Name of the tool. */
  name: string;
  /** The arguments, as an object. */
  input: unknown;
};

/** Definition of a tool for the Messages API. */
type AnthropicToolDefinition = {
  /** Name of the tool. */
  name: string;
  /** Description for the model. */
  description: string;
  /** JSON Schema of the arguments. */
  input_schema: FileTool["inputSchema"];
};

/** Information about the run of a message's tool uses. */
type AnthropicCall = ToolCall & {
  /**
   * The messages that the request had, for the option `unchanged`: pages in them are not sent again.
   * Default: every page is sent.
   */
  messages?: readonly unknown[];
};

/** The result of `fileTools`: that of `createFileTools`, and what the Messages API takes and gives. */
export interface AnthropicTools extends FileTools {
  /** Definitions for `tools` of the Messages API. */
  definitions: AnthropicToolDefinition[];
  /** Whether this is the name of one of these tools. */
  handles(name: string): boolean;
  /**
   * Runs every tool use of a message, one after the other; returns the content of the next message
   * of the user. Never rejects: a failure is a result. A use of an unknown tool gets an error as its
   * result; `handles` tells which are known.
   */
  run(
    message: {
      /** The blocks of the model's message, as the API returned them. */
      content: readonly unknown[];
    },
    call?: AnthropicCall,
  ): Promise<AnthropicToolResult[]>;
}

const PICTURES = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/** Converts blocks to those of the Messages API; an unsupported type becomes a text about it. */
export function toAnthropicBlocks(content: ContentBlock[]): AnthropicBlock[] {
  return content.map((block): AnthropicBlock => {
    if (block.type === "text") return { type: "text", text: block.text || "[empty]" };
    const source = { type: "base64" as const, data: block.data };
    if (PICTURES.includes(block.mimeType)) {
      return { type: "image", source: { ...source, media_type: block.mimeType as "image/png" } };
    }
    if (block.mimeType === "application/pdf") {
      return { type: "document", source: { ...source, media_type: "application/pdf" } };
    }
    return { type: "text", text: `[${block.mimeType}: the Messages API cannot show this type]` };
  });
}

/** The text of an earlier result in the messages of a request, behind their last compaction. */
function textOf(messages: readonly unknown[], id: string): string | undefined {
  let text: string | undefined;
  for (const message of messages) {
    const { content } = message as { content?: unknown };
    for (const block of (Array.isArray(content) ? content : []) as Array<Record<string, unknown>>) {
      if (block.type === "compaction") text = undefined;
      if (block.type !== "tool_result" || block.tool_use_id !== id) continue;
      const parts = block.content as AnthropicBlock[];
      text = parts.length === 1 && parts[0]?.type === "text" ? parts[0].text : undefined;
    }
  }
  return text;
}

/** Whether the API itself has left out something of the request before the model saw it. */
function edited(message: object): boolean {
  const { context_management: edits } = message as {
    context_management?: { applied_edits?: readonly unknown[] } | null;
  };
  return (edits?.applied_edits?.length ?? 0) > 0;
}

/**
 * The file tools for Anthropic's Messages API: definitions for `tools`, a prompt for `system`, and
 * runners for the model's tool uses. It needs no package of Anthropic.
 *
 * @param backend The backend, or a function that is called at each tool call and returns one.
 * @param options Which tools, and rules; the same as of `createFileTools`.
 * @example
 * const files = fileTools(new StateBackend());
 * const message = await client.messages.create({
 *   model, max_tokens: 1024, messages, system: files.systemPrompt, tools: files.definitions,
 * });
 * const content = await files.run(message);
 */
export function fileTools(backend: BackendOrFactory, options?: FileToolsOptions): AnthropicTools {
  const files = toolsFor("fileTools", backend, options);
  const names = new Set<string>(files.tools.map((tool) => tool.name));
  const one = async (
    use: AnthropicToolUse,
    given?: AnthropicCall,
  ): Promise<AnthropicToolResult> => {
    const { messages, ...call } = given ?? {};
    const shown = messages && ((id: string) => textOf(messages, id));
    const about = { ...(shown && { shown }), ...call, callId: use.id };
    const result = await files.call(use.name, use.input, about);
    return {
      type: "tool_result",
      tool_use_id: use.id,
      content: toAnthropicBlocks(result.content),
      is_error: result.isError,
    };
  };
  return {
    ...files,
    definitions: files.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: inputSchema,
    })),
    handles: (name: string) => names.has(name),
    run: async (message, call) => {
      const results: AnthropicToolResult[] = [];
      const { messages, ...rest } = call ?? {};
      const about = messages && !edited(message) ? { ...rest, messages } : rest;
      for (const block of message.content as Array<{ type?: unknown }>) {
        if (block?.type === "tool_use") results.push(await one(block as AnthropicToolUse, about));
      }
      return results;
    },
  };
}
