// What tells clients over HTTP of changes since 2026-07-28: while somebody listens, the files are watched.

import { type AnyBackend, adaptBackendProtocol, type FileChanges } from "kitbag";
import { canWatch, uriOf } from "../mcp/resources.js";

/** What happened, as version 2 of the SDK takes it. */
type Happened = { kind: "resources_list_changed" } | { kind: "resource_updated"; uri: string };

type Listener = (event: Happened) => void;

/** Where each listening client of version 2 of the SDK registers. */
export interface Bus {
  publish(event: Happened): void;
  subscribe(listener: Listener): () => void;
}

/**
 * The bus of a backend; undefined if it cannot watch. `again` opens it another time, under the rules of the
 * clients, so that nobody hears of what they hide: no backend tells of changes that are made through itself.
 */
export function busOf(
  backend: AnyBackend,
  again: () => Promise<{ backend: AnyBackend; close(): Promise<void> }>,
): Bus | undefined {
  if (!canWatch(backend)) return undefined;
  const listeners = new Set<Listener>();
  const publish = (event: Happened) => {
    for (const one of [...listeners]) one(event);
  };
  let watching: Promise<() => Promise<void>> | undefined;
  const begin = async () => {
    const { backend: shown, close } = await again();
    const tell = (files: Iterable<string>) => {
      for (const path of new Set(files)) publish({ kind: "resource_updated", uri: uriOf(path) });
      publish({ kind: "resources_list_changed" });
    };
    /** Any file may have changed. */
    const all = async (paths: readonly string[]) => {
      const { files = [] } = await adaptBackendProtocol(shown).glob("**", "/");
      tell([...paths, ...files.map(({ path }) => path)]);
    };
    const stop =
      canWatch(shown) &&
      shown.watch(({ paths, rescan }: FileChanges) => {
        if (rescan) void all(paths).catch(() => tell(paths));
        else tell(paths);
      });
    return async () => {
      if (stop) stop();
      await close();
    };
  };
  return {
    publish,
    subscribe(listener) {
      listeners.add(listener);
      watching ??= begin();
      // A client that hears nothing reads again, as without a subscription.
      watching.catch(() => {});
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        void watching?.then((stop) => stop()).catch(() => {});
        watching = undefined;
      };
    },
  };
}
