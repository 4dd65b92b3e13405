// The asynchronous context of a call: what AsyncLocalStorage tells whoever is called by it. A call
// that waits its turn in wasm is woken by the one ahead of it, which may be another user's, so
// each call takes its context along and goes on in it. No host module is imported: a browser has
// none of this and needs none.

/** Runs something in a context that was taken before. */
export type InContext = <T>(work: () => T) => T;

/** As much of AsyncLocalStorage as is used. */
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

// Looked up once, at first: a sandbox may hide it from whoever runs within.
const storageClass = found();

function found(): StorageClass | undefined {
  try {
    const { process } = globalThis as Host;
    const hooks = process?.getBuiltinModule?.("node:async_hooks") as
      | { AsyncLocalStorage?: StorageClass }
      | undefined;
    return hooks?.AsyncLocalStorage;
  } catch {
    // A Worker without Node's modules.
    return undefined;
  }
}

const asItIs: InContext = (work) => work();

/** The runtime that a tool was called with, and what was known of the graph around it then. */
export interface ToolCalled {
  readonly runtime: object;
  /** Tells whether another graph began within the call. */
  readonly outer: unknown;
}

/** Where the tool call that is under way is kept. */
interface Calls {
  /** Absent where there is no AsyncLocalStorage: then only what runs at once is told. */
  storage: ContextStorage<ToolCalled> | undefined;
  current: ToolCalled | undefined;
}

// One for all copies of this module: each of the package's bundles has one.
const calls = shared<Calls>("kitbag.calls", () => ({
  storage: contextStorage<ToolCalled>(),
  current: undefined,
}));

/** What all copies of a module have in common, by name. */
export function shared<T extends object>(name: string, make: () => T): T {
  const key = Symbol.for(name);
  const all = globalThis as unknown as Record<symbol, T | undefined>;
  const known = all[key];
  if (known) return known;
  const made = make();
  // A frozen global keeps nothing: then each copy has its own.
  Reflect.set(all, key, made);
  return made;
}

/** The tool call that is under way. */
export function toolCalled(): ToolCalled | undefined {
  return calls.storage ? calls.storage.getStore() : calls.current;
}

/** Does work on behalf of a tool call. */
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

/** The context of now, to go on in later. */
export function contextHere(): InContext {
  const Snapshot = (globalThis as Host).AsyncContext?.Snapshot;
  if (typeof Snapshot === "function" && calls.storage) {
    const taken = new Snapshot();
    return (work) => taken.run(work);
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

const LANGCHAIN = Symbol.for("ls:tracing_async_local_storage");

/** The storage in which LangChain keeps the task that runs, where the runtime has one. */
export function langchainStorage(): ContextStorage<unknown> | undefined {
  return (globalThis as unknown as Record<symbol, ContextStorage<unknown> | undefined>)[LANGCHAIN];
}

/** A value that follows whatever is called with it, where the runtime can do that. */
export function contextStorage<V>(): ContextStorage<V> | undefined {
  return storageClass && (new storageClass() as ContextStorage<unknown> as ContextStorage<V>);
}
