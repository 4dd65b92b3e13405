// StateBackend: files in memory, with synchronous results. There are four kinds. Without arguments
// it uses the state of the running graph, and its own memory outside of graphs. With `files` it
// has its own memory. Over a caller's state (`new StateBackend(runtime)`), or over a channel that
// reads the state and receives changes, it mirrors that state. The first kind finds its graph in
// WebAssembly, below the handle: see `graph/files.ts`.

import { limitOf, now, received } from "../core/call.js";
import {
  callOptions,
  isRecord,
  kindOf,
  messageOf,
  olderForm,
  optionNames,
  refused,
} from "../core/checks.js";
import { findsGraphs } from "../core/context.js";
import { deprecated } from "../core/deprecated.js";
import { StateGiven } from "../core/descriptions.js";
import { create, take, type Values } from "../core/given.js";
import { disposable, handleOf, methodsOnly, own, release, sealClass } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import { rawFile, removeFile, setFile } from "../core/memory.js";
import { Op } from "../core/operations.js";
import { fileData } from "../core/results.js";
import { textOf } from "../core/text-of.js";
import { GraphFiles } from "../graph/files.js";
import { type Channel, Mirror } from "../graph/mirror.js";
import type {
  BackendProtocolV2,
  CallOptions,
  Capability,
  DeleteResult,
  FileData,
  FileInput,
  FileUploadResponse,
  GlobResult,
  GrepOptions,
  GrepResult,
  ReadTextResult,
  WriteResult,
} from "../types.js";
import { addMethods, type Call, calls, capabilityOf, resultOf, started } from "./backend.js";
import type { FileMethods } from "./methods.js";

/** Options of StateBackend. */
export interface StateBackendOptions {
  /** Initial files, by path. */
  files?: Record<string, FileInput>;
  /** What `write` does if the file exists: fail (`"create"`, the default) or replace it. */
  writeMode?: "create" | "overwrite";
  /**
   * Form of new text files in `readRaw`, `snapshot` and `filesUpdate`: one string (`"v2"`, the
   * default) or an array of lines (`"v1"`).
   */
  fileFormat?: "v1" | "v2";
  /** Most bytes of all files together; more is refused. Default 1 GiB, at most 2 GiB. */
  maxBytes?: number;
  /** Reads and updates a state elsewhere, which then has the files. Default: none. */
  channel?: Channel;
  /**
   * Which files the backend uses inside a running LangGraph graph. `"graph"` (the default): those
   * of the graph's state, separately for each thread; if that state has no `files`, calls fail.
   * `"instance"`: those of this object, shared by all threads. With `files`, `channel` or a runtime
   * the backend never uses the running graph.
   */
  scope?: "graph" | "instance";
}

/** deepagents' older constructor: each call reads `state.files`, results return the changes. */
export interface StateRuntime {
  /** State of the graph, with its `files`. */
  state: unknown;
}

/** Options that belong into the second argument where the first is a runtime. */
const OPTIONS = ["files", "writeMode", "fileFormat", "maxBytes", "channel", "scope"];

type Form = Values<typeof StateGiven>;

/** Outside of the class, so that the closure does not keep an instance alive. */
const maker = (form: Form) => () => create("StateBackend", StateGiven, form, glue.state_new);

/** Its methods, which `addMethods` puts on the prototype. */
export interface StateBackend extends FileMethods<"now"> {}

