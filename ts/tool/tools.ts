// The tools of a model, for any framework. What a tool does and says is implemented in WebAssembly;
// here are the options, the selection of the backend, and the plain objects that callers get. No
// tool call throws or rejects: an error is text for the model.

import { capabilityOf } from "../backend/backend.js";
import type { IgnoreRules } from "../backend/ignoring.js";
import { KeptPolicy, type PermissionRule, type Policy, withPolicy } from "../backend/policy.js";
import { NOT_BEGUN, settled } from "../core/call.js";
import { messageOf, Options, refused } from "../core/checks.js";
import { deprecated } from "../core/deprecated.js";
import { OffloadGiven, ToolCallGiven } from "../core/descriptions.js";
import { write } from "../core/given.js";
import { enter, glue, needStack, ROOM } from "../core/instance.js";
import * as put from "../core/message.js";
import { calledAs } from "../core/nearest.js";
import type { Reply } from "../core/reply.js";
import { update } from "../core/results.js";
import type { AnyBackend } from "../foreign/adapt.js";
import { withHandle } from "../foreign/calls.js";
import { withRuntime } from "../graph/running.js";
import type { Failure as Refused } from "../types.js";
import { argumentsOf, inputOf } from "./input.js";
import { asText, offloadBlocks } from "./offload.js";
import { promptsOf } from "./prompts.js";
import { describe, makeSet, retell } from "./set.js";
import type {
  BackendOrFactory,
  ChangeTools,
  ContentBlock,
  FileTool,
  FileTools,
  FileToolsOptions,
  OffloadCall,
  ToolCall,
  ToolOutput,
  ToolResult,
  UnchangedReads,
} from "./types.js";

export type * from "./types.js";

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
    of.excess("permissions", "where the policy has permissions");
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
  const ruled = <T>(make: () => T) => calledAs("createFileTools", make);
  const kept = isFactory && rules !== undefined ? ruled(() => new KeptPolicy(rules)) : undefined;
  const whole = (given: AnyBackend) =>
    rules === undefined ? given : ruled(() => withPolicy(given, rules));
  const fixed = isFactory ? undefined : whole(searched(backend as AnyBackend));
  // Of the backends that a function will return nothing is known, so they may replace files.
  const able = isFactory
    ? {
        shell: (options?.tools !== "all" && options?.tools?.includes("execute")) || false,
        overwrites: true,
      }
    : withHandle("createFileTools: backend", fixed, (handle) => ({
        shell: enter(() => glue.tools_shell(handle)),
        overwrites: capabilityOf(handle).overwrites,
      }));
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
            const id = call?.callId ?? "";
            write(ToolCallGiven, { input: inputOf(given), name: String(name), call: id });
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
  const moved = async (it: Large, call?: OffloadCall): Promise<Moved> => {
    const target = await current(call);
    const asked = () =>
      start<Moved>(
        target,
        () => {
          const what = it.isMessage ? "message" : "result";
          write(OffloadGiven, { text: it.text, what, call: it.id, tool: it.tool });
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
  const shrunk = async (it: Large, call?: OffloadCall) => {
    try {
      return (await moved(it, call)).text ?? it.text;
    } catch {
      return it.text;
    }
  };
  const described = describe(set.id, able);
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
      const about = { isMessage: false, id: call.callId ?? "", tool: call.toolName ?? "" };
      if (Array.isArray(result))
        return offloadBlocks(result, (text) => shrunk({ ...about, text }, call)) as T;
      const text = typeof result === "string" ? result : asText(result);
      if (text === undefined) return result;
      const short = await shrunk({ ...about, text }, call);
      return short === text ? result : short;
    },
    offloadMessage: (text, call) => {
      const id = call?.messageId ?? call?.callId ?? "";
      return shrunk({ text, isMessage: true, id, tool: "" }, call);
    },
  };
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
      needStack(ROOM.deep);
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

/** A text that may be too large, and where it is from. */
interface Large {
  text: string;
  isMessage: boolean;
  id: string;
  tool: string;
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
