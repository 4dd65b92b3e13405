// Other libraries' backends and file systems, as backends of the protocol: those of deepagents, of
// both versions that kitbag is tested with, and file systems through `CustomBackend`.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as latest from "../deps/latest/deepagents.mjs";
import * as older from "../deps/older/deepagents.mjs";

const METHODS = ["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"];
const BATCHES = ["uploadFiles", "downloadFiles"];

/** A backend's methods, with its changes put into a state as a graph's reducer would do it. */
function inState(make) {
  const runtime = { state: { files: {} } };
  const theirs = make(runtime);
  const applied = (answer) => {
    for (const [path, file] of Object.entries(answer?.filesUpdate ?? {})) {
      if (file === null) delete runtime.state.files[path];
      else runtime.state.files[path] = file;
    }
    return answer;
  };
  const backend = {};
  for (const name of [...METHODS, ...BATCHES]) {
    if (typeof theirs[name] !== "function") continue;
    backend[name] = async (...args) => applied(await theirs[name](...args));
  }
  return backend;
}

/** A new directory for each backend; `dispose` removes it. */
const folders = new WeakMap();
function inFolder(make) {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-peer-"));
  const backend = make(folder);
  folders.set(backend, folder);
  return backend;
}

export function dispose(backend) {
  const folder = folders.get(backend);
  if (folder) rmSync(folder, { recursive: true, force: true });
}

function ofDeepagents(version, module) {
  const { CompositeBackend, FilesystemBackend, InMemoryStore, StateBackend, StoreBackend } = module;
  const state = () => inState((runtime) => new StateBackend(runtime));
  const store = () =>
    new StoreBackend({ state: {}, store: new InMemoryStore(), assistantId: crypto.randomUUID() });
  return {
    [`deepagents ${version}: StateBackend`]: state,
    [`deepagents ${version}: StoreBackend`]: store,
    [`deepagents ${version}: FilesystemBackend`]: () =>
      inFolder((rootDir) => new FilesystemBackend({ rootDir, virtualMode: true })),
    [`deepagents ${version}: CompositeBackend`]: () =>
      inState((runtime) => new CompositeBackend(new StateBackend(runtime), { "/m/": store() })),
  };
}

/** Each peer with a function that makes an empty backend. */
export const peers = {
  ...ofDeepagents("1.10.7", older),
  ...ofDeepagents("1.14.1", latest),
};
