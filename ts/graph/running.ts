// Finds the running graph without importing LangGraph. LangChain keeps an AsyncLocalStorage under a
// well-known symbol, which contains the config of the running task. Without one, as in a browser,
// only the runtime that a tool was called with identifies the graph.

import { langchainStorage, onBehalf, toolCalled } from "../core/context.js";
import { type Attempt, type Files, type Step, stepOf, type Update } from "./step.js";

/** The fields of a config, or of a tool's runtime, that are read here. */
export interface RunConfig {
  configurable?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
  config?: RunConfig;
  store?: unknown;
  state?: unknown;
  context?: unknown;
  serverInfo?: unknown;
  executionInfo?: unknown;
}

type Read = (name: string, fresh: boolean) => unknown;
type Send = (writes: Array<[string, unknown]>) => void;

const CONFIG = Symbol.for("lc:child_config");

/** The config of the running task, from LangChain's storage. */
function runningConfig(): RunConfig | undefined {
  try {
    const kept = langchainStorage()?.getStore() as { extra?: Record<symbol, unknown> } | undefined;
    return kept?.extra?.[CONFIG] as RunConfig | undefined;
  } catch {
    // Something else is stored under the symbol.
    return undefined;
  }
}

function readOf(config: RunConfig | undefined): unknown {
  return config?.configurable?.__pregel_read;
}

/** Runs `work` for a tool that was called with `runtime`, so that backends can find its graph. */
export function withRuntime<T>(runtime: unknown, work: () => T): T {
  if (typeof runtime !== "object" || runtime === null) return work();
  return onBehalf({ runtime, outer: readOf(runningConfig()) }, work);
}

/**
 * The configs that may identify the running graph, the nearest first: of the given runtime, of the
 * current tool call, of the running task.
 */
export function configs(runtime?: unknown): RunConfig[] {
  const running = runningConfig();
  const call = toolCalled();
  // A graph that started inside the tool call is nearer than the call.
  const called = call && call.outer === readOf(running) ? (call.runtime as RunConfig) : undefined;
  const given =
    typeof runtime === "object" && runtime !== null ? (runtime as RunConfig) : undefined;
  const found: RunConfig[] = [];
  for (const one of [given, given?.config, called, called?.config, running]) {
    if (typeof one === "object" && one !== null && !found.includes(one)) found.push(one);
  }
  return found;
}

/** What a graph provides to the running task. */
export interface Graph {
  read: Read;
  send: Send | undefined;
  /** Identifies the thread, and the checkpoints from which the step continues. */
  step: string | undefined;
  /** Identifies the thread and the graph within it, across all its steps. */
  line: string;
  attempt: Attempt;
}

/** The running graph, if there is one. */
export function runningGraph(runtime?: unknown): Graph | undefined {
  // A fast test for calls outside of any graph.
  if (runtime === undefined && toolCalled() === undefined && runningConfig() === undefined) {
    return undefined;
  }
  for (const { configurable, executionInfo } of configs(runtime)) {
    const read = configurable?.__pregel_read as Read | undefined;
    if (!configurable || typeof read !== "function") continue;
    const { thread_id: thread, checkpoint_map: checkpoints } = configurable;
    const namespace = String(configurable.checkpoint_ns ?? "");
    const send = configurable.__pregel_send;
    return {
      read,
      send: typeof send === "function" ? (send as Send) : undefined,
      step: checkpoints === undefined ? undefined : JSON.stringify([thread, checkpoints]),
      // The last part identifies the task.
      line: JSON.stringify([thread ?? checkpoints, namespace.split("|").slice(0, -1)]),
      attempt: {
        task: String(configurable.__pregel_task_id ?? namespace),
        number: (executionInfo as { nodeAttempt?: number } | undefined)?.nodeAttempt,
        // A retried task counts as resumed. A fresh read of the state returns the identical object
        // if the task has sent nothing.
        sentNothing: () =>
          configurable.__pregel_resuming === true && read("files", true) === read("files", false),
      },
    };
  }
  return undefined;
}

/** Whether the current tool call has a state, and so a graph that cannot be reached. */
export function outOfReach(): boolean {
  const { runtime } = toolCalled() ?? {};
  const state = (runtime as RunConfig | undefined)?.state;
  return typeof state === "object" && state !== null;
}

/** The graph's state has no `files`. */
export class NoFiles extends Error {
  override name = "NoFiles";
}

/** The step that a call belongs to, identified by the snapshot that all its calls start from. */
export function stepIn(graph: Graph): Step {
  let snapshot: unknown;
  try {
    snapshot = graph.read("files", false);
  } catch (cause) {
    throw new NoFiles("its state has no `files`", { cause });
  }
  const none = snapshot === null || snapshot === undefined;
  if (!none && (typeof snapshot !== "object" || Array.isArray(snapshot))) {
    throw new NoFiles("`files` in its state is no record of path to file");
  }
  const step = stepOf(none ? undefined : (snapshot as Files), graph.step);
  step.begin(graph.attempt);
  return step;
}

/**
 * Sends noted changes to the state of a graph. Not with a Command: its content is copied on the
 * way, so later calls of the step could not update it.
 */
export function sendFiles(graph: Graph, step: Step, paths: string[]): void {
  if (!graph.send) throw new Error("The running graph takes no changes here");
  graph.send([["files", step.sending(paths, graph.attempt)]]);
}

/** Notes a change of files and sends it to the state of a graph. */
export function changeFiles(graph: Graph, update: Update): void {
  const step = stepIn(graph);
  step.note(update, graph.attempt);
  sendFiles(graph, step, Object.keys(update));
}

/** Notes changes that a call of the running graph returns to its caller; see `Step.claim`. */
export function claim(
  update: Update,
  seen: (path: string) => unknown,
  caller: object,
): string | undefined {
  const graph = runningGraph();
  if (!graph) return undefined;
  let step: Step;
  try {
    step = stepIn(graph);
  } catch {
    // A graph without files has none to lose.
    return undefined;
  }
  return step.claim(update, seen, caller);
}

/** The input of the running task: the state that it started with. */
export function currentInput(runtime?: unknown): unknown {
  for (const { configurable } of configs(runtime)) {
    const scratchpad = configurable?.__pregel_scratchpad as
      | { currentTaskInput?: unknown }
      | undefined;
    if (scratchpad?.currentTaskInput !== undefined) return scratchpad.currentTaskInput;
  }
  return undefined;
}
