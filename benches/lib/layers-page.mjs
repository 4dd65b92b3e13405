// The page's part of the bench of layers: the same over IndexedDB.

import * as kitbag from "/pkg/dist/browser.js";
import { fill, measure } from "./layers.mjs";

export async function indexedDb(effort) {
  const backend = new kitbag.IndexedDbBackend({ database: "layers" });
  await fill(backend);
  return measure(kitbag, backend, effort);
}
