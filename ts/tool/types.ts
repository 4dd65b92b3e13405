// What callers of the tools get and give: the tools, their results, and their options.

import type { IgnoreRules } from "../backend/ignoring.js";
import type { PermissionRule, Policy } from "../backend/policy.js";
import type { AnyBackend } from "../foreign/adapt.js";
import type { BackendRuntime, FileData } from "../types.js";
import type { ChangeToolName, FileToolName, ToolPrompts } from "./prompts.js";

export type { ChangeToolName, FileToolName, ToolPrompts };

/** A part of a result: text, or base64 data that a model can see or hear. */
export type ContentBlock =
  | {
      /** A text. */
      type: "text";
      /** The text. */
      text: string;
    }
  | {
      /** What kind of content it is. */
      type: "image" | "audio" | "video" | "file";
      /** MIME type, such as `image/png`. */
      mimeType: string;
      /** The content in base64. */
      data: string;
    };

/** Result of a tool: text, or blocks if there is more than text. */
export type ToolOutput = string | ContentBlock[];

/** Complete result of a tool call. */
export interface ToolResult {
  /** The parts of the result. */
  content: ContentBlock[];
  /** The text of all text blocks. */
  text: string;
  /** Whether the result reports a failure. */
  isError: boolean;
  /** Changes to apply to the caller's state, from a backend over such a state. Null deletes. */
  filesUpdate?: Record<string, FileData | null>;
}

/** Information about one tool call. */
export interface ToolCall {
  /** The call's id from the model. A large result is saved under this name. */
  callId?: string;
  /** Passed to the function if the backend is one. */
  runtime?: unknown;
  /** Cancels the call when it aborts. */
  signal?: AbortSignal;
  /**
   * Returns the text of an earlier result, by its call's id, if the model still sees it. For the option
   * `unchanged`; the adapters that know it set it.
   */
  shown?: (callId: string) => string | undefined;
}

/** Information about a result that may be too large. */
export interface OffloadCall extends ToolCall {
  /** Called with the saved file, if the backend is over a caller's state. */
  onFilesUpdate?: (update: Record<string, FileData | null>) => void;
}

/** JSON Schema of a tool's input. */
type InputSchema = {
  /** An input is an object. */
  type: "object";
  /** The arguments by name. */
  properties: Record<
    string,
    {
      /** Type of the argument. */
      type: "string" | "integer" | "boolean";
      /** Description for the model. */
      description?: string;
      /** The only values that are allowed. */
      enum?: string[];
    }
  >;
  /** Names of the arguments that must be given. */
  required?: string[];
  /** Other keywords of JSON Schema; the types of the Messages API require that there may be some. */
  [keyword: string]: unknown;
};

/** One tool. */
export interface FileTool {
  /** Name of the tool. */
  name: FileToolName | ChangeToolName;
  /** Name for people. */
  title: string;
  /**
   * What a call can do: nothing but read; add to the files; replace or remove what they had; or run
   * commands, which can do anything. `write_file` adds, and replaces where the backend's `write` does,
   * or where the backend is a function.
   */
  effect: "reads" | "changes" | "destroys" | "runs";
  /** Description for the model. */
  description: string;
  /** JSON Schema of the input. */
  inputSchema: InputSchema;
  /** Whether a person must approve a call before the tool runs; frameworks that can ask do. */
  needsApproval?: boolean;
  /** Runs the tool. `input` is what the model sent, as an object or as JSON text. Never rejects. */
  execute(input: unknown, call?: ToolCall): Promise<ToolOutput>;
}

/** Answers repeated reads of unchanged pages with one line; made by `unchangedReads`. */
export interface UnchangedReads {
  /** Adds the argument `force` to `read_file`. */
  describe(tool: FileTool): FileTool;
  /** Returns the line instead of the result of `read_file`, or the result. */
  answer(given: unknown, result: ToolResult, call: ToolCall | undefined): ToolResult;
}

