// The tools of a model, for any framework. What a tool does and says is implemented in WebAssembly;
// here are the options, the selection of the backend, and the plain objects that callers get. No
// tool call throws or rejects: an error is text for the model.

import chunk from "#chunk/tools";
import type { IgnoreRules } from "../backend/ignoring.js";
import { KeptPolicy, type PermissionRule, type Policy, withPolicy } from "../backend/policy.js";
import { NOT_BEGUN, received, settled } from "../core/call.js";
import { kindOf, messageOf, Options, refused, shown as shownText } from "../core/checks.js";
import { deprecated } from "../core/deprecated.js";
import { enter, FRAMES, glue, needStack } from "../core/instance.js";
import * as put from "../core/message.js";
import { instead } from "../core/nearest.js";
import type { Reply } from "../core/reply.js";
import { update } from "../core/results.js";
import type { AnyBackend } from "../foreign/adapt.js";
import { withHandle } from "../foreign/calls.js";
import { withRuntime } from "../graph/running.js";
import type { BackendRuntime, FileData, Failure as Refused } from "../types.js";
import { argumentsOf, putArguments } from "./input.js";
import { type ChangeToolName, type FileToolName, promptsOf, type ToolPrompts } from "./prompts.js";

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
      /** Type of the argument, such as `string`. */
      type: string;
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

const NAMES = [
  ...["ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep", "execute"],
  ...["move_file", "copy_file", "append_file"],
];

const collected = new FinalizationRegistry<number>((set) => {
  try {
    glue.tools_drop(set);
  } catch {
    // The whole instance is gone.
  }
});

/** Returns the backend; calls the function if it was given as one. */
export function resolveBackend(
  backend: BackendOrFactory,
  runtime?: unknown,
): AnyBackend | Promise<AnyBackend> {
  return typeof backend === "function"
    ? (backend as (runtime: unknown) => AnyBackend | Promise<AnyBackend>)(runtime)
    : backend;
}

/**
 * Creates the file tools over a backend, for any framework. `kitbag/langchain`, `kitbag/ai`,
 * `kitbag/openai`, `kitbag/anthropic` and `kitbag/mcp` have them in the form of a framework.
 *
 * @param backend The backend, or a function that is called at each tool call and returns one.
 * @example
 * const { tools, systemPrompt, call } = createFileTools(new StateBackend());
 * const { text, isError } = await call("read_file", { file_path: "/notes.txt" });
 */
