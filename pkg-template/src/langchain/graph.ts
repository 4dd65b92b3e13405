// The graph that runs: its store, its config, the files in its state. Where the runtime has
// AsyncLocalStorage, LangGraph tells which graph that is; in a browser only the runtime that a
// tool was called with does, so that is asked first.

import { getConfig, getCurrentTaskInput } from "@langchain/langgraph";
import {
  type Channel,
  provideGraphContext,
  StateBackend,
  type StateBackendOptions,
  StoreBackend,
  type StoreBackendOptions,
  type StoreLike,
  shareState,
} from "kitbag";
import { contextStorage } from "../core/context.js";
import { type Files, type Step, stepOf, type Update } from "./step.js";

/** As much of a config, or of a tool's runtime, as is read here. */
export interface Config {
  configurable?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
  config?: Config;
  store?: unknown;
  state?: unknown;
  context?: unknown;
  serverInfo?: unknown;
  executionInfo?: unknown;
}

type Read = (name: string, fresh: boolean) => unknown;
type Send = (writes: Array<[string, unknown]>) => void;

/** The configs that may know of the graph that runs, the nearest first. */
function configs(runtime: unknown): Config[] {
  const given = typeof runtime === "object" && runtime !== null ? (runtime as Config) : undefined;
  const running = getConfig() as Config | undefined;
  return [given, given?.config, running].filter((one) => one !== undefined);
}

/** What a graph lends its tasks under a name of `configurable`. */
function lent<T>(runtime: unknown, name: string): T | undefined {
  for (const { configurable } of configs(runtime)) {
    const found = configurable?.[name];
    if (found !== undefined) return found as T;
  }
  return undefined;
}

const OUTSIDE = "stateBackend() works only inside a running graph";

/** The step that the call of this runtime is in, by the snapshot that all its calls start from. */
function currentStep(runtime: unknown): Step {
  const read = lent<Read>(runtime, "__pregel_read");
  if (!read) throw new Error(OUTSIDE);
  let snapshot: unknown;
  try {
    snapshot = read("files", false);
  } catch (cause) {
    throw new Error("The graph's state has no `files`: kitbagMiddleware() adds them", { cause });
  }
  const known = typeof snapshot === "object" && snapshot !== null;
  return stepOf(known ? (snapshot as Files) : undefined, stepName(runtime));
}

/** Names a step: which thread it is of, and the checkpoints that it goes on from. */
function stepName(runtime: unknown): string | undefined {
  const checkpoints = lent<Record<string, string>>(runtime, "checkpoint_map");
  if (checkpoints === undefined) return undefined;
  return JSON.stringify([lent(runtime, "thread_id"), checkpoints]);
}

/**
 * Sends noted changes to the state of the graph that runs. Not by a Command: what that holds is
 * copied on its way, and could not be kept up to date by later calls of the step.
 */
function sendFiles(runtime: unknown, step: Step, paths: string[]): void {
  const send = lent<Send>(runtime, "__pregel_send");
  if (!send) throw new Error(OUTSIDE);
  send([["files", step.sending(paths)]]);
}

/** The state of the running graph as a channel of files. */
function channelOf(runtime: unknown): Channel {
  return {
    read: () => currentStep(runtime).files(),
    send(update) {
      const step = currentStep(runtime);
      step.note(update);
      sendFiles(runtime, step, Object.keys(update));
    },
  };
}

/** Files in the state of whatever graph is running: checkpointed with its thread. */
export function stateBackend(options?: Omit<StateBackendOptions, "channel" | "files">) {
  // A new mirror each time: one that outlives a call would compare states of different threads.
  return (runtime?: unknown) => new StateBackend({ ...options, channel: channelOf(runtime) });
}

/** Files in the store of whatever graph is running. */
export function storeBackend(options?: Omit<StoreBackendOptions, "store">) {
  return (runtime?: unknown) => {
    const known = configs(runtime);
    const first = <K extends keyof Config>(name: K): Config[K] | undefined =>
      known.map((one) => one[name]).find((value) => value !== undefined && value !== null);
    const store = first("store") as StoreLike | undefined;
    if (!store) throw new Error("storeBackend() needs a graph that was compiled with a store");
    // Who calls is settled here, where the call begins.
    return new StoreBackend(
      {
        store,
        state: first("state") ?? currentInput(),
        config: { metadata: first("metadata"), configurable: first("configurable") },
        context: first("context"),
        serverInfo: first("serverInfo"),
        executionInfo: first("executionInfo"),
      },
      options,
    );
  };
}

function currentInput(): unknown {
  try {
    return getCurrentTaskInput();
  } catch {
    // Outside a graph, or in a browser.
    return undefined;
  }
}

/** The runtime that our own tools were called with, which knows more than LangGraph's own record. */
const called = contextStorage<Config>();

/** Does work for a call of a tool, so that backends can ask for the store, config and context. */
export function inGraph<T>(runtime: unknown, work: () => T): T {
  return called && typeof runtime === "object" && runtime !== null
    ? called.run(runtime as Config, work)
    : work();
}

provideGraphContext(() => {
  const given = called?.getStore();
  const known = configs(given);
  const [config] = known;
  if (config === undefined) return undefined;
  const first = (name: keyof Config): unknown =>
    known.map((one) => one[name]).find((value) => value !== undefined && value !== null);
  return {
    store: first("store"),
    config: { metadata: first("metadata"), configurable: first("configurable") },
    state: first("state") ?? currentInput(),
    runtime: {
      context: first("context"),
      serverInfo: first("serverInfo"),
      executionInfo: first("executionInfo"),
    },
  };
});

/** A tool's runtime for a backend over its `state`. */
export interface Lent {
  runtime: unknown;
  /** Sends the changes that such a backend handed back; absent where no graph takes them. */
  send?(update: Update): void;
}

/** Lends a runtime whose state shows what other calls of the same step have changed. */
export function lend(runtime: Config, state: unknown): Lent {
  if (typeof state !== "object" || state === null) return { runtime };
  let step: Step;
  try {
    step = currentStep(runtime);
  } catch {
    // No graph, or one that keeps no files.
    return { runtime };
  }
  const noted = new Set<string>();
  const note = (update: Update) => {
    for (const path of Object.keys(update)) noted.add(path);
    step.note(update);
  };
  const seen = Object.defineProperty({ ...state }, "files", {
    get: () => step.files(),
    enumerable: true,
  });
  shareState(seen, { files: () => step.files(), note });
  return {
    runtime: { ...runtime, state: seen },
    send(update) {
      // A backend that is not ours tells of its changes only here.
      for (const [path, file] of Object.entries(update)) {
        if (!noted.has(path)) note({ [path]: file });
      }
      sendFiles(runtime, step, Object.keys(update));
    },
  };
}
