// The asynchronous context of a call, as AsyncLocalStorage defines it. A call that waits for a lock
// in WebAssembly is woken by the previous holder, which may belong to another user. So each call
// keeps its own context and continues in it. No host module is imported: browsers have no
// AsyncLocalStorage, and kitbag works there without it.

/** Runs a function in a captured context. */
export type InContext = <T>(work: () => T) => T;

/** The methods of AsyncLocalStorage that are used. */
export interface ContextStorage<V> {
  run<T>(value: V, work: () => T): T;
  getStore(): V | undefined;
}

interface Host {
  AsyncContext?: { Snapshot?: new () => { run<T>(work: () => T): T } };
  process?: { getBuiltinModule?(name: string): unknown };
}

interface StorageClass {
  new (): ContextStorage<never>;
  snapshot?(): InContext;
}

interface ResourceClass {
  new (type: string): { runInAsyncScope: InContext };
}

/** What is used of the host's module. */
interface Hooks {
  AsyncLocalStorage?: StorageClass;
  AsyncResource?: ResourceClass;
}

// Looked up once, at load: a sandbox may hide the module from the code that runs in it.
const { AsyncLocalStorage: storageClass, AsyncResource: resourceClass } = found();

function found(): Hooks {
  try {
    const { process } = globalThis as Host;
    const hooks = process?.getBuiltinModule?.("node:async_hooks") as Hooks | undefined;
    const { AsyncLocalStorage, AsyncResource } = hooks ?? {};
    // A snapshot takes Node 2 to 18 µs and a resource 0.1, Bun half as long; Deno takes longer for one.
    const other = ["Deno", "WebSocketPair"].some((name) => name in globalThis);
    return other || !AsyncResource ? { AsyncLocalStorage } : { AsyncLocalStorage, AsyncResource };
  } catch {
    // A Worker without Node's modules.
    return {};
  }
}

/** Whether a continuation of a promise runs in the context in which it was given, as the host sees to it. */
export const follows = storageClass !== undefined;

const asItIs: InContext = (work) => work();

/** The runtime that a tool was called with, and the running graph at that time. */
export interface ToolCalled {
  readonly runtime: object;
  /** Compared later to detect whether another graph started inside the call. */
  readonly outer: unknown;
}

/** Storage of the current tool call. */
interface Calls {
  /** Undefined without AsyncLocalStorage: only synchronous code then sees `current`. */
  storage: ContextStorage<ToolCalled> | undefined;
  current: ToolCalled | undefined;
}

// Shared by all copies of this module, because each bundle of the package has one.
const calls = shared<Calls>("kitbag.calls", () => ({
  storage: contextStorage<ToolCalled>(),
  current: undefined,
}));

/** Returns an object that all copies of a module share, by name. */
export function shared<T extends object>(name: string, make: () => T): T {
  const key = Symbol.for(name);
  const known = Reflect.get(globalThis, key) as T | undefined;
  if (known) return known;
  const made = make();
  // With a frozen global object nothing is stored, and each copy has its own object.
  Reflect.set(globalThis, key, made);
  return made;
}

/** The current tool call. */
export function toolCalled(): ToolCalled | undefined {
  return calls.storage ? calls.storage.getStore() : calls.current;
}

/** Runs `work` as part of a tool call. */
export function onBehalf<T>(call: ToolCalled | undefined, work: () => T): T {
  if (calls.storage) return call ? calls.storage.run(call, work) : work();
  const before = calls.current;
  calls.current = call;
  try {
    return work();
  } finally {
    calls.current = before;
  }
}

/** Captures the current context, to continue in it later. */
export function contextHere(): InContext {
  const Snapshot = (globalThis as Host).AsyncContext?.Snapshot;
  if (typeof Snapshot === "function" && calls.storage) {
    const taken = new Snapshot();
    return (work) => taken.run(work);
  }
  if (resourceClass) {
    const taken = new resourceClass("kitbag");
    return (work) => taken.runInAsyncScope(work);
  }
  const taken = storageClass?.snapshot?.();
  if (taken) return taken;
  const call = toolCalled();
  const running = langchainStorage();
  if (running) {
    const store = running.getStore();
    return (work) => running.run(store, () => onBehalf(call, work));
  }
  return call || !calls.storage ? (work) => onBehalf(call, work) : asItIs;
}

const LANGCHAIN: unique symbol = Symbol.for("ls:tracing_async_local_storage");

/** The storage in which LangChain keeps the running task, if the runtime has one. */
export function langchainStorage(): ContextStorage<unknown> | undefined {
  // Each call comes here: `Reflect.get` takes a tenth of a microsecond.
  return (globalThis as { [LANGCHAIN]?: ContextStorage<unknown> })[LANGCHAIN];
}

/** Whether a bare backend can find the running graph by itself. */
export function findsGraphs(): boolean {
  return storageClass !== undefined || langchainStorage() !== undefined;
}

/** A new AsyncLocalStorage, if the runtime has the class. */
export function contextStorage<V>(): ContextStorage<V> | undefined {
  return storageClass && (new storageClass() as ContextStorage<unknown> as ContextStorage<V>);
}