export function createFileTools(backend: BackendOrFactory, options?: FileToolsOptions): FileTools {
  const of = new Options("createFileTools", options);
  const changes = of.checked(
    "changes",
    "changeTools() of kitbag/history",
    (value): value is ChangeTools => typeof (value as Partial<ChangeTools>).around === "function",
  );
  if (changes) return changes.around(backend, { ...options, changes: undefined }, createFileTools);
  const policy = of.object("policy") as Policy | undefined;
  const permissions = of.raw("permissions") as PermissionRule[] | undefined;
  const prompts = promptsOf(of);
  const unchanged = of.object("unchanged") as UnchangedReads | undefined;
  if (unchanged && typeof unchanged.answer !== "function") {
    of.refuse("unchanged", "unchangedReads() of kitbag/unchanged", unchanged);
  }
  if (permissions !== undefined && policy?.permissions !== undefined) {
    of.refuse("permissions", "left out where the policy has permissions", permissions);
  }
  const ignore = of.checked(
    "ignore",
    "ignoreFiles({ files, patterns }) of kitbag/ignore",
    (value): value is IgnoreRules => typeof (value as Partial<IgnoreRules>).around === "function",
  );
  const searched = (given: AnyBackend) => (ignore ? ignore.around(given) : given);
  const set = makeSet(of, options);
  const rules = permissions === undefined ? policy : { ...policy, permissions };
  const isFactory = typeof backend === "function";
  // A function may return a new backend for each call; the policy keeps counting across them.
  const kept = isFactory && rules !== undefined ? new KeptPolicy(rules) : undefined;
  const whole = (given: AnyBackend) => (rules === undefined ? given : withPolicy(given, rules));
  const fixed = isFactory ? undefined : whole(searched(backend as AnyBackend));
  const shell = isFactory
    ? (options?.tools !== "all" && options?.tools?.includes("execute")) || false
    : withHandle("createFileTools: backend", fixed, (handle) =>
        enter(() => glue.tools_shell(handle)),
      );
  const wrapped = new WeakMap<object, AnyBackend>();
  let before: AnyBackend | undefined;
  const current = async (call?: ToolCall): Promise<AnyBackend> => {
    if (fixed !== undefined) return fixed;
    const found = (await resolveBackend(backend, call?.runtime)) as AnyBackend & object;
    if (found === before && (backend as () => AnyBackend).length === 0) {
      deprecated(
        "A function without parameters that returns the same backend each time is deprecated as a backend. Pass the backend itself.",
      );
    }
    before = found;
    if (kept === undefined) return searched(found);
    let guard = wrapped.get(found);
    if (guard === undefined) {
      guard = kept.round(searched(found));
      wrapped.set(found, guard);
    }
    return guard;
  };
  const run = async (name: string, input: unknown, call?: ToolCall): Promise<ToolResult> => {
    try {
      const given = argumentsOf(input);
      const target = await current(call);
      const asked = () =>
        start<ToolResult>(
          target,
          () => {
            putArguments(given);
            put.putText(String(name));
            put.putText(call?.callId ?? "");
          },
          (handle, length) => glue.tools_call(set.id, handle, length),
          unpackResult,
          call,
        );
      const result = await withRuntime(call?.runtime, asked);
      return name === "read_file" && unchanged ? unchanged.answer(given, result, call) : result;
    } catch (error) {
      return failure(`Error: the tool could not run: ${messageOf(error)}`);
    }
  };
  const moved = async (
    text: string,
    message: boolean,
    id: string,
    tool: string,
    call?: OffloadCall,
  ) => {
    const target = await current(call);
    const asked = () =>
      start<Moved>(
        target,
        () => {
          put.putLongText(text);
          put.putBool(message);
          put.putText(id);
          put.putText(tool);
        },
        (handle, length) => glue.tools_offload(set.id, handle, length),
        unpackMoved,
        call,
      );
    const answer = await withRuntime(call?.runtime, asked);
    if (answer.filesUpdate === undefined) return answer;
    // Nobody would add the file to the state, so the text stays: too long is better than lost.
    if (!call?.onFilesUpdate) return {};
    call.onFilesUpdate(answer.filesUpdate);
    return answer;
  };
  const shrunk = async (
    text: string,
    message: boolean,
    id: string,
    tool: string,
    call?: OffloadCall,
  ) => {
    try {
      return (await moved(text, message, id, tool, call)).text ?? text;
    } catch {
      return text;
    }
  };
  const described = describe(set.id, shell);
  if (prompts) retell(described, prompts, options);
  return {
    systemPrompt: described.systemPrompt,
    tools: described.tools.map((about) => {
      const tool: FileTool = {
        ...about,
        execute: async (input, call) => shown(await run(about.name, input, call)),
      };
      return about.name === "read_file" && unchanged ? unchanged.describe(tool) : tool;
    }),
    backend: current,
    call: run,
    offload: async <T>(result: T, call: OffloadCall & { toolName?: string }) => {
      const tool = call.toolName ?? "";
      const id = call.callId ?? "";
      if (Array.isArray(result))
        return offloadBlocks(result, (text) => shrunk(text, false, id, tool, call)) as T;
      const text = typeof result === "string" ? result : asText(result);
      if (text === undefined) return result;
      const short = await shrunk(text, false, id, tool, call);
      return short === text ? result : short;
    },
    offloadMessage: (text, call) =>
      shrunk(text, true, call?.messageId ?? call?.callId ?? "", "", call),
  };
}

/** Refuses a name that no tool has, and names the tool that is probably meant. */
function knownTool(of: Options, option: string, name: unknown): void {
  if (NAMES.includes(name as string)) return;
  const text = typeof name === "string" ? name : "";
  throw new TypeError(
    `${of.of}: option "${option}" names ${typeof name === "string" ? shownText(name) : kindOf(name)}, which is no tool; ${instead(text, NAMES, "tools")}`,
  );
}

function makeSet(of: Options, options: FileToolsOptions | undefined): { id: number } {
  const asked = of.raw("tools");
  if (typeof asked === "string" && NAMES.some((name) => name === asked)) {
    throw new TypeError(
      `${of.of}: option "tools" must be "all" or an array of ${NAMES.join(", ")}, not "${asked}"`,
    );
  }
  const names =
    asked === "all"
      ? NAMES
      : of.checked(
          "tools",
          `"all" or an array of ${NAMES.join(", ")}`,
          (value): value is string[] => Array.isArray(value),
        );
  for (const name of names ?? []) knownTool(of, "tools", name);
  const example = '{ read_file: "Reads a page of a file." }';
  const descriptions = Object.entries(of.record("customToolDescriptions", example) ?? {});
  for (const [name, text] of descriptions) {
    knownTool(of, "customToolDescriptions", name);
    if (typeof text !== "string") of.refuse("customToolDescriptions", "texts by tool", text);
  }
  const limit = (
    name: "toolTokenLimitBeforeEvict" | "humanMessageTokenLimitBeforeEvict",
    usual: number,
  ) => {
    const given = of.amount(name);
    return options?.[name] === null ? -1 : (given ?? usual);
  };
  const read = of.boolean("requireReadBeforeEdit", true);
  const results = limit("toolTokenLimitBeforeEvict", 20_000);
  const messages = limit("humanMessageTokenLimitBeforeEvict", 50_000);
  const timeout = of.amount("maxExecuteTimeout") ?? 3_600;
  const prompt = of.text("systemPrompt");
  of.done();
  const bad = refused(() => {
    put.begin();
    put.putBool(read);
    for (const count of [results, messages, timeout]) put.putF64(count);
    put.putBool(prompt !== undefined);
    if (prompt !== undefined) put.putLongText(prompt);
    put.putBool(names !== undefined);
    if (names) {
      put.putU32(names.length);
      for (const name of names) put.putText(name);
    }
    put.putU32(descriptions.length);
    for (const [name, text] of descriptions) {
      put.putText(name);
      put.putLongText(text as string);
    }
  });
  if (bad) throw new TypeError(`createFileTools: ${bad.error}`);
  const length = put.finish();
  put.sent();
  chunk.load();
  enter(() => glue.tools_new(length));
  const made = received((reply) => ({ id: reply.u32() }));
  if (!("id" in made)) throw new TypeError(`createFileTools: ${(made as Refused).error}`);
  collected.register(made, made.id);
  return made;
}

