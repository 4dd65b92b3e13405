// Listening to signals of callers. A signal may belong to many calls at the same time, as in a copy of
// a tree, and hosts warn of a leak above ten listeners. So a signal has one listener here, however
// many calls it has, and none while there is no call.

type Calls = { readonly all: Set<() => void>; readonly heard: () => void };

const signals = new WeakMap<AbortSignal, Calls>();

/** Calls back when a signal aborts, once; the returned function ends that. */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  // A function of its own for each call, as the same one may listen twice.
  const own = () => call();
  let calls = signals.get(signal);
  if (calls === undefined) {
    const all = new Set<() => void>();
    const heard = () => {
      for (const one of [...all]) one();
    };
    calls = { all, heard };
    signals.set(signal, calls);
    signal.addEventListener("abort", heard);
  }
  const { all, heard } = calls;
  all.add(own);
  return () => {
    if (!all.delete(own) || all.size > 0) return;
    signal.removeEventListener("abort", heard);
    signals.delete(signal);
  };
}
