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

/** The context of now, to go on in later. */
export function contextHere(): InContext {
  const Snapshot = (globalThis as Host).AsyncContext?.Snapshot;
  if (typeof Snapshot === "function") {
    const taken = new Snapshot();
    return (work) => taken.run(work);
  }
  return storageClass?.snapshot?.() ?? asItIs;
}

/** A value that follows whatever is called with it, where the runtime can do that. */
export function contextStorage<V>(): ContextStorage<V> | undefined {
  return storageClass && (new storageClass() as ContextStorage<unknown> as ContextStorage<V>);
}
