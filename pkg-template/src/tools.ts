// The tools that a model is given, whatever framework runs it. What a tool does and says stands
// in wasm; here are its options, the resolving of backends, and plain objects to pass on. No
// call of a tool throws or rejects: what was wrong is text for the model.

import chunk from "#chunk/tools";
import type { AnyBackend } from "./adapt.js";
import { received, settled } from "./core/call.js";
import { kindOf, messageOf, Options, refused } from "./core/checks.js";
import { withHandle } from "./core/foreign.js";
import { enter, FRAMES, glue, needStack } from "./core/instance.js";
import * as put from "./core/message.js";
import type { Reply } from "./core/reply.js";
import { update } from "./core/results.js";
import { withRuntime } from "./graph/running.js";
import { type FilesystemPermission, KeptPolicy, type Policy, withPolicy } from "./policy.js";
import type { FileData, Failure as Refused } from "./types.js";

/** The names of the tools. */
export type FileToolName =
  | "ls"
  | "read_file"
  | "write_file"
  | "edit_file"
  | "delete"
  | "glob"
  | "grep"
  | "execute";

/** A part of an answer: text, or base64 that a model can look at or listen to. */
export type ContentBlock =
  | { type: "text"; text: string }
  | { type: "image" | "audio" | "video" | "file"; mimeType: string; data: string };

/** What a tool answers: text, or blocks where there is more than text. */
export type ToolOutput = string | ContentBlock[];

/** What a tool answers, with all there is to know. */
export interface ToolResult {
  content: ContentBlock[];
  /** All text of it. */
  text: string;
  /** Whether it tells the model of a failure. */
  isError: boolean;
  /** Changes to apply to a caller's state, from a backend over such a state. */
  filesUpdate?: Record<string, FileData | null>;
}

/** What is known of one call. */
export interface ToolCall {
  /** The id that the model gave it; large results are saved under it. */
  callId?: string;
  /** Given to a backend factory. */
  runtime?: unknown;
  /** Gives the call up. */
  signal?: AbortSignal;
}

/** What is known of a result that may be too large. */
export interface OffloadCall extends ToolCall {
  /** Told of the file it was saved to, where the backend is over a caller's state. */
  onFilesUpdate?: (update: Record<string, FileData | null>) => void;
}

/** JSON Schema of a tool's input. */
export interface InputSchema {
  type: "object";
  properties: Record<string, { type: string; description?: string; enum?: string[] }>;
  required?: string[];
}

/** A tool. */
export interface FileTool {
  name: FileToolName;
  description: string;
  inputSchema: InputSchema;
  /** Runs it; the input is what the model sent, as an object or as JSON text. */
  execute(input: unknown, call?: ToolCall): Promise<ToolOutput>;
}

/** A backend, or a function that gives one for each call. */
export type BackendOrFactory<R = unknown> =
  | AnyBackend
  | ((runtime: R) => AnyBackend | Promise<AnyBackend>);

/** How the tools behave. */
export interface FileToolsOptions {
  /** Only these tools. */
  tools?: readonly FileToolName[];
  /** Descriptions in place of ours. */
  customToolDescriptions?: Partial<Record<FileToolName, string>>;
  /** A system prompt in place of ours. */
  systemPrompt?: string;
  /** Rules on who may touch what, as `withPolicy` takes them. */
  permissions?: FilesystemPermission[];
  /** Any policy round the backend. */
  policy?: Policy;
  /** Refuse to edit or overwrite what was not read, or has changed since. On unless said otherwise. */
  requireReadBeforeEdit?: boolean;
  /** Results over so many tokens go into a file (20,000); null: never. */
  toolTokenLimitBeforeEvict?: number | null;
  /** User messages over so many tokens likewise (50,000); null: never. */
  humanMessageTokenLimitBeforeEvict?: number | null;
  /** The longest time limit that `execute` takes, in seconds (3,600). */
  maxExecuteTimeout?: number;
}

/** The tools over a backend. */
export interface FileTools {
  tools: FileTool[];
  /** What a model should know of the tools as a whole. */
  systemPrompt: string;
  /** The backend as the tools have it for a call: found by its factory, the policy around it. */
  backend(call?: ToolCall): Promise<AnyBackend>;
  /** Runs a tool by its name, known or not. */
  call(name: string, input: unknown, call?: ToolCall): Promise<ToolResult>;
  /** Moves a result of any tool into a file where it is too large, and gives what to show instead. */
  offload<T>(result: T, call: OffloadCall & { toolName?: string }): Promise<T | ToolOutput>;
  /** The same for what a user wrote. */
  offloadMessage(text: string, call?: OffloadCall & { messageId?: string }): Promise<string>;
}

