// StoreBackend: files in a LangGraph store, where each tenant has a namespace. If the namespace is
// a function, or the store is that of the running graph, each call can be for other files. Such a
// backend then selects the backend for its store and namespace at the start of every call.

import chunk from "#chunk/store";
import { received } from "../core/call.js";
import { BadArgument, messageOf, type Options, olderForm } from "../core/checks.js";
import { findsGraphs } from "../core/context.js";
import { deprecated } from "../core/deprecated.js";
import { StoreGiven } from "../core/descriptions.js";
import { pack, type Taken, take } from "../core/given.js";
import { handleOf, sealClass } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import { FILE_METHODS } from "../core/operations.js";
import { type GraphRuntime, graphContext } from "../graph/context.js";
import { Backend, capabilityOf } from "./backend.js";

/** The methods of LangGraph's `BaseStore` that StoreBackend uses. */
export interface StoreLike {
  // biome-ignore-start lint/suspicious/noExplicitAny: stores differ in their types
  /** Returns an item, or null. */
  get(namespace: string[], key: string): any;
  /** Stores an item. */
  put(namespace: string[], key: string, value: Record<string, any>): any;
  /** Deletes an item. */
  delete(namespace: string[], key: string): any;
  /** Returns items of a namespace, page by page. */
  search(
    namespacePrefix: string[],
    options?: {
      /** Most items to return. */
      limit?: number;
      /** Items to skip, counted from 0. */
      offset?: number;
    },
  ): any;
  /** Runs several operations in one request. */
  batch?(operations: any): any;
  // biome-ignore-end lint/suspicious/noExplicitAny: stores differ in their types
}

/** Argument of a namespace function: the runtime of the running graph. */
export interface NamespaceRuntime extends GraphRuntime {
  /** @deprecated Read `context` instead. */
  // biome-ignore lint/suspicious/noExplicitAny: the author of a graph defines its state
  readonly state?: any;
  /** @deprecated Read `executionInfo` instead. */
  readonly config?: GraphConfig;
  /** @deprecated Read `serverInfo` instead. */
  readonly assistantId?: string;
  /** @deprecated This object is the runtime. */
  readonly runtime: GraphRuntime;
}

/** @deprecated deepagents' earlier name for the argument of a namespace function. */
export interface BackendContext extends NamespaceRuntime {}

/** A function that returns the namespace of a call, as the option `namespace` takes it. */
export type NamespaceFactory = (runtime: NamespaceRuntime) => readonly string[];

/** The parts of a run's configuration that name its assistant. */
interface GraphConfig {
  /** Metadata of the run, such as `assistant_id`. */
  metadata?: Record<string, unknown>;
  /** Configurable values of the run, such as `thread_id`. */
  configurable?: Record<string, unknown>;
}

/** The tenant: parts, the same for every call, or a function that is called at each call. */
export type StoreNamespace = readonly string[] | NamespaceFactory;

/** Options of StoreBackend. */
export interface StoreBackendOptions {
  /** The store. Default: the store of the running graph. */
  store?: StoreLike;
  /**
   * The tenant. Parts consist of letters, digits and `- _ . @ + : ~`. Without it all users of an
   * assistant share their files, and a warning says so.
   */
  namespace?: StoreNamespace;
  /** Form of new text files: one string (`"v2"`, the default) or an array of lines (`"v1"`). */
  fileFormat?: "v1" | "v2";
  /** What `write` does if the file exists: fail (`"create"`, the default) or replace it. */
  writeMode?: "create" | "overwrite";
  /**
   * How bytes are stored: as base64 with `encoding` (`"base64"`, the default), which every store
   * keeps, or as a `Uint8Array` (`"raw"`), for stores that can keep one.
   */
  binary?: "base64" | "raw";
}

/** Marks what `storeBackend()` of `kitbag/langchain` found out about the caller. */
const CALLER = Symbol.for("kitbag.caller");

/** Argument of deepagents' older constructor. */
export interface StateAndStore {
  /** State of the graph. */
  state: unknown;
  /** The store. Default: the store of the running graph. */
  store?: StoreLike;
  /** Assistant whose files are used if there is no `namespace`. */
  assistantId?: string;
  /** Configuration of the run; default: that of the running graph. */
  config?: unknown;
  /** `context` of the runtime; default: that of the running graph. */
  context?: GraphRuntime["context"];
  /** `serverInfo` of the runtime; default: that of the running graph. */
  serverInfo?: GraphRuntime["serverInfo"];
  /** `executionInfo` of the runtime; default: that of the running graph. */
  executionInfo?: GraphRuntime["executionInfo"];
}

