// LangChain and LangGraph: the file tools as a middleware of `createAgent` or as plain tools, and
// backends over the state or the store of the running graph, so that files are saved with the
// thread. `langchain/` finds the graph and lets the calls of one step see each other's changes.

import { type AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { type StructuredToolInterface, tool } from "@langchain/core/tools";
import { Command, ReducedValue, StateSchema } from "@langchain/langgraph";
import type {
  BackendOrFactory,
  FileChanges,
  FileTool,
  FileTools,
  FileToolsOptions,
  ToolResult,
} from "kitbag";
import { type AgentMiddleware, createMiddleware, SystemMessage } from "langchain";
import { z } from "zod";
import { onlyKnown } from "../core/nearest.js";
import { laterPin, PIN, Pins, worldOf } from "../graph/checkpoint.js";
import { lend, stateBackend } from "../graph/langchain.js";
import { type RunConfig, withRuntime } from "../graph/running.js";
import type { Files, Update } from "../graph/step.js";
import { TOOL_OPTIONS, toolsFor } from "./framework/options.js";
import { noteTools } from "./langchain/rules.js";
import { changedBefore } from "./langchain/steps.js";

export { stateBackend, storeBackend } from "../graph/langchain.js";
export {
  type ReviewDecisions,
  type ReviewRequest,
  reviewMiddleware,
} from "./langchain/review.js";

/** What the middleware adds to a graph's state. */
type FilesState = {
  /** The files by path; null in an update deletes a file. */
  files: ReducedValue<Record<string, unknown>, Record<string, unknown> | undefined>;
};

/** The files of a graph's state. */
const state: StateSchema<FilesState> = new StateSchema({
  files: new ReducedValue(
    z.record(z.string(), z.any()).default(() => ({})),
    {
      inputSchema: z.record(z.string(), z.any()).optional(),
      reducer: (current: Files | undefined, update: Update | undefined): Files => {
        const files: Files = { ...current };
        for (const [path, file] of Object.entries(update ?? {})) {
          if (file === null) delete files[path];
          else files[path] = file;
        }
        return files;
      },
    },
  ),
});

/** The pin of the files, instead of the files. */
const pinState = new StateSchema({
  [PIN]: new ReducedValue(z.string().default(""), {
    inputSchema: z.string().optional(),
    reducer: laterPin,
  }),
});

/** Options of `kitbagMiddleware`. */
export interface MiddlewareOptions extends FileToolsOptions {
  /**
   * What checkpoints have: the files of the graph's state (`"files"`, the default), or the pin of all
   * files of a backend that `withHistory` of `kitbag/history` made. A run that goes on from an earlier
   * checkpoint then begins with the files of then.
   */
  checkpoint?: "files" | "pin";
}

const OPTIONS = { ...TOOL_OPTIONS, checkpoint: true } satisfies Record<
  keyof MiddlewareOptions,
  true
>;

type ToolConfig = RunConfig & { toolCall?: { id?: string }; signal?: AbortSignal };

function messageOf(name: string, id: string, result: ToolResult): ToolMessage {
  const plain = result.content.every((block) => block.type === "text");
  return new ToolMessage({
    name,
    tool_call_id: id,
    status: result.isError ? "error" : "success",
    content: plain ? result.text : result.content,
  });
}

/** Skips LangChain's own validation of inputs, which throws and accepts no other names or types. */
function lenient(made: StructuredToolInterface): StructuredToolInterface {
  const blind = Object.create(made, { schema: { value: {} } }) as StructuredToolInterface;
  const { call } = made;
  made.call = (...given) => call.apply(blind, given);
  return made;
}

/** Most answers of models whose messages are kept in mind. */
const ANSWERS = 64;

/** The messages that a model saw when it made a call, by the call's id. */
class Sights {
  readonly #seen = new Map<string, readonly BaseMessage[]>();

  /** A model that saw these messages has answered. */
  note(messages: readonly BaseMessage[], answer: unknown): void {
    for (const { id } of (answer as AIMessage | undefined)?.tool_calls ?? []) {
      if (id) this.#seen.set(id, messages);
    }
    for (const id of this.#seen.keys()) {
      if (this.#seen.size <= ANSWERS) break;
      this.#seen.delete(id);
    }
  }

  /** The text of an earlier result, if the model saw it when it made the call `of`. */
  text(of: string, id: string): string | undefined {
    const seen = this.#seen.get(of) ?? [];
    const found = seen.findLast((one) => ToolMessage.isInstance(one) && one.tool_call_id === id);
    return typeof found?.content === "string" ? found.content : undefined;
  }
}

function langchainTools(files: FileTools, sights?: Sights): StructuredToolInterface[] {
  return files.tools.map(({ name, description, inputSchema }) =>
    lenient(
      tool(
        async (input: unknown, config: ToolConfig) => {
          const id = config.toolCall?.id ?? "";
          const { runtime, send } = lend(config, config.state);
          const call = {
            callId: id,
            runtime,
            ...(sights ? { shown: (earlier: string) => sights.text(id, earlier) } : {}),
            ...(config.signal ? { signal: config.signal } : {}),
          };
          const result = await withRuntime(config, () => files.call(name, input, call));
          const message = messageOf(name, id, result);
          if (result.filesUpdate && !send) {
            return new Command({ update: { files: result.filesUpdate, messages: [message] } });
          }
          if (result.filesUpdate) send?.(result.filesUpdate);
          return id === "" ? message.content : message;
        },
        // The schema is only for the model: the tool itself answers wrong inputs, without a throw.
        { name, description, schema: inputSchema },
      ),
    ),
  );
}

/**
 * The result of `fileTools`: that of `createFileTools`, with the tools as LangChain takes them. An agent
 * runs them itself, so there is no `run`.
 */
export interface LangchainTools extends Omit<FileTools, "tools"> {
  /** The tools, for the option `tools` of `createAgent` and for `bindTools`. */
  tools: StructuredToolInterface[];
}

/**
 * The file tools as LangChain tools, for an agent with its own prompt. `kitbagMiddleware` adds the
 * prompt as well. A tool never throws: what failed is a text for the model.
 *
 * @param backend The backend, or a function that is called at each tool call and returns one.
 * @example
 * const { tools, systemPrompt } = fileTools(new StateBackend());
 * const agent = createAgent({ model, tools, systemPrompt });
 */
export function fileTools(backend: BackendOrFactory, options?: FileToolsOptions): LangchainTools {
  const files = toolsFor("fileTools", backend, options);
  noteTools(backend, files);
  return { ...files, tools: langchainTools(files) };
}

type Content = ToolMessage["content"];

/** Shortens the text of a message, as a string or as blocks; other blocks stay. */
async function shortened(
  content: Content,
  shorten: (text: string) => Promise<string>,
): Promise<Content> {
  if (typeof content === "string") return shorten(content);
  const texts = content.flatMap((block) =>
    block.type === "text" && typeof block.text === "string" ? [block.text] : [],
  );
  if (texts.length === 0) return content;
  const whole = texts.join("\n");
  const short = await shorten(whole);
  if (short === whole) return content;
  const rest = content.filter((block) => block.type !== "text");
  return [{ type: "text", text: short }, ...rest] as Content;
}

/**
 * Middleware for `createAgent`: tools, prompt, offloading of every tool's large results, and the
 * state's `files`. Without a backend the files are in the state of the running graph, where each
 * thread has its own.
 *
 * @example
 * const agent = createAgent({ model, middleware: [kitbagMiddleware()], checkpointer });
 */
export function kitbagMiddleware(
  backend: BackendOrFactory = stateBackend(),
  options?: MiddlewareOptions,
): AgentMiddleware<typeof state, undefined, unknown> {
  onlyKnown("kitbagMiddleware", options, Object.keys(OPTIONS));
  const { checkpoint = "files", ...rest } = options ?? {};
  if (checkpoint !== "files" && checkpoint !== "pin") {
    throw new TypeError('kitbagMiddleware: option "checkpoint" must be "files" or "pin"');
  }
  const pins = checkpoint === "pin" ? new Pins(worldOf(backend)) : undefined;
  const files = toolsFor("kitbagMiddleware", backend, options && rest);
  noteTools(backend, files);
  const own = new Map<string, FileTool["effect"]>(
    files.tools.map(({ name, effect }) => [name, effect]),
  );
  const changes = (name: string) => ["changes", "destroys"].includes(own.get(name) ?? "reads");
  const sights = options?.unchanged ? new Sights() : undefined;
  /** The runtime for offloading: the graph's files, and where changes to them are sent. */
  const offloading = (request: { runtime?: unknown; state?: unknown }) => {
    const given = { ...(request.runtime as RunConfig | undefined), state: request.state };
    const { runtime, send } = lend(given, request.state);
    return { given, call: { runtime, onFilesUpdate: send } };
  };
  const shrink = async (message: ToolMessage, request: object): Promise<ToolMessage> => {
    if (own.has(message.name ?? "")) return message;
    const { given, call } = offloading(request);
    const about = { ...call, callId: message.tool_call_id, toolName: message.name ?? "" };
    const content = await withRuntime(given, () => files.offload(message.content, about));
    if (content === message.content) return message;
    const { id, name, status, tool_call_id, artifact, additional_kwargs, response_metadata } =
      message;
    return new ToolMessage({
      id,
      name,
      status,
      tool_call_id,
      artifact,
      additional_kwargs,
      response_metadata,
      content,
    });
  };
  const shrinkAll = async (result: ToolMessage | Command, request: object) => {
    if (ToolMessage.isInstance(result)) return shrink(result, request);
    const update = result.update as { messages?: unknown[] } | undefined;
    if (!update || !Array.isArray(update.messages)) return result;
    const messages = await Promise.all(
      update.messages.map((one) => (ToolMessage.isInstance(one) ? shrink(one, request) : one)),
    );
    return new Command({ ...result, update: { ...update, messages } });
  };
  const middleware: unknown = createMiddleware({
    name: "KitbagMiddleware",
    stateSchema: pins ? pinState : state,
    tools: langchainTools(files, sights),
    wrapModelCall: async (request, handler) => {
      await pins?.check(request.state, request.runtime, true);
      const prompt =
        files.systemPrompt === ""
          ? request.systemMessage
          : request.systemMessage.concat(new SystemMessage(files.systemPrompt));
      const messages = await Promise.all(
        request.messages.map(async (message) => {
          if (message.getType() !== "human") return message;
          const { given, call } = offloading(request);
          const about = { ...call, messageId: message.id ?? "" };
          const shorten = (text: string) =>
            withRuntime(given, () => files.offloadMessage(text, about));
          const content = await shortened(message.content, shorten);
          if (content === message.content) return message;
          return Object.assign(Object.create(Object.getPrototypeOf(message)), message, { content });
        }),
      );
      const asked = { ...request, messages, systemMessage: prompt };
      const begins = pins && Pins.begins(request.state, request.messages);
      const [answer, pin] = await Promise.all([
        handler(asked),
        begins ? pins.pin(request.runtime) : undefined,
      ]);
      sights?.note(messages, answer);
      if (!pin) return answer;
      await pins?.moveOn(pin, request.runtime);
      // LangChain adds the answer of the model.
      return new Command({ update: { [PIN]: pin } });
    },
    wrapToolCall: async (request, handler) => {
      const { id = "", name } = request.toolCall;
      const unseen = changedBefore(request, changes);
      if (unseen !== undefined) {
        return new ToolMessage({ content: unseen, name, tool_call_id: id, status: "error" });
      }
      await pins?.check(request.state, request.runtime, false);
      const shrunk = await shrinkAll(await handler(request), request);
      if (!pins || own.get(request.toolCall.name) === "reads") return shrunk;
      const pin = await pins.pin(request.runtime);
      const command = shrunk instanceof Command ? shrunk : undefined;
      const update = command ? command.update : { messages: [shrunk] };
      return new Command({ ...command, update: { ...update, [PIN]: pin } });
    },
  });
  // LangChain infers the input of the agent from this type.
  return middleware as AgentMiddleware<typeof state, undefined, unknown>;
}

/**
 * The files that a part of a graph's stream has changed; undefined if none. For streams with
 * `streamMode: "updates"`, also among other modes and with subgraphs.
 *
 * @example
 * for await (const part of await agent.stream(input, { streamMode: "updates" })) {
 *   console.log(graphChanges(part)?.paths);
 * }
 */
export function graphChanges(part: unknown): FileChanges | undefined {
  const mode = Array.isArray(part) && part.find((one) => typeof one === "string");
  if (mode && mode !== "updates") return undefined;
  const updates: unknown = Array.isArray(part) ? part.at(-1) : part;
  if (typeof updates !== "object" || updates === null) return undefined;
  // A step of several tool calls returns several updates.
  const changed = Object.values(updates).flatMap((update: unknown) =>
    [update].flat().flatMap((one) => Object.keys((one as { files?: object } | null)?.files ?? {})),
  );
  if (changed.length === 0) return undefined;
  const paths = [...new Set(changed.filter((path) => path.startsWith("/")))];
  // What replaces all files at once names none of those that are gone.
  return paths.length < new Set(changed).size ? { paths, rescan: true } : { paths };
}