/** Adds the tools `diff` and `undo`; made by `changeTools`. */
export interface ChangeTools {
  /** Returns the tools over a backend, with these two. `create` is `createFileTools`. */
  around(
    backend: BackendOrFactory,
    options: FileToolsOptions,
    create: (backend: BackendOrFactory, options: FileToolsOptions) => FileTools,
  ): FileTools;
}

/** A backend, or a function that returns one and is called at each tool call. */
export type BackendOrFactory<R = BackendRuntime> =
  | AnyBackend
  | ((runtime: R) => AnyBackend | Promise<AnyBackend>);

/** Options of `createFileTools`. */
export interface FileToolsOptions {
  /**
   * Offer only these tools, or `"all"`. Default: all, `delete` among them, but not `move_file`,
   * `copy_file` and `append_file`, and `execute` only if the backend can run commands. If the backend
   * is a function, `execute` is offered only if it is named here.
   */
  tools?: readonly FileToolName[] | "all";
  /**
   * The texts about the tools that a model reads: `"short"` (the default), `"guided"` with advice and
   * examples, at several times the tokens, or texts of your own. In a page `"guided"` needs
   * `import "kitbag/guided"`, whose `guidedPrompts` can be passed as well.
   */
  prompts?: "short" | "guided" | ToolPrompts;
  /** Descriptions that replace those of `prompts`, by tool. */
  customToolDescriptions?: Partial<Record<FileToolName, string>>;
  /** Replaces the system prompt of `prompts`. */
  systemPrompt?: string;
  /** Rules about reading and writing paths, as in `withPolicy`. Default: none. */
  permissions?: PermissionRule[];
  /** A policy around the backend, as in `withPolicy`. Default: none. */
  policy?: Policy;
  /** Refuse to edit or overwrite a file that was not read, or changed since. Default true. */
  requireReadBeforeEdit?: boolean;
  /** Save results over this many tokens (4 characters) in a file. Default 20,000; null: never. */
  toolTokenLimitBeforeEvict?: number | null;
  /** The same for user messages. Default 50,000 tokens; null: never. */
  humanMessageTokenLimitBeforeEvict?: number | null;
  /**
   * Answer a page that the model still sees, with the same bytes, with one line: `unchangedReads()` of
   * `kitbag/unchanged`. Default: every page is sent.
   */
  unchanged?: UnchangedReads;
  /**
   * Leave out of `glob` and `grep` what ignore files name: `ignoreFiles({ files })` of `kitbag/ignore`.
   * The tools work as over `withIgnore(backend, { files })`. Default: nothing is ignored.
   */
  ignore?: IgnoreRules;
  /**
   * Add the tools `diff` and `undo`, and let answers name the change: `changeTools()` of
   * `kitbag/history`. The backend must be a turn or a history. Default: there are no such tools.
   */
  changes?: ChangeTools;
  /** Longest time limit that `execute` accepts, in seconds. Default 3,600. */
  maxExecuteTimeout?: number;
}

/** The tools over a backend; the result of `createFileTools`. */
export interface FileTools {
  /** The tools. */
  tools: FileTool[];
  /** What a model should know about the tools as a whole. */
  systemPrompt: string;
  /** Returns the backend that the tools use for a call, including the policy. */
  backend(call?: ToolCall): Promise<AnyBackend>;
  /** Runs a tool by name. An unknown name gives an error result. */
  call(name: string, input: unknown, call?: ToolCall): Promise<ToolResult>;
  /** Saves the result of any tool in a file if it is too large; returns what to show instead. */
  offload<T>(
    result: T,
    call: OffloadCall & {
      /** Name of the tool, for the text that replaces the result. */
      toolName?: string;
    },
  ): Promise<T | ToolOutput>;
  /** The same for a user's message. */
  offloadMessage(
    text: string,
    call?: OffloadCall & {
      /** Id of the message; the file is named after it. */
      messageId?: string;
    },
  ): Promise<string>;
}
