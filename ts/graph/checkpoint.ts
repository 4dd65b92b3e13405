// `checkpoint: "pin"` of kitbag's middleware: the state of a graph has the pin of the files instead of
// the files. A run that goes on from an earlier checkpoint gets the files of then.
//
// Which pin is the thread's last one is kept as a label of the pin, so that every process knows it. It
// moves on when a model is called: then the pins of all tool calls of the step are in the state.

import type { Failure } from "../types.js";
import { type RunConfig, runningGraph } from "./running.js";

/** What a backend has that can be pinned: that of `withHistory`. */
export interface World {
  pin(): Promise<{ pin: string } | Failure>;
  restore(path: string, pin: string): Promise<object | Failure>;
  label(label: string, pin: string): Promise<object | Failure>;
  labelled(label: string): Promise<{ pin: string } | Failure>;
}

/** The key of the pin in the state of a graph. */
export const PIN = "filesPin";

/**
 * The later one of two pins in the state, which begin with the time in base 36: of several calls in one
 * step the last one counts.
 */
export function laterPin(current: string | undefined, update: string | undefined): string {
  const time = (pin: string | undefined) => Number.parseInt(pin?.split("-")[0] || "0", 36);
  return (time(update) >= time(current) ? update : current) ?? "";
}

const nameOf = (pin: string): string => pin.split("-")[1] ?? "";

/** A backend as a world; throws if it is none. */
export function worldOf(backend: unknown): World {
  const needed = ["pin", "restore", "label", "labelled"] as const;
  const found = backend as Partial<World> | null;
  if (typeof found === "object" && needed.every((name) => typeof found?.[name] === "function")) {
    return found as World;
  }
  throw new TypeError(
    'kitbagMiddleware: option "checkpoint": "pin" needs a backend that withHistory() of kitbag/history made',
  );
}

function sure<T extends object>(what: string, answer: T | Failure): T {
  if (!("error" in answer) || answer.error === undefined) return answer as T;
  throw new Error(`kitbagMiddleware: ${what}: ${(answer as Failure).error}`);
}

interface Thread {
  /** The pins that were made here since a model was called. */
  made: Set<string>;
  /** Calls wait for each other. */
  queue: Promise<unknown>;
  /** How many have not ended. */
  calls: number;
}

/** Most threads that are remembered. One that is forgotten goes on as one of another process does. */
const THREADS = 1_000;

/** The pins of all threads of a middleware. */
export class Pins {
  readonly #world: World;
  readonly #threads = new Map<string, Thread>();
  #last = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** The label of a thread; undefined outside of one. */
  #label(runtime: unknown): string | undefined {
    const found = runtime as RunConfig | undefined;
    const config = found?.configurable ?? found?.config?.configurable;
    const graph = runningGraph(runtime);
    const id = config?.thread_id;
    if (graph) return JSON.parse(graph.line)[0] === undefined ? undefined : `thread ${graph.line}`;
    return id === undefined ? undefined : `thread ${JSON.stringify([id, []])}`;
  }

  #thread(label: string): Thread {
    const fresh = { made: new Set<string>(), queue: Promise.resolve(), calls: 0 };
    const known = this.#threads.get(label) ?? fresh;
    // The one that was used last is the last one here.
    this.#threads.delete(label);
    for (const [other, { calls }] of this.#threads) {
      if (this.#threads.size < THREADS) break;
      if (calls === 0) this.#threads.delete(other);
    }
    this.#threads.set(label, known);
    return known;
  }

  /** Runs work of a thread after that which began before. */
  #inTurn<T>(label: string, work: (thread: Thread) => Promise<T>): Promise<T> {
    const thread = this.#thread(label);
    thread.calls += 1;
    const done = thread.queue.then(() => work(thread));
    const ended = () => {
      thread.calls -= 1;
      if (thread.calls === 0 && thread.made.size === 0) this.#threads.delete(label);
    };
    thread.queue = done.then(ended, ended);
    return done;
  }

  async #made(): Promise<string> {
    const { pin } = sure("the files could not be pinned", await this.#world.pin());
    this.#last = Math.max(Date.now(), this.#last + 1);
    return `${this.#last.toString(36)}-${pin}`;
  }

  /**
   * Before a model or a tool is called: gives the files what the checkpoint says, if it is not the last
   * one of its thread.
   */
  check(state: unknown, runtime: unknown, moveOn: boolean): Promise<void> {
    const value = (state as Record<string, unknown> | undefined)?.[PIN];
    const label = this.#label(runtime);
    if (typeof value !== "string" || value === "" || !label) return Promise.resolve();
    return this.#inTurn(label, async ({ made }) => {
      const pin = nameOf(value);
      const head = await this.#world.labelled(label);
      if ("error" in head && head.code !== "not_found") sure("the last pin is not known", head);
      const last = "pin" in head ? head.pin : undefined;
      if (last === pin) return;
      const isNext = last === undefined || made.has(pin);
      if (isNext && !moveOn) return;
      if (!isNext) {
        const restored = await this.#world.restore("/", pin);
        sure("the files of this checkpoint could not be restored", restored);
      }
      sure("the last pin could not be noted", await this.#world.label(label, pin));
      made.clear();
    });
  }

  /** Whether a run begins: the state has no pin, or the last message is a person's. */
  static begins(state: unknown, messages: ReadonlyArray<{ getType(): string }>): boolean {
    const value = (state as Record<string, unknown> | undefined)?.[PIN];
    return typeof value !== "string" || value === "" || messages.at(-1)?.getType() === "human";
  }

  /** Notes that a pin is the last one of its thread. */
  moveOn(value: string, runtime: unknown): Promise<void> {
    const label = this.#label(runtime);
    if (!label) return Promise.resolve();
    return this.#inTurn(label, async ({ made }) => {
      const noted = await this.#world.label(label, nameOf(value));
      sure("the last pin could not be noted", noted);
      made.clear();
    });
  }

  /** Pins the files; returns the value for the state. */
  pin(runtime: unknown): Promise<string> {
    const label = this.#label(runtime);
    if (!label) return this.#made();
    return this.#inTurn(label, async ({ made }) => {
      const value = await this.#made();
      made.add(nameOf(value));
      return value;
    });
  }
}
