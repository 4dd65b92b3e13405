// LangChain and LangGraph: the file tools as a middleware of `createAgent` or as plain tools, and
// backends that find the state or the store of the running graph, so that files are
// checkpointed with the thread.

import { ToolMessage } from "@langchain/core/messages";
import { type StructuredToolInterface, tool } from "@langchain/core/tools";
import { Command, getConfig, getStore, ReducedValue, StateSchema } from "@langchain/langgraph";
import * as kitbag from "kitbag";
import {
  type BackendOrFactory,
  type Channel,
  createFileTools,
  type FileData,
  type FileTools,
  type FileToolsOptions,
  StateBackend,
  type ToolResult,
} from "kitbag";
import { createMiddleware, SystemMessage } from "langchain";
import { z } from "zod";

type Files = Record<string, FileData>;
type Update = Record<string, FileData | null>;

/** The files of a graph's state; null in an update deletes. */
const state = new StateSchema({
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

const graph = (): Record<string, unknown> =>
  (getConfig() as { configurable?: Record<string, unknown> } | undefined)?.configurable ?? {};

/** The state of the running graph as a channel of files. */
const channel: Channel = {
  read() {
    const read = graph().__pregel_read as ((name: string, fresh: boolean) => Files) | undefined;
    if (!read) throw new Error("stateBackend() works only inside a running graph");
    return read("files", true) ?? {};
  },
  send(update) {
    const send = graph().__pregel_send as ((writes: Array<[string, Update]>) => void) | undefined;
    if (!send) throw new Error("stateBackend() works only inside a running graph");
    send([["files", update]]);
  },
};

/** Files in the state of whatever graph is running: checkpointed with its thread. */
export function stateBackend(options?: {
  writeMode?: "create" | "overwrite";
  fileFormat?: "v1" | "v2";
}) {
  // A new mirror each time: one that outlives a call would compare states of different threads.
  return () => new StateBackend({ ...options, channel });
}

/** Files in the store of whatever graph is running. */
export function storeBackend(options?: Record<string, unknown>) {
  return () => {
    const store = getStore();
    if (!store) throw new Error("storeBackend() needs a graph that was compiled with a store");
    const { StoreBackend } = kitbag as unknown as {
      StoreBackend?: new (options: Record<string, unknown>) => never;
    };
    if (!StoreBackend) throw new Error("This build of kitbag has no StoreBackend");
    return new StoreBackend({ ...options, store });
  };
}

type ToolConfig = { toolCall?: { id?: string }; state?: unknown; signal?: AbortSignal };

function messageOf(name: string, id: string, result: ToolResult): ToolMessage {
  const plain = result.content.every((block) => block.type === "text");
  return new ToolMessage({
    name,
    tool_call_id: id,
    status: result.isError ? "error" : "success",
    content: (plain ? result.text : result.content) as never,
  });
}

/** The same tool without LangChain's own look at inputs, which knows of no slips and throws. */
function lenient(made: StructuredToolInterface): StructuredToolInterface {
  const blind = Object.create(made, { schema: { value: {} } }) as StructuredToolInterface;
  const { call } = made;
  made.call = (...given) => call.apply(blind, given);
  return made;
}

function langchainTools(files: FileTools): StructuredToolInterface[] {
  return files.tools.map(({ name, description, inputSchema }) =>
    lenient(
      tool(
        async (input: unknown, config: ToolConfig) => {
          const id = config.toolCall?.id ?? "";
          const call = {
            callId: id,
            runtime: config,
            ...(config.signal ? { signal: config.signal } : {}),
          };
          const result = await files.call(name, input, call);
          const message = messageOf(name, id, result);
          if (!result.filesUpdate) return id === "" ? message.content : message;
          return new Command({ update: { files: result.filesUpdate, messages: [message] } });
        },
        // The schema only tells the model: a wrong input is answered by the tool, not thrown.
        { name, description, schema: inputSchema as never },
      ) as unknown as StructuredToolInterface,
    ),
  );
}

/** The file tools as LangChain tools. */
export function fileTools(
  backend: BackendOrFactory,
  options?: FileToolsOptions,
): StructuredToolInterface[] {
  return langchainTools(createFileTools(backend, options));
}

/** Tools, prompt, offloading of every tool's result, and the state's `files`, for `createAgent`. */
export function kitbagMiddleware(
  backend: BackendOrFactory = stateBackend(),
  options?: FileToolsOptions,
) {
  const files = createFileTools(backend, options);
  const own = new Set<string>(files.tools.map((one) => one.name));
  const shrink = async (message: ToolMessage, runtime: unknown): Promise<ToolMessage> => {
    if (own.has(message.name ?? "")) return message;
    const call = { callId: message.tool_call_id, toolName: message.name ?? "", runtime };
    const content = await files.offload(message.content, call);
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
    } as never);
  };
  return createMiddleware({
    name: "KitbagMiddleware",
    stateSchema: state as never,
    tools: langchainTools(files) as never,
    wrapModelCall: async (request, handler) => {
      const prompt =
        files.systemPrompt === ""
          ? request.systemMessage
          : request.systemMessage.concat(new SystemMessage(files.systemPrompt));
      const messages = await Promise.all(
        request.messages.map(async (message) => {
          if (message.getType() !== "human" || typeof message.content !== "string") return message;
          const content = await files.offloadMessage(message.content, {
            messageId: message.id ?? "",
            runtime: request.runtime,
          });
          if (content === message.content) return message;
          return Object.assign(Object.create(Object.getPrototypeOf(message)), message, { content });
        }),
      );
      return handler({ ...request, messages, systemMessage: prompt } as never);
    },
    wrapToolCall: async (request, handler) => {
      const result = await handler(request);
      const runtime = (request as { runtime?: unknown }).runtime;
      if (ToolMessage.isInstance(result)) return shrink(result, runtime);
      const update = (result as Command).update as { messages?: unknown[] } | undefined;
      if (!update || !Array.isArray(update.messages)) return result;
      const messages = await Promise.all(
        update.messages.map((one) => (ToolMessage.isInstance(one) ? shrink(one, runtime) : one)),
      );
      return new Command({ ...(result as Command), update: { ...update, messages } } as never);
    },
  });
}
