// Backends for the running graph, and the runtime that a tool call passes to them. `graph/` finds
// the graph, and lets the calls of one step see each other's changes.

import {
  StateBackend,
  type StateBackendOptions,
  StoreBackend,
  type StoreBackendOptions,
} from "kitbag";
import { graphContext } from "./context.js";
import { type Channel, shareState } from "./mirror.js";
import {
  changeFiles,
  type Graph,
  type RunConfig,
  runningGraph,
  sendFiles,
  stepIn,
} from "./running.js";
import type { Step, Update } from "./step.js";

/** Tells `StoreBackend` that no deprecated constructor of the user is called. */
const CALLER = Symbol.for("kitbag.caller");

/** The graph of a runtime; throws if there is none. */
function graphOf(runtime: unknown): Graph {
  const graph = runningGraph(runtime);
  if (!graph) throw new Error("stateBackend() works only inside a running graph");
  return graph;
}

/** The state of the running graph as a channel of files. */
function channelOf(runtime: unknown): Channel {
  return {
    read: () => stepIn(graphOf(runtime)).files(),
    send: (update) => changeFiles(graphOf(runtime), update),
  };
}

/**
 * Files in the state of the running graph, saved in the checkpoints of its thread. Returns a
 * function, for wherever a backend is taken; it throws outside of a graph.
 */
export function stateBackend(options?: Omit<StateBackendOptions, "channel" | "files" | "scope">) {
  // A new mirror each time: one that outlives a call would compare states of different threads.
  return (runtime?: unknown) => new StateBackend({ ...options, channel: channelOf(runtime) });
}

/**
 * Files in the store of the running graph. Returns a function, for wherever a backend is taken; it
 * throws if there is no graph that was compiled with a store.
 *
 * @param options `namespace` says whose files they are.
 */
export function storeBackend(options?: Omit<StoreBackendOptions, "store">) {
  return (runtime?: unknown) => {
    const found = graphContext(runtime);
    const store = found?.store as StoreBackendOptions["store"];
    if (!store) throw new Error("storeBackend() needs a graph that was compiled with a store");
    // The caller is determined here, where the call begins.
    const { state, config } = found ?? {};
    const caller = { [CALLER]: true, store, state, config, ...found?.runtime };
    return new StoreBackend(caller, options);
  };
}

/** A tool's runtime, prepared for a backend over its `state`. */
export interface Lent {
  /** The runtime to pass on. */
  runtime: unknown;
  /** Sends the changes that such a backend returned; absent if no graph accepts them. */
  send?(update: Update): void;
}

/** Returns a runtime whose state includes the changes of other calls of the same step. */
export function lend(runtime: RunConfig, state: unknown): Lent {
  if (typeof state !== "object" || state === null) return { runtime };
  const graph = runningGraph(runtime);
  if (!graph) return { runtime };
  let step: Step;
  try {
    step = stepIn(graph);
  } catch {
    // The graph's state has no files.
    return { runtime };
  }
  const noted = new Set<string>();
  const note = (update: Update) => {
    for (const path of Object.keys(update)) noted.add(path);
    step.note(update, graph.attempt);
  };
  const seen = Object.defineProperty({ ...state }, "files", {
    get: () => step.files(),
    enumerable: true,
  });
  shareState(seen, { files: () => step.files(), note });
  return {
    runtime: { ...runtime, state: seen },
    send(update) {
      // Backends that are not kitbag's report their changes only here.
      for (const [path, file] of Object.entries(update)) {
        if (!noted.has(path)) note({ [path]: file });
      }
      sendFiles(graph, step, Object.keys(update));
    },
  };
}
