// The files of running graphs, for one StateBackend: what WebAssembly asks at the start of each
// operation. A graph's files are mirrored in memory, one copy per thread, and a copy is updated
// before every use. So the choice of the copy affects only speed, and a backend never shows one
// thread's files to another.

import { own } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import { rawFile, removeFile, setFile } from "../core/memory.js";
import type { Failure } from "../types.js";
import { Mirror } from "./mirror.js";
import { changeFiles, type Graph, NoFiles, outOfReach, runningGraph, stepIn } from "./running.js";

/** Most copies per backend; the least recently used one is dropped. */
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
      set: (path: string, file: unknown) => setFile(handle, path, file, true),
      remove: (path: string) => removeFile(handle, path),
    };
    this.mirror = Mirror.ofChannel(channel, store, (path) => rawFile(handle, path));
  }

  /** Runs `work` for a graph. The graph is not kept, as that would keep its state alive. */
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

/** Called by WebAssembly for a StateBackend. It must not reference that backend. */
export class GraphFiles {
  readonly #make: () => number;
  /** Copies by thread, the most recently used one last. */
  readonly #copies = new Map<string, Copy>();

  /** `make` creates the memory of a copy. */
  constructor(make: () => number) {
    this.#make = make;
  }

  /** The updated copy of the running graph's files; 0 outside of a graph. */
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

  /** Identifies the step whose files are used; 0 outside of a graph. */
  number(): number {
    try {
      const graph = runningGraph();
      return graph ? stepIn(graph).number : 0;
    } catch {
      // The operation itself will report the error.
      return 0;
    }
  }

  /** Sends changed files of a copy on to the graph's state. */
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
