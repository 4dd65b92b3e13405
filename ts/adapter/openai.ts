// OpenAI: definitions and runners for Chat Completions and for Responses. No package of OpenAI is
// needed: definitions and results are plain objects. In Chat Completions a tool result is text, so
// images follow in a message with the role `user`. For OpenAI Agents: an editor and a shell.

import type {
  BackendOrFactory,
  ContentBlock,
  FileTools,
  FileToolsOptions,
  ToolCall,
  ToolResult,
} from "kitbag";
import { onlyKnown } from "../core/nearest.js";
import { TOOL_OPTIONS, toolsFor } from "./framework/options.js";

export { commandShell, patchEditor } from "./openai/agents.js";

/** A tool call in a message of Chat Completions. */
type ChatToolCall = {
  /** Identifies the call; the tool message of the result repeats it. */
  id: string;
  /** The kind of tool. Other kinds are not run. */
  type: "function";
  /** What is called. */
  function: {
    /** Name of the tool. */
    name: string;
    /** The arguments as JSON text. */
    arguments: string;
  };
};

/** A tool call in the output of Responses. */
type ResponsesCall = {
  /** The kind of item. Other kinds are not run. */
  type: "function_call";
  /** Identifies the call; the item of the result repeats it. */
  call_id: string;
  /** Name of the tool. */
  name: string;
  /** The arguments as JSON text. */
  arguments: string;
};

/** Definition of a tool for Chat Completions. */
type ChatToolDefinition = {
  /** The kind of tool. */
  type: "function";
  /** The function that the model can call. */
  function: {
    /** Name of the tool. */
    name: string;
    /** Description for the model. */
    description: string;
    /** JSON Schema of the arguments. */
    parameters: Record<string, unknown>;
  };
};

/** Definition of a tool for Responses. */
type ResponsesToolDefinition = {
  /** The kind of tool. */
  type: "function";
  /** Name of the tool. */
  name: string;
  /** Description for the model. */
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
  /** The arguments need not follow the schema to the letter: the tools check them. */
  strict: false;
};

/** A part of a user message of Chat Completions. */
type ChatContentPart =
  | {
      /** An image. */
      type: "image_url";
      /** Where the image is. */
      image_url: {
        /** A `data:` URL with the image. */
        url: string;
      };
    }
  | {
      /** A file, such as a PDF. */
      type: "file";
      /** The file. */
      file: {
        /** A name for the model; the path of the file is in the tool message. */
        filename: string;
        /** A `data:` URL with the file. */
        file_data: string;
      };
    }
  | {
      /** A text. */
      type: "text";
      /** The text, about content that the API cannot show. */
      text: string;
    };

/** A message of Chat Completions with results of tools. */
type ChatToolMessage =
  | {
      /** The result of one call. */
      role: "tool";
      /** The `id` of the call. */
      tool_call_id: string;
      /** Text of the result; on failure, what was wrong. */
      content: string;
    }
  | {
      /** Images and files that tools returned, because a tool message can only have text. */
      role: "user";
      /** The images and files. */
      content: ChatContentPart[];
    };

/** A part of a tool's result in Responses. */
type ResponsesOutputPart =
  | {
      /** A text. */
      type: "input_text";
      /** The text. */
      text: string;
    }
  | {
      /** An image. */
      type: "input_image";
      /** A `data:` URL with the image. */
      image_url: string;
      /** The resolution at which the model sees it. */
      detail: "auto";
    }
  | {
      /** A file, such as a PDF. */
      type: "input_file";
      /** A name for the model. */
      filename: string;
      /** A `data:` URL with the file. */
      file_data: string;
    };

/** An input item of Responses with the result of one call. */
type ResponsesToolOutput = {
  /** The kind of item. */
  type: "function_call_output";
  /** The `call_id` of the call. */
  call_id: string;
  /** The result: text, or parts if there is more than text. */
  output: string | ResponsesOutputPart[];
};

/** Information about the run of a message's tool calls. */
type OpenaiCall = ToolCall & {
  /**
   * The messages, or the input items, that the request had, for the option `unchanged`: pages in them
   * are not sent again. Default: every page is sent.
   */
  messages?: readonly unknown[];
};

/** An API of OpenAI: Responses, or Chat Completions. */
type Api = "responses" | "chat";

/** What the APIs take and give. */
interface Shapes {
  /** Of Responses. */
  responses: {
    /** A tool. */
    definition: ResponsesToolDefinition;
    /** The response of a model. */
    answer: {
      /** The items that the API returned. */
      output: readonly unknown[];
    };
    /** An item of the next request's input. */
    result: ResponsesToolOutput;
  };
  /** Of Chat Completions. */
  chat: {
    /** A tool. */
    definition: ChatToolDefinition;
    /** The message of a model. */
    answer: {
      /** The tool calls of the message, as the API returned them. */
      tool_calls?: readonly unknown[] | null;
    };
    /** A message of the next request. */
    result: ChatToolMessage;
  };
}

/** Options of `fileTools`. */
export interface OpenaiToolsOptions<For extends Api = Api> extends FileToolsOptions {
  /** The API: `"responses"` (the default), or `"chat"` for Chat Completions. */
  api?: For;
}

