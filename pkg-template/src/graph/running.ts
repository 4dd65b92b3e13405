// The graph that runs, found without importing LangGraph. LangChain keeps one AsyncLocalStorage
// under a well-known symbol, and what it holds carries the config of the task that runs; where
// there is none, as in a browser, only the runtime that a tool was called with knows the graph.

import { langchainStorage, onBehalf, toolCalled } from "../core/context.js";
import { type Attempt, type Files, type Step, stepOf, type Update } from "./step.js";

/** As much of a config, or of a tool's runtime, as is read here. */
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

/** The config of the task that runs, as LangChain keeps it. */
function runningConfig(): RunConfig | undefined {
  try {
    const kept = langchainStorage()?.getStore() as { extra?: Record<symbol, unknown> } | undefined;
    return kept?.extra?.[CONFIG] as RunConfig | undefined;
  } catch {
    // Something else stands there.
    return undefined;
  }
}

function readOf(config: RunConfig | undefined): unknown {
  return config?.configurable?.__pregel_read;
}

/** Does work for a tool that was called with a runtime, so that backends can ask who calls. */
export function withRuntime<T>(runtime: unknown, work: () => T): T {
  if (typeof runtime !== "object" || runtime === null) return work();
  return onBehalf({ runtime, outer: readOf(runningConfig()) }, work);
}

/**
 * The configs that may know of the graph that runs, the nearest first: that of the runtime given,
 * of the tool call under way, of the task that runs.
 */
export function configs(runtime?: unknown): RunConfig[] {
  const running = runningConfig();
  const call = toolCalled();
  // A graph that began within the tool call is nearer than the call.
  const called = call && call.outer === readOf(running) ? (call.runtime as RunConfig) : undefined;
  const given =
    typeof runtime === "object" && runtime !== null ? (runtime as RunConfig) : undefined;
  const found: RunConfig[] = [];
  for (const one of [given, given?.config, called, called?.config, running]) {
    if (typeof one === "object" && one !== null && !found.includes(one)) found.push(one);
  }
  return found;
}

/** What a graph gives the task that runs. */
export interface Graph {
  read: Read;
  send: Send | undefined;
  /** The thread, and the checkpoints that the step goes on from. */
  step: string | undefined;
  /** The thread and the graph within it, over all its steps. */
  line: string;
  attempt: Attempt;
}

/** The graph that runs, if one does. */
export function runningGraph(runtime?: unknown): Graph | undefined {
  // Outside of everything, which is quick to see.
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
      // The last part names the task.
      line: JSON.stringify([thread ?? checkpoints, namespace.split("|").slice(0, -1)]),
      attempt: {
        task: String(configurable.__pregel_task_id ?? namespace),
        number: (executionInfo as { nodeAttempt?: number } | undefined)?.nodeAttempt,
        // A task that is tried anew counts as resumed. A fresh look at the state gives the very
        // same object where the task has sent nothing.
        sentNothing: () =>
          configurable.__pregel_resuming === true && read("files", true) === read("files", false),
      },
    };
  }
  return undefined;
}

/** Whether a tool's runtime tells of a graph that cannot be reached by it. */
export function outOfReach(): boolean {
  const { runtime } = toolCalled() ?? {};
  const state = (runtime as RunConfig | undefined)?.state;
  return typeof state === "object" && state !== null;
}

/** A graph whose state cannot hold files. */
export class NoFiles extends Error {
  override name = "NoFiles";
}

/** The step of a graph that a call is in, by the snapshot that all its calls start from. */
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
 * Sends noted changes to the state of a graph. Not by a Command: what that holds is copied on its
 * way, and could not be kept up to date by later calls of the step.
 */
export function sendFiles(graph: Graph, step: Step, paths: string[]): void {
  if (!graph.send) throw new Error("The running graph takes no changes here");
  graph.send([["files", step.sending(paths, graph.attempt)]]);
}

/** A change of files in the state of a graph. */
export function changeFiles(graph: Graph, update: Update): void {
  const step = stepIn(graph);
  step.note(update, graph.attempt);
  sendFiles(graph, step, Object.keys(update));
}

/** Notes changes that a call in the running graph hands back by itself: see `Step.claim`. */
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

/** The input of the task that runs: the state that it began with. */
export function currentInput(runtime?: unknown): unknown {
  for (const { configurable } of configs(runtime)) {
    const scratchpad = configurable?.__pregel_scratchpad as
      | { currentTaskInput?: unknown }
      | undefined;
    if (scratchpad?.currentTaskInput !== undefined) return scratchpad.currentTaskInput;
  }
  return undefined;
}
