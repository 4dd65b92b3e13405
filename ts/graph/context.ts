// What a running LangGraph graph provides: its store, config and runtime. `running.ts` says how it
// is found; adapters for other frameworks provide a function instead.

import { shared } from "../core/context.js";
import { configs, currentInput, type RunConfig } from "./running.js";

/** The fields of a graph's runtime that backends read. */
export interface GraphRuntime {
  /** What the caller of the graph passed as its context, such as a user. */
  // biome-ignore lint/suspicious/noExplicitAny: the author of a graph defines its context
  context?: any;
  /** Information about the server that runs the graph. */
  // biome-ignore lint/suspicious/noExplicitAny: depends on the server
  serverInfo?: any;
  /** Information about this run. */
  // biome-ignore lint/suspicious/noExplicitAny: differs from version to version
  executionInfo?: any;
}

/** The context of a running graph. */
export interface GraphContext {
  /** The store that the graph was compiled with. */
  store?: unknown;
  /** Configuration of the run. */
  config?: unknown;
  /** State of the graph. */
  state?: unknown;
  /** Runtime of the graph. */
  runtime?: GraphRuntime;
}

// Shared by all copies of this module, because each bundle of the package has one.
const given = shared("kitbag.graph.context", () => ({
  find: undefined as (() => GraphContext | undefined) | undefined,
}));

/** Sets the function that returns the context of the running graph; for adapters. */
export function provideGraphContext(find: () => GraphContext | undefined): void {
  if (typeof find !== "function") {
    throw new TypeError("provideGraphContext: the argument must be a function");
  }
  given.find = find;
}

/** The context of the running graph, if there is one. */
export function graphContext(runtime?: unknown): GraphContext | undefined {
  try {
    return given.find?.() ?? runningContext(runtime);
  } catch {
    // Outside of a graph.
    return undefined;
  }
}

function runningContext(runtime: unknown): GraphContext | undefined {
  const known = configs(runtime);
  if (known.length === 0) return undefined;
  const first = (name: keyof RunConfig): unknown =>
    known.map((one) => one[name]).find((value) => value !== undefined && value !== null);
  const config = {
    metadata: first("metadata") as Record<string, unknown> | undefined,
    configurable: first("configurable") as Record<string, unknown> | undefined,
  };
  return {
    store: first("store"),
    config,
    state: first("state") ?? currentInput(runtime),
    runtime: {
      context: first("context"),
      serverInfo: first("serverInfo") ?? serverInfo(config),
      executionInfo: first("executionInfo") ?? executionInfo(config),
    },
  };
}

interface Known {
  metadata?: Record<string, unknown> | undefined;
  configurable?: Record<string, unknown> | undefined;
}

/** LangGraph's server information, from the config, because a tool's runtime lacks it. */
function serverInfo({ metadata = {}, configurable = {} }: Known): GraphRuntime["serverInfo"] {
  const assistant = configurable.assistant_id ?? metadata.assistant_id;
  const graph = configurable.graph_id ?? metadata.graph_id;
  const user = configurable.langgraph_auth_user;
  const known = typeof user === "object" && user !== null && "identity" in user;
  if (assistant === undefined && graph === undefined && !known) return undefined;
  return {
    assistantId: String(assistant ?? ""),
    graphId: String(graph ?? ""),
    ...(known ? { user } : {}),
  };
}

/** LangGraph's information about the running task, from the config. */
function executionInfo({ metadata = {}, configurable = {} }: Known): GraphRuntime["executionInfo"] {
  const taskId = configurable.__pregel_task_id;
  if (taskId === undefined) return undefined;
  const namespace = String(configurable.checkpoint_ns ?? "");
  const checkpoints = configurable.checkpoint_map as Record<string, unknown> | undefined;
  const parent = namespace.split("|").slice(0, -1).join("|");
  return {
    checkpointId: checkpoints?.[parent],
    checkpointNs: namespace,
    taskId,
    threadId: configurable.thread_id,
    runId: configurable.run_id ?? metadata.run_id,
  };
}