/**
 * Files in memory. Every method returns its result and not a promise. Inside a running LangGraph
 * graph, a backend without options works on the files of the graph's state; see `scope`.
 *
 * @example
 * const files = new StateBackend({ files: { "/notes.txt": "milk\n" } });
 * const { content } = files.read("/notes.txt");
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the methods are added to the prototype
export class StateBackend implements BackendProtocolV2 {
  readonly #mirror: Mirror | undefined;
  readonly #graphs: GraphFiles | undefined;

  /**
   * deepagents' older form: results return the changes in `filesUpdate`.
   *
   * @deprecated Inside a graph use `new StateBackend()`, which finds the graph by itself; for a
   * state of your own use the option `channel`.
   */
  constructor(runtime: StateRuntime, options?: StateBackendOptions);
  /** Throws a `TypeError` that names the option, or the file, that is wrong. */
  constructor(options?: StateBackendOptions);
  constructor(first?: StateBackendOptions | StateRuntime, second?: StateBackendOptions) {
    const runtime = runtimeOf(first);
    // Without AsyncLocalStorage, as in a browser, there is no other way with deepagents' own tools.
    if (runtime && findsGraphs()) {
      deprecated(
        "`new StateBackend(runtime)` is deprecated. Pass `new StateBackend()`, which finds the running graph, or the option `channel` for your own state.",
      );
    }
    const options = olderForm("StateBackend", runtime, first, second, OPTIONS);
    const values = take(options, StateGiven);
    const channel = options.object("channel") as Channel | undefined;
    if (channel && !isChannel(channel)) {
      options.refuse("channel", "an object with read() and send(update)", channel);
    }
    const files = options.record("files", '{ "/a.txt": "text" }');
    const scope = options.oneOf("scope", ["graph", "instance"], "graph");
    options.done();
    const form: Form = { ...values, graphs: undefined };
    if (!runtime && !channel && !files && scope === "graph") {
      const graphs = new GraphFiles(maker(form));
      own(this, maker({ ...form, graphs })());
      this.#graphs = graphs;
      return;
    }
    const handle = maker(form)();
    own(this, handle);
    const store = {
      set: (path: string, file: unknown) => setFile(handle, path, file, true),
      remove: (path: string) => removeFile(handle, path),
    };
    const raw = (path: string) => rawFile(handle, path);
    if (runtime) this.#mirror = Mirror.ofRuntime(runtime, store, raw);
    else if (channel) this.#mirror = Mirror.ofChannel(channel, store, raw);
    // A mirror reads the caller's state before each call; the handle alone would skip that.
    if (this.#mirror) methodsOnly(this);
    if (files) this.#fill(files, "files");
  }

  /** What this backend guarantees and supports. */
  get capability(): Capability {
    return capabilityOf(handleOf(this));
  }

  /**
   * Reads a whole text file, of whatever length. A binary file fails with `unsupported`, a missing one
   * with `not_found`.
   */
  readText(filePath: string): ReadTextResult {
    return textOf(filePath, this.readRaw(filePath));
  }

  /**
   * Searches as `grep` does, with a promise: every few milliseconds other work of the page or process
   * goes on, such as drawing. Files are searched in the order of their paths, each as it is when the
   * search comes to it: of one that is changed meanwhile, the old text is found or the new one.
   *
   * @param pattern As of `grep`, as are the other parameters.
   * @param options `signal` ends the search with the next pause.
   * @example
   * const { matches } = await files.grepAsync("TODO", "/", "*.ts", { signal });
   */
  grepAsync(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | GrepOptions | null,
    options?: GrepOptions,
  ): Promise<GrepResult> {
    return this.#later(calls.grep(pattern, path, glob, maxCount, options));
  }

  /** Finds files as `glob` does, with a promise, among the files as they are when the call is made. */
  globAsync(pattern: string, path?: string, options?: CallOptions): Promise<GlobResult> {
    return this.#later(calls.glob(pattern, path, options));
  }

  /** Returns every file as it is stored, with its times. Pass the record to `restore` to undo. */
  snapshot(): Record<string, FileData> {
    const stale = this.#mirror?.sync();
    if (stale) throw new Error(stale.error);
    const handle = this.#graphs?.current() || handleOf(this);
    enter(() => glue.state_snapshot(handle));
    const answer = received((reply) => {
      const files: Record<string, FileData> = {};
      const count = reply.u32();
      for (let at = 0; at < count; at++) {
        const path = reply.text();
        files[path] = fileData(reply);
      }
      return { files };
    });
    if (!("files" in answer)) throw new Error(answer.error);
    enter(() => glue.reply_done());
    return answer.files;
  }

  /**
   * Replaces all files by those of `record`. Throws if a file cannot be stored; the files are then
   * unchanged. Not for files of a caller's state or of a running graph.
   */
  restore(record: Record<string, FileInput>): void {
    if (this.#mirror || this.#graphs?.current()) {
      throw new TypeError(
        "StateBackend: restore() is for files of the backend itself, not of a state or of a graph",
      );
    }
    if (!isRecord(record)) {
      throw new TypeError(
        `StateBackend: restore() takes an object such as { "/a.txt": file }, not ${kindOf(record)}`,
      );
    }
    const before = this.snapshot();
    enter(() => glue.state_clear(handleOf(this)));
    try {
      this.#fill(record, "restore");
    } catch (error) {
      enter(() => glue.state_clear(handleOf(this)));
      this.#fill(before, "restore");
      throw error;
    }
  }

  static {
    // biome-ignore lint/complexity/noThisInStatic: bundlers rename a class that names itself, and users see the name
    addMethods(this.prototype, (self, call) => self.#now(call));
  }

  #now<T>(call: Call<T>): T {
    const handle = handleOf(this);
    let limit: number | undefined;
    const refusal =
      this.#mirror?.sync() ??
      // Most calls have no options, and are too short to read some.
      (call.options === undefined
        ? undefined
        : refused(() => {
            optionNames(call.operation, call.options);
            limit = limitOf(callOptions(call.options));
          })) ??
      call.write();
    const result = resultOf(call, refusal ?? now(handle, call.operation, call.read, limit));
    return this.#mirror ? this.#mirrored(this.#mirror, call, result) : result;
  }

  /** Sends what a call has changed on to the caller's state. */
  #mirrored<T>(mirror: Mirror, { operation, from }: Call<T>, result: T): T {
    if (operation === Op.uploadFiles) return mirror.uploaded(result as FileUploadResponse[]) as T;
    const { path } = result as WriteResult;
    if (path === undefined) return result;
    switch (operation) {
      case Op.write:
      case Op.edit:
      case Op.append:
        return mirror.changed(result as WriteResult, path) as T;
      case Op.delete:
        return mirror.deleted(result as DeleteResult, path) as T;
      case Op.move:
      case Op.copy: {
        const below = calls.glob("**", path);
        below.write();
        const there = now(handleOf(this), below.operation, below.read) as GlobResult;
        // A search below a file finds nothing.
        const paths = [path, ...(there.files ?? []).map((file) => file.path)];
        const moved = operation === Op.move ? from : undefined;
        return mirror.transferred(result as WriteResult, paths, moved) as T;
      }
      default:
        return result;
    }
  }

  /** The same with a promise. */
  #later<T>(call: Call<T>): Promise<T> {
    return started(this, { ...call, write: () => this.#mirror?.sync() ?? call.write() });
  }

  /**
   * Frees the files, at once; otherwise garbage collection does. Later calls return `unavailable`.
   * Also called at the end of a block by `using backend = …`.
   */
  dispose(): void {
    release(this);
  }

  #fill(files: Record<string, unknown>, name: string): void {
    let entries: Array<[string, unknown]>;
    try {
      entries = Object.entries(files);
    } catch (error) {
      throw new TypeError(`StateBackend: ${name} could not be read: ${messageOf(error)}`, {
        cause: error,
      });
    }
    // Files that are given together are equally old, so that a listing by age has one order.
    const at = new Date().toISOString();
    for (const [path, file] of entries) {
      const refusal = setFile(handleOf(this), path, file, false, at);
      if ("error" in refusal) {
        throw new TypeError(
          `StateBackend: ${name}[${JSON.stringify(path)}] cannot be stored: ${refusal.error}`,
        );
      }
    }
  }
}

sealClass(StateBackend);
disposable(StateBackend.prototype);

/** False also for an object whose getters throw. */
function isChannel(channel: Channel): boolean {
  try {
    return typeof channel.read === "function" && typeof channel.send === "function";
  } catch {
    return false;
  }
}

function runtimeOf(first: unknown): StateRuntime | undefined {
  let found = false;
  const bad = refused(() => {
    found = typeof first === "object" && first !== null && "state" in first;
  });
  if (bad) throw new TypeError(`StateBackend: the first argument could not be read: ${bad.error}`);
  return found ? (first as StateRuntime) : undefined;
}
