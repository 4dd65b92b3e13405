// Everything that `import … from "kitbag"` gives, whatever loads the wasm.

export { Backend } from "./backend.js";
export type { FileChanges } from "./browser/changes.js";
export type { PersistResult, StorageHealth } from "./browser/health.js";
export { KitbagPanic } from "./core/panic.js";
export { IndexedDbBackend, type IndexedDbBackendOptions } from "./indexed-db.js";
export { OpfsBackend, type OpfsBackendOptions } from "./opfs.js";
export type { Channel } from "./mirror.js";
export { StateBackend, type StateBackendOptions, type StateRuntime } from "./state.js";
export type * from "./types.js";