/** The result of `fileTools`: that of `createFileTools`, and what the API takes and gives. */
export interface OpenaiTools<For extends Api = "responses"> extends FileTools {
  /** Definitions for `tools` of a request. */
  definitions: Array<Shapes[For]["definition"]>;
  /** Whether this is the name of one of these tools. */
  handles(name: string): boolean;
  /**
   * Runs every tool call of a response, or of a message of Chat Completions, one after the other;
   * returns what to append to the input or the messages of the next request. Never rejects: a failure
   * is a result. A call of an unknown tool gets an error as its result, so call this only where all
   * calls are of these tools; `handles` tells.
   */
  run(answer: Shapes[For]["answer"], call?: OpenaiCall): Promise<Array<Shapes[For]["result"]>>;
}

type Media = Exclude<ContentBlock, { type: "text" }>;

const mediaOf = (result: ToolResult): Media[] =>
  result.content.filter((block): block is Media => block.type !== "text");

/** A name whose ending tells the type of a document. */
const nameOf = ({ mimeType }: Media): string =>
  mimeType === "application/pdf"
    ? "file.pdf"
    : `file.${mimeType === "application/vnd.ms-powerpoint" ? "ppt" : "pptx"}`;

const url = (block: Media) => `data:${block.mimeType};base64,${block.data}`;

/** What a message or an item with the result of a call looks like. */
interface Result {
  role?: unknown;
  type?: unknown;
  tool_call_id?: unknown;
  call_id?: unknown;
  content?: unknown;
  output?: unknown;
}

/** What the tools are told of a call: which earlier results were in the request. */
function about(given: OpenaiCall | undefined, callId: string): ToolCall {
  const { messages, ...call } = given ?? {};
  if (!messages) return { ...call, callId };
  const shown = (id: string) => {
    let text: string | undefined;
    for (const one of messages as readonly Result[]) {
      // What stands before a compaction, the model may no longer see.
      if (one.type === "compaction") text = undefined;
      const result = one.role === "tool" ? one.content : one.output;
      const its = one.role === "tool" ? one.tool_call_id : one.call_id;
      if (its === id && typeof result === "string") text = result;
    }
    return text;
  };
  return { shown, ...call, callId };
}

/** The parts of Chat Completions. */
function chat(files: FileTools): Omit<OpenaiTools<"chat">, keyof FileTools | "handles"> {
  return {
    definitions: files.tools.map(({ name, description, inputSchema }) => ({
      type: "function" as const,
      function: {
        name,
        description,
        parameters: inputSchema,
      },
    })),
    run: async (message, call) => {
      const results: ChatToolMessage[] = [];
      const seen: Media[] = [];
      for (const asked of (message.tool_calls ?? []) as ChatToolCall[]) {
        if (asked.type !== "function") continue;
        const { name, arguments: input } = asked.function;
        const result = await files.call(name, input, about(call, asked.id));
        results.push({ role: "tool", tool_call_id: asked.id, content: result.text });
        seen.push(...mediaOf(result));
      }
      if (seen.length === 0) return results;
      const shown = seen.map(
        (block): ChatContentPart =>
          block.type === "image"
            ? { type: "image_url", image_url: { url: url(block) } }
            : block.type === "file"
              ? { type: "file", file: { filename: nameOf(block), file_data: url(block) } }
              : { type: "text", text: `[${block.mimeType}: this type cannot be shown]` },
      );
      return [...results, { role: "user", content: shown }];
    },
  };
}

/** The parts of Responses. */
function responses(files: FileTools): Omit<OpenaiTools, keyof FileTools | "handles"> {
  return {
    definitions: files.tools.map(({ name, description, inputSchema }) => ({
      type: "function" as const,
      name,
      description,
      parameters: inputSchema,
      strict: false as const,
    })),
    run: async ({ output }, call) => {
      const items: ResponsesToolOutput[] = [];
      for (const asked of output as ResponsesCall[]) {
        if (asked.type !== "function_call") continue;
        const result = await files.call(asked.name, asked.arguments, about(call, asked.call_id));
        const media = mediaOf(result);
        const shown = media.map(
          (block): ResponsesOutputPart =>
            block.type === "image"
              ? { type: "input_image", image_url: url(block), detail: "auto" }
              : block.type === "file"
                ? { type: "input_file", filename: nameOf(block), file_data: url(block) }
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

/**
 * The file tools for OpenAI's APIs: definitions, a prompt, and `run` for the model's calls. It needs no
 * package of OpenAI.
 *
 * @param backend The backend, or a function that is called at each tool call and returns one.
 * @param options The API, and the options of `createFileTools`.
 * @example
 * const files = fileTools(new StateBackend());
 * const response = await client.responses.create({ model, input, tools: files.definitions });
 * input.push(...response.output, ...(await files.run(response)));
 */
export function fileTools<For extends Api = "responses">(
  backend: BackendOrFactory,
  options?: OpenaiToolsOptions<For>,
): OpenaiTools<For> {
  onlyKnown("fileTools", options, [...Object.keys(TOOL_OPTIONS), "api"]);
  const { api = "responses", ...others } = options ?? {};
  if (api !== "responses" && api !== "chat") {
    throw new TypeError('fileTools: option "api" must be "responses" or "chat"');
  }
  const files = toolsFor("fileTools", backend, options && (others as FileToolsOptions));
  const names = new Set<string>(files.tools.map((tool) => tool.name));
  const own = api === "chat" ? chat(files) : responses(files);
  const made: unknown = { ...files, handles: (name: string) => names.has(name), ...own };
  return made as OpenaiTools<For>;
}
