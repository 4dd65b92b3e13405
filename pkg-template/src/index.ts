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
export {
  presignS3,
  R2Backend,
  type R2BackendOptions,
  type R2BucketLike,
  S3Backend,
  type S3BackendOptions,
  type S3Credentials,
  type S3Location,
  type S3Retry,
  type S3SignedRequest,
  type S3SignRequest,
} from "./s3.js";
export {
  D1Backend,
  type D1BackendOptions,
  type D1Like,
  PostgresBackend,
  type PostgresBackendOptions,
  type PostgresClient,
  type SqlAnswer,
  SqlBackend,
  type SqlBackendOptions,
  type SqlQuery,
  type SqlTableOptions,
  type SqlValue,
} from "./sql.js";
export { ContextHubBackend, type ContextHubBackendOptions, type HubClient, type HubEntry } from "./context-hub.js";
export { type GraphContext, type GraphRuntime, provideGraphContext } from "./graph.js";
export {
  type NamespaceRuntime,
  type StateAndStore,
  StoreBackend,
  type StoreBackendOptions,
  type StoreLike,
  type StoreNamespace,
} from "./store.js";
