// The conformance suite on a browser storage, in a page or in a worker of it, and the histories of a
// search index on IndexedDB.

import { histories } from "/lib/histories.mjs";
import * as indexed from "/pkg/dist/browser/indexed.js";
import {
  begin,
  HttpBackend,
  IndexedDbBackend,
  OpfsBackend,
  StateBackend,
  undo,
} from "/pkg/dist/browser.js";
import { runConformance } from "/pkg/dist/conformance.js";

const run = crypto.randomUUID();

const FACTORIES = {
  indexeddb: (name, writeMode) =>
    new IndexedDbBackend({ database: run, namespace: name, writeMode, durability: "relaxed" }),
  opfs: (name, writeMode) => new OpfsBackend({ root: run, namespace: name, writeMode }),
  // A directory that cannot move its files, as one that the user picked.
  directory: async (name, writeMode) => {
    const origin = await navigator.storage.getDirectory();
    const directory = await origin.getDirectoryHandle(`${run}-${name}`, { create: true });
    return new OpfsBackend({ directory, writeMode });
  },
  // The server makes a backend for each name.
  http: async (name, writeMode, url) => {
    const headers = { authorization: `${run} ${name} ${writeMode}` };
    const files = new HttpBackend({ url, headers });
    await files.ls("/");
    return files;
  },
};

export async function conformance({ kind, only, withoutMove, url }) {
  if (withoutMove) delete FileSystemFileHandle.prototype.move;
  let count = 0;
  const make = ({ writeMode }) => FACTORIES[kind](`case-${++count}`, writeMode, url);
  // Firefox takes a tenth of a second for an OPFS file where processors are busy; one case
  // stores three hundred.
  return runConformance(make, { only, timeoutMs: 120_000, turns: { begin, undo } });
}

/** Searches with an index, compared with searches without. */
export function index({ seeds }) {
  let count = 0;
  const make = () => FACTORIES.indexeddb(`index-${++count}`, "overwrite");
  return histories({ ...indexed, begin, StateBackend }, make, { seeds });
}

/** The conformance suite inside a dedicated worker. */
export async function inWorker(asked) {
  const worker = new Worker("/pages/worker.mjs", { type: "module" });
  try {
    return await new Promise((resolve, reject) => {
      worker.onerror = (event) => reject(new Error(event.message ?? "the worker failed"));
      worker.onmessage = ({ data }) =>
        data.error === undefined ? resolve(data.value) : reject(new Error(data.error));
      worker.postMessage(["/pages/conformance.mjs", "conformance", asked]);
    });
  } finally {
    worker.terminate();
  }
}