/** Options that belong into the second argument where the first is a state. */
const OPTIONS = ["namespace", "fileFormat", "writeMode", "binary"];

type Form = Taken<typeof StoreGiven>;

/** The backend for one store, namespace and form. */
class Bound extends Backend {}
sealClass(Bound);

function handleFor(store: object, namespace: readonly string[], form: Form): number {
  chunk.load();
  const { length, hosts } = pack("StoreBackend", StoreGiven, { ...form, store, namespace });
  enter(() => glue.store_new(length, hosts));
  const answer = received((reply) => ({ handle: reply.u32() }));
  if (!("handle" in answer)) throw new BadArgument(answer.error);
  return answer.handle;
}

/** Shares one backend per store, namespace and form, so that all its users wait for each other. */
const bound = new WeakMap<object, Map<string, WeakRef<Bound>>>();

function boundTo(store: StoreLike, namespace: readonly string[], form: Form): Bound {
  let known = bound.get(store);
  if (!known) {
    known = new Map();
    bound.set(store, known);
  }
  const key = JSON.stringify([namespace, form]);
  const before = known.get(key)?.deref();
  if (before) return before;
  for (const [old, ref] of known) if (ref.deref() === undefined) known.delete(old);
  const made = new Bound(handleFor(store, namespace, form));
  known.set(key, new WeakRef(made));
  return made;
}

/**
 * Files in a LangGraph store, each an item of the namespace.
 *
 * @example
 * const memories = new StoreBackend({ namespace: ({ context }) => [context.userId, "memories"] });
 */
export class StoreBackend extends Backend {
  /** Keeps the shared backend alive as long as this object. */
  protected readonly kept: unknown;

  /**
   * deepagents' older form.
   *
   * @deprecated Use `new StoreBackend({ namespace, store })`; without `store` it finds that of the
   * running graph.
   */
  constructor(given: StateAndStore, options?: StoreBackendOptions);
  /** Throws a `TypeError` that names the wrong option. The store is not asked yet. */
  constructor(options?: StoreBackendOptions);
  constructor(first?: StoreBackendOptions | StateAndStore, second?: StoreBackendOptions) {
    const older =
      typeof first === "object" && first !== null && "state" in first
        ? (first as StateAndStore)
        : undefined;
    if (older && !(CALLER in older) && findsGraphs()) {
      deprecated(
        "`new StoreBackend(runtime)` is deprecated. Pass `new StoreBackend({ namespace })` itself as the backend: it finds the store of the running graph.",
      );
    }
    const options = olderForm("StoreBackend", older, first, second, OPTIONS);
    const store = storeOf(options, options.object("store") ?? older?.store);
    const namespace = namespaceOf(options);
    const form = take(options, StoreGiven);
    options.done();
    if (namespace === undefined) warnDefault();
    if (store && Array.isArray(namespace)) {
      let itself: Bound;
      try {
        itself = boundTo(store, namespace, form);
      } catch (error) {
        throw new TypeError(`StoreBackend: ${messageOf(error)}`);
      }
      super(enter(() => glue.store_share(handleOf(itself))));
      this.kept = itself;
      return;
    }
    // This object's own handle is never used for files; every method selects another backend.
    super(handleFor({}, ["unbound"], form));
    const bind = () => {
      const whose = older ?? undefined;
      return boundTo(foundStore(store, whose), foundNamespace(namespace, whose), form);
    };
    for (const name of FILE_METHODS) this.#redirect(name, bind);
    // `perCaller` tells a quota to count the files of each caller.
    const capability = { ...capabilityOf(handleOf(this)), perCaller: true };
    Object.defineProperty(this, "capability", { get: () => ({ ...capability }) });
  }

  #redirect(name: (typeof FILE_METHODS)[number], bind: () => Bound): void {
    const batch = name === "uploadFiles" || name === "downloadFiles";
    const value = async (...args: unknown[]): Promise<unknown> => {
      let target: Bound;
      try {
        target = bind();
      } catch (error) {
        const message = messageOf(error);
        const code = error instanceof BadArgument ? "invalid_argument" : "unavailable";
        if (!batch) return { error: message, code };
        const inputs = Array.isArray(args[0]) ? (args[0] as unknown[]) : [];
        return inputs.map((input) => ({
          path: String(Array.isArray(input) ? input[0] : input),
          ...(name === "downloadFiles" ? { content: null } : {}),
          error: "permission_denied",
          code,
          message,
        }));
      }
      return Reflect.apply(target[name] as (...args: unknown[]) => unknown, target, args);
    };
    // Routers and policies call overridden methods instead of using the handle directly.
    Object.defineProperty(this, name, { value, writable: true, configurable: true });
  }
}

