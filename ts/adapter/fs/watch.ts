// `watch`: changes of the backend where it tells of them, otherwise those that are made through fs objects
// over the same backend. Whether a file was changed, or came or went, is asked when a change is told.

import { named } from "./content.js";
import { aborted, wrongType } from "./errors.js";
import { isMaking } from "./making.js";
import type { FsWatcher } from "./names.js";
import { nameOf, parentOf, type Target, targetOf } from "./paths.js";
import { later, now, type Steps } from "./steps.js";
import { isAt, type Tree } from "./tree.js";
import { optionsOf, within } from "./within.js";

/** A change, as Node names it. */
interface Change {
  eventType: "change" | "rename";
  filename: string | Uint8Array | null;
}

type Listener = (...args: unknown[]) => void;

interface Watched {
  watch?(path: string, hear: (changes: { paths: string[]; rescan?: true }) => void): () => void;
}

/** Calls back after changes below a path; the returned function ends that. */
export function listen(tree: Tree, path: string, hear: (path: string | null) => void): () => void {
  const { watch } = tree.backend as Watched;
  if (typeof watch === "function") {
    return watch.call(tree.backend, path, ({ paths, rescan }) => {
      for (const one of paths) hear(isMaking(nameOf(one)) ? parentOf(one) : one);
      if (rescan && paths.length === 0) hear(null);
    });
  }
  const own = (one: string) => {
    if (isAt(one, path)) hear(one);
  };
  tree.shared.listeners.add(own);
  return () => tree.shared.listeners.delete(own);
}

/** The name of a changed file as a watcher of a directory, or of the file, is told it. */
function nameBelow(changed: string, path: string, recursive: boolean): string | undefined {
  if (changed === path) return nameOf(path);
  const name = changed.slice(path === "/" ? 1 : path.length + 1);
  if (recursive) return name;
  return name.includes("/") ? undefined : name;
}

function* checked(tree: Tree, target: Target): Steps<void> {
  yield* within({ syscall: "watch", path: target.given }, () => tree.get(target));
}

function watching(tree: Tree, target: Target, options: Record<string, unknown>) {
  const recursive = options.recursive === true;
  return (tell: (change: Change) => void) =>
    listen(tree, target.path, (path) => {
      if (path === null) return tell({ eventType: "change", filename: null });
      const name = nameBelow(path, target.path, recursive);
      if (name === undefined) return;
      const filename = named(name, options.encoding);
      later(tree.find(path)).then(
        (entry) => tell({ eventType: entry ? "change" : "rename", filename }),
        () => tell({ eventType: "rename", filename }),
      );
    });
}

export function watch(tree: Tree, path: unknown, given?: unknown, hear?: unknown): FsWatcher {
  const listener = typeof given === "function" ? given : hear;
  const options = typeof given === "function" ? {} : optionsOf(given, "encoding");
  if (listener !== undefined && typeof listener !== "function") {
    throw wrongType("listener", "of type function", listener);
  }
  const target = targetOf(path, tree.cwd, "filename");
  const listeners = new Map<string, Set<Listener>>();
  const emit = (event: string, ...args: unknown[]) => {
    for (const one of [...(listeners.get(event) ?? [])]) one(...args);
  };
  if (tree.atOnce) now(checked(tree, target));
  else later(checked(tree, target)).catch((error) => emit("error", error));
  let end: (() => void) | undefined = watching(
    tree,
    target,
    options,
  )(({ eventType, filename }) => {
    if (end) emit("change", eventType, filename);
  });
  const on = (event: string, one: Listener) => {
    const all = listeners.get(event) ?? new Set();
    listeners.set(event, all.add(one));
    return watcher;
  };
  const off = (event: string, one: Listener) => {
    listeners.get(event)?.delete(one);
    return watcher;
  };
  const close = () => {
    if (!end) return;
    end();
    end = undefined;
    queueMicrotask(() => emit("close"));
  };
  const once = (event: string, one: Listener) => {
    const first: Listener = (...args) => {
      off(event, first);
      one(...args);
    };
    return on(event, first);
  };
  const itself = () => watcher;
  const watcher = {
    ...{ on, off, once, addListener: on, removeListener: off },
    ...{ close, ref: itself, unref: itself },
  } as unknown as FsWatcher;
  if (listener) on("change", listener as Listener);
  const signal = options.signal as AbortSignal | undefined;
  if (signal?.aborted) close();
  signal?.addEventListener("abort", close, { once: true });
  return watcher;
}

/** The changes as an iterator, which keeps those that nobody has taken yet. */
export async function* watched(tree: Tree, path: unknown, given?: unknown): AsyncGenerator<Change> {
  const options = optionsOf(given, "encoding");
  const signal = options.signal as AbortSignal | undefined;
  const target = targetOf(path, tree.cwd, "filename");
  if (signal?.aborted) throw aborted(signal);
  await later(checked(tree, target));
  const kept: Change[] = [];
  let wake = () => {};
  const end = watching(
    tree,
    target,
    options,
  )((change) => {
    kept.push(change);
    wake();
  });
  const ended = () => wake();
  signal?.addEventListener("abort", ended);
  try {
    for (;;) {
      for (let change = kept.shift(); change; change = kept.shift()) yield change;
      if (signal?.aborted) throw aborted(signal);
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (kept.length > 0 || signal?.aborted) resolve();
      });
    }
  } finally {
    end();
    signal?.removeEventListener("abort", ended);
  }
}
