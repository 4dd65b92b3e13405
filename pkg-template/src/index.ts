// Everything that `import … from "kitbag"` gives, whatever loads the wasm.

export { Backend } from "./backend.js";
export {
  type Condition,
  CustomBackend,
  type CustomBackendOptions,
  type FileToStore,
  type StorageLike,
  type StoredEntry,
  type StoredFile,
  type StoredMeta,
} from "./custom.js";
export { KitbagPanic } from "./core/panic.js";
export type { Channel } from "./mirror.js";
export { StateBackend, type StateBackendOptions, type StateRuntime } from "./state.js";
export type * from "./types.js";