function describe(set: number, shell: boolean) {
  enter(() => glue.tools_describe(set, shell));
  const answer = received((reply) => {
    const systemPrompt = reply.text();
    const tools = Array.from({ length: reply.u32() }, () => ({
      name: reply.text() as FileToolName,
      description: reply.text(),
      inputSchema: JSON.parse(reply.text()) as InputSchema,
    }));
    return { systemPrompt, tools };
  });
  if (!("tools" in answer)) throw new Error((answer as Refused).error);
  return answer;
}

/** Replaces the short texts, except for those that the caller has set. */
function retell(
  described: ReturnType<typeof describe>,
  prompts: ToolPrompts,
  options: FileToolsOptions | undefined,
): void {
  const names = described.tools.map(({ name }) => name);
  described.systemPrompt = options?.systemPrompt ?? prompts.system(names);
  for (const tool of described.tools) {
    tool.description =
      options?.customToolDescriptions?.[tool.name] ?? prompts.describe(tool.name, names);
  }
}

/** Starts an operation on a backend; throws if it is refused before it begins. */
async function start<T extends object>(
  backend: AnyBackend,
  write: () => void,
  go: (handle: number, length: number) => number,
  unpack: (reply: Reply) => T,
  call?: ToolCall,
): Promise<T> {
  const answer = await withHandle("backend", backend, (handle) => {
    if (call?.signal?.aborted) throw new Error(NOT_BEGUN.error);
    const bad = refused(() => {
      needStack(FRAMES.deep);
      put.begin();
      write();
    });
    if (bad) throw new Error(bad.error);
    const length = put.finish();
    put.sent();
    return settled(
      () => go(handle, length),
      unpack,
      call?.signal ? { signal: call.signal } : undefined,
    );
  });
  if ("error" in answer && "code" in answer) throw new Error((answer as Refused).error);
  return answer as T;
}

function unpackResult(reply: Reply): ToolResult {
  const isError = reply.bool();
  const content = Array.from({ length: reply.u32() }, (): ContentBlock => {
    const type = reply.text();
    if (type === "text") return { type, text: reply.bodyText() };
    const mimeType = reply.text();
    return { type: type as "image", mimeType, data: reply.bodyText() };
  });
  const result: ToolResult = { content, text: textOf(content), isError };
  update(reply, result);
  return result;
}

/** The text that replaces a large one, if it was too large. */
type Moved = Pick<ToolResult, "filesUpdate"> & { text?: string };

function unpackMoved(reply: Reply): Moved {
  if (!reply.bool()) return {};
  const moved: Moved = { text: reply.bodyText() };
  update(reply, moved);
  return moved;
}

function failure(text: string): ToolResult {
  return { content: [{ type: "text", text }], text, isError: true };
}

function textOf(content: ContentBlock[]): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** A result in the form that frameworks take: text if it is only text. */
export function shown(result: ToolResult): ToolOutput {
  return result.content.every((block) => block.type === "text") ? result.text : result.content;
}

function asText(result: unknown): string | undefined {
  if (typeof result !== "object" || result === null) return undefined;
  try {
    return JSON.stringify(result, undefined, 2);
  } catch {
    return undefined;
  }
}

/** Joins all text blocks into one shorter text if they are too large; other blocks stay. */
async function offloadBlocks(
  blocks: unknown[],
  shrink: (text: string) => Promise<string>,
): Promise<unknown[]> {
  const text = (block: unknown): string | undefined => {
    const it = block as { type?: unknown; text?: unknown } | null;
    return it?.type === "text" && typeof it.text === "string" ? it.text : undefined;
  };
  const texts = blocks.map(text);
  if (!texts.some((one) => one !== undefined)) {
    const whole = asText(blocks) ?? "";
    const media = blocks.some(
      (block) => typeof (block as { type?: unknown } | null)?.type === "string",
    );
    const short = media ? whole : await shrink(whole);
    return short === whole ? blocks : [{ type: "text", text: short }];
  }
  const whole = texts.filter((one) => one !== undefined).join("\n");
  const short = await shrink(whole);
  if (short === whole) return blocks;
  return [{ type: "text", text: short }, ...blocks.filter((_, at) => texts[at] === undefined)];
}