sealClass(StoreBackend);

function storeOf(options: Options, store: unknown): StoreLike | undefined {
  if (store === undefined || store === null) return undefined;
  const methods = ["get", "put", "delete", "search"] as const;
  const sound = methods.every((name) => typeof (store as StoreLike)[name] === "function");
  if (!sound) options.refuse("store", "an object with get, put, delete and search", store);
  return store as StoreLike;
}

function namespaceOf(options: Options): StoreNamespace | undefined {
  const value = options.raw("namespace");
  if (value === undefined || typeof value === "function")
    return value as StoreNamespace | undefined;
  try {
    return checked(value);
  } catch (error) {
    throw new TypeError(`StoreBackend: ${messageOf(error)}`);
  }
}

const PART = /^[A-Za-z0-9\-_.@+:~]+$/;

/** Checks a namespace: no wildcards, no empty parts. */
function checked(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw new BadArgument("namespace must be a non-empty array of strings");
  }
  // A copy, because the caller may change its array later.
  return Array.from(value, (part: unknown, at) => {
    if (typeof part !== "string" || !PART.test(part)) {
      throw new BadArgument(
        `namespace[${at}] must be a non-empty string of letters, digits and - _ . @ + : ~`,
      );
    }
    return part;
  });
}

function foundStore(own: StoreLike | undefined, older: StateAndStore | undefined): StoreLike {
  const store = own ?? older?.store ?? (graphContext()?.store as StoreLike | undefined);
  if (store) return store;
  throw new Error(
    "A store is required: pass `store`, or run inside a graph that was compiled with one; in a browser, where nobody knows which graph runs, use storeBackend() of kitbag/langchain",
  );
}

function foundNamespace(
  namespace: StoreNamespace | undefined,
  older: StateAndStore | undefined,
): readonly string[] {
  if (typeof namespace === "function") {
    let answer: unknown;
    try {
      answer = namespace(runtimeFor(older));
    } catch (error) {
      throw new BadArgument(`namespace() threw: ${messageOf(error)}`);
    }
    return checked(answer);
  }
  if (namespace !== undefined) return namespace;
  const assistant = assistantOf(older);
  return checked(assistant === undefined ? ["filesystem"] : [assistant, "filesystem"]);
}

function configOf(older: StateAndStore | undefined): GraphConfig | undefined {
  return (older?.config ?? graphContext()?.config) as GraphConfig | undefined;
}

function assistantOf(older: StateAndStore | undefined): string | undefined {
  const config = configOf(older);
  const candidates = [
    config?.metadata?.assistant_id,
    config?.metadata?.assistantId,
    config?.configurable?.assistant_id,
    config?.configurable?.assistantId,
    older?.assistantId,
  ];
  return candidates.find((one): one is string => typeof one === "string" && one !== "");
}

/** The runtime, with deprecated properties that warn once when they are read. */
function runtimeFor(older: StateAndStore | undefined): NamespaceRuntime {
  const context = graphContext();
  const running = context?.runtime;
  const runtime: GraphRuntime = {
    context: older?.context ?? running?.context,
    serverInfo: older?.serverInfo ?? running?.serverInfo,
    executionInfo: older?.executionInfo ?? running?.executionInfo,
  };
  const source = { ...older, ...running, ...runtime };
  const old = (read: () => unknown) => ({
    enumerable: false,
    get() {
      deprecated(
        "A namespace function of a StoreBackend read a property that is deprecated (`runtime`, `state`, `config` or `assistantId`); read `context`, `serverInfo` or `executionInfo` instead.",
      );
      return read();
    },
  });
  return Object.defineProperties(runtime, {
    state: old(() => (older ? older.state : context?.state)),
    config: old(() => configOf(older)),
    assistantId: old(() => assistantOf(older)),
    runtime: old(() => source),
  }) as NamespaceRuntime;
}

let warned = false;

function warnDefault(): void {
  if (warned) return;
  warned = true;
  console.warn(
    "StoreBackend: without `namespace` all users of an assistant share the same files. Pass a namespace, such as (runtime) => [runtime.context.userId].",
  );
}
