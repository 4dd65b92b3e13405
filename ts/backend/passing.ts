// watch of a wrapper: what the backend below tells, as the wrapper shows it.

import {
  addWatch,
  type FileChanges,
  type Heard,
  listener,
  lostIn,
  missedIn,
  type Watch,
  watchOf,
} from "../core/listeners.js";
import { isOwn } from "../core/own.js";
import { namesIn, prefixOf } from "../core/paths.js";
import type { MaybePromise } from "../types.js";
import { Backend } from "./backend.js";

/**
 * Those of some files that a wrapper shows to who watches `below`. If it returns undefined, throws or
 * rejects, listeners are asked to list the files again.
 */
export type Shows = (paths: string[], below: string) => MaybePromise<string[] | undefined>;

/** How a wrapper passes changes on. */
interface Passing {
  /** What it shows. Default: all. */
  shows?: Shows;
  /** Those directories at or below which it may show something. Default: all. */
  reaches?(directories: string[]): string[];
  /** A change elsewhere can decide what is shown, so all of the backend below is watched. */
  whole?: boolean;
  /** Tells of changes of the wrapper itself; returns what ends that. */
  own?(tell: (paths: string[]) => void): () => void;
}

/** Shows what is not in a directory. */
export function outside(directory: string): Shows {
  const hidden = prefixOf(namesIn(directory));
  return (paths) => paths.filter((path) => !`${path}/`.startsWith(hidden));
}

/** Lets a wrapper tell of changes, if the backend below does. */
export function passWatch(self: object, inner: object, how: Passing = {}): void {
  const { watch } = inner as { watch?: Watch };
  if (typeof watch !== "function") return;
  const { shows, reaches, whole, own } = how;
  addWatch(
    self,
    (first: unknown, second?: unknown) => {
      const { path, hear } = listener(first, second);
      let ended = false;
      // One after the other, since what is shown may be asked for.
      let before: Promise<void> | undefined;
      const judged = async (changes: FileChanges) => {
        await before;
        const asked = Promise.resolve(shows?.(changes.paths, path || "/"));
        const shown = await asked.catch(() => undefined);
        if (ended) return;
        // Where everything that may have been missed is hidden, nothing is told.
        const lost = lostIn(changes) ?? [path || "/"];
        const reached = changes.rescan ? (reaches?.(lost) ?? lost) : [];
        if (shown && reached.length === 0) hear({ paths: shown });
        else {
          const told: FileChanges = { paths: shown ?? [], rescan: true };
          hear(missedIn(told, shown && lostIn(changes) && reached));
        }
      };
      const pass: Heard = (changes) => {
        if (!shows) return hear(changes);
        const paths = changes.paths.filter((path) => !isOwn(path));
        before = judged(missedIn({ ...changes, paths }, lostIn(changes))).catch(() => {});
      };
      // Other objects may know only one argument.
      const stops = [
        inner instanceof Backend && !whole
          ? watch.call(inner, path || "/", pass)
          : (watch as (hear: Heard) => () => void).call(inner, pass),
        own?.((paths) => hear({ paths })),
      ];
      return () => {
        ended = true;
        for (const stop of stops) stop?.();
      };
    },
    watchOf(inner)?.whole,
  );
}
