// What the process that is killed and the one that looks after it share.

import { sqlite } from "../indexed/store.mjs";
import * as kitbag from "../lib/kitbag.mjs";

/** The files of each commit. */
export const FILES = Array.from({ length: 100 }, (_, at) => `/f/${at}`);

/** A backend over a place that outlives a process. */
export async function open(kind, place) {
  if (kind === "SQLite") return sqlite(kitbag, place);
  if (kind === "disk") return new kitbag.FilesystemBackend({ rootDir: place });
  throw new Error(`there is no backend ${kind}`);
}
