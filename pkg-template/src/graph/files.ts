// The files of running graphs, for one StateBackend: what wasm asks at the start of each operation.
// A graph's files are mirrored in memory of wasm's, a copy for each thread, and a copy is brought
// up to date before every use. So which copy serves is a matter of speed alone, and a backend
// never shows one thread's files to another.

import { own } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import { rawFile, removeFile, setFile } from "../memory.js";
import { Mirror } from "../mirror.js";
import type { Failure } from "../types.js";
import { changeFiles, type Graph, NoFiles, outOfReach, runningGraph, stepIn } from "./running.js";

/** Copies kept for each backend; those used last. */
const KEPT = 64;

const OWN_MEMORY =
  '`new StateBackend({ scope: "instance" })` has a memory of its own, which all threads share';

/** A copy of the files of one thread. */
class Copy {
  readonly handle: number;
  readonly mirror: Mirror;
  #graph: Graph | undefined;

  constructor(handle: number) {
    own(this, handle);
    this.handle = handle;
    const channel = {
      read: () => this.#graph && stepIn(this.#graph).files(),
      send: (update: Parameters<typeof changeFiles>[1]) =>
        this.#graph && changeFiles(this.#graph, update),
    };
    const store = {
      set: (path: string, file: unknown) => setFile(handle, path, file),
      remove: (path: string) => removeFile(handle, path),
    };
    this.mirror = Mirror.ofChannel(channel, store, (path) => rawFile(handle, path));
  }

  /** Works on behalf of a graph. It is not kept: it would keep a state alive that is over. */
  of(graph: Graph, work: (mirror: Mirror) => Failure | undefined): void {
    this.#graph = graph;
    let failure: Failure | undefined;
    try {
      failure = work(this.mirror);
    } finally {
      this.#graph = undefined;
    }
    if (failure) throw (failure as { cause?: unknown }).cause ?? new Error(failure.error);
  }
}

/** What wasm is given by a StateBackend that may meet graphs. It must not hold that backend. */
export class GraphFiles {
  readonly #make: () => number;
  /** By thread, the one used last at the end. */
  readonly #copies = new Map<string, Copy>();

  /** `make` makes memory for a copy. */
  constructor(make: () => number) {
    this.#make = make;
  }

  /** The copy of the files of the graph that runs, up to date; 0 outside of a graph. */
  current(): number {
    const graph = runningGraph();
    if (!graph) {
      if (!outOfReach()) return 0;
      throw new Error(
        `a tool was called with a state, but not with the graph that it belongs to. Pass a function to the tools, \`(runtime) => new StateBackend(runtime)\`, or stateBackend() of kitbag/langchain; ${OWN_MEMORY}`,
      );
    }
    const copy = this.#copyOf(graph.line);
    try {
      copy.of(graph, (mirror) => mirror.sync());
    } catch (error) {
      if (!(error instanceof NoFiles)) throw error;
      throw new Error(
        `${error.message}. kitbagMiddleware() of kitbag/langchain adds them, as createDeepAgent() does; ${OWN_MEMORY}`,
        { cause: error },
      );
    }
    return copy.handle;
  }

  /** Tells the files of the graph that runs from those of others; 0 outside of a graph. */
  number(): number {
    try {
      const graph = runningGraph();
      return graph ? stepIn(graph).number : 0;
    } catch {
      // The operation itself will be told.
      return 0;
    }
  }

  /** Files of a copy were changed; hands that to the graph's state. */
  changed(handle: number, deleted: boolean, paths: string[]): void {
    const graph = runningGraph();
    const copy = graph && this.#copies.get(graph.line);
    if (!graph || copy?.handle !== handle) {
      throw new Error("the graph ended while its files were changed");
    }
    copy.of(graph, (mirror) => mirror.handOn(paths, deleted));
  }

  #copyOf(line: string): Copy {
    const known = this.#copies.get(line);
    if (known) {
      this.#copies.delete(line);
      this.#copies.set(line, known);
      return known;
    }
    const made = new Copy(enter(this.#make));
    this.#copies.set(line, made);
    const [oldest] = this.#copies;
    if (this.#copies.size > KEPT && oldest) {
      this.#copies.delete(oldest[0]);
      enter(() => glue.handle_drop(oldest[1].handle));
    }
    return made;
  }
}