const NAMES = ["ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep", "execute"];

const collected = new FinalizationRegistry<number>((set) => {
  try {
    glue.tools_drop(set);
  } catch {
    // The instance is gone with everything in it.
  }
});

/** The backend itself, whatever it was given as. */
export function resolveBackend(
  backend: BackendOrFactory,
  runtime?: unknown,
): AnyBackend | Promise<AnyBackend> {
  return typeof backend === "function"
    ? (backend as (runtime: unknown) => AnyBackend | Promise<AnyBackend>)(runtime)
    : backend;
}

/** The file tools over a backend, for any framework. */
export function createFileTools(backend: BackendOrFactory, options?: FileToolsOptions): FileTools {
  const of = new Options("createFileTools", options);
  const policy = of.object("policy") as Policy | undefined;
  const permissions = of.raw("permissions") as FilesystemPermission[] | undefined;
  const set = makeSet(of, options);
  const rules = permissions === undefined ? policy : { ...policy, permissions };
  const isFactory = typeof backend === "function";
  // A factory may give a new backend for each call: the policy stays, and goes on counting.
  const kept = isFactory && rules !== undefined ? new KeptPolicy(rules) : undefined;
  const whole = (given: AnyBackend) => (rules === undefined ? given : withPolicy(given, rules));
  const fixed = isFactory ? undefined : whole(backend as AnyBackend);
  const shell = isFactory
    ? (options?.tools?.includes("execute") ?? false)
    : withHandle("createFileTools: backend", fixed, (handle) =>
        enter(() => glue.tools_shell(handle)),
      );
  const wrapped = new WeakMap<object, AnyBackend>();
  const current = async (call?: ToolCall): Promise<AnyBackend> => {
    if (fixed !== undefined) return fixed;
    const found = (await resolveBackend(backend, call?.runtime)) as AnyBackend & object;
    if (kept === undefined) return found;
    let guard = wrapped.get(found);
    if (guard === undefined) {
      guard = kept.round(found);
      wrapped.set(found, guard);
    }
    return guard;
  };
  const run = async (name: string, input: unknown, call?: ToolCall): Promise<ToolResult> => {
    try {
      const json = asJson(input);
      const target = await current(call);
      const asked = () =>
        start<ToolResult>(
          target,
          () => {
            put.putLongText(json);
            put.putText(String(name));
            put.putText(call?.callId ?? "");
          },
          (handle, length) => glue.tools_call(set.id, handle, length),
          unpackResult,
          call,
        );
      return await withRuntime(call?.runtime, asked);
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
    // Nobody is there to put the file into the state: better too long than lost.
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
  return {
    systemPrompt: described.systemPrompt,
    tools: described.tools.map((tool) => ({
      ...tool,
      execute: async (input, call) => shown(await run(tool.name, input, call)),
    })),
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

function makeSet(of: Options, options: FileToolsOptions | undefined): { id: number } {
  const names = of.checked(
    "tools",
    `an array of ${NAMES.join(", ")}`,
    (value): value is string[] =>
      Array.isArray(value) && value.every((name) => NAMES.includes(name as string)),
  );
  const descriptions = Object.entries(of.object("customToolDescriptions") ?? {});
  for (const [name, text] of descriptions) {
    if (!NAMES.includes(name))
      of.refuse("customToolDescriptions", `about ${NAMES.join(", ")}`, name);
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

/** Asks a backend; what is refused before it begins is thrown. */
async function start<T extends object>(
  backend: AnyBackend,
  write: () => void,
  go: (handle: number, length: number) => number,
  unpack: (reply: Reply) => T,
  call?: ToolCall,
): Promise<T> {
  const answer = await withHandle("backend", backend, (handle) => {
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

/** A text that took the place of a large one, if it was too large. */
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

/** A result as frameworks take it: text where it is nothing else. */
export function shown(result: ToolResult): ToolOutput {
  return result.content.every((block) => block.type === "text") ? result.text : result.content;
}

function asJson(input: unknown): string {
  if (typeof input === "string") return input;
  if (input === undefined) return "";
  try {
    return JSON.stringify(input) ?? JSON.stringify(`a value that is ${kindOf(input)}`);
  } catch (error) {
    throw new Error(`the input is no JSON: ${messageOf(error)}`);
  }
}

function asText(result: unknown): string | undefined {
  if (typeof result !== "object" || result === null) return undefined;
  try {
    return JSON.stringify(result, undefined, 2);
  } catch {
    return undefined;
  }
}

/** Text blocks of a result become one where they are too large; everything else stays. */
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
