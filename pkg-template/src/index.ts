// Everything that `import … from "kitbag"` exports. Each class has its own module, which a bundler
// drops together with its WebAssembly if nothing uses it.

export {
  adaptBackendProtocol,
  adaptSandboxProtocol,
  type BackendProtocolV1,
  toV1,
} from "./adapt.js";
export { Backend } from "./backend.js";
export type { FileChanges } from "./browser/changes.js";
export type { PersistResult, StorageHealth } from "./browser/health.js";
export { type AnyBackend, CompositeBackend } from "./composite.js";
export {
  ContextHubBackend,
  type ContextHubBackendOptions,
  type HubClient,
  type HubEntry,
} from "./context-hub.js";
export { KitbagPanic } from "./core/panic.js";
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
export type { FsLike } from "./disk/host.js";
export type { Ripgrep } from "./disk/search.js";
export type { CommandLimits, CommandOutput } from "./execute.js";
export { FilesystemBackend, type FilesystemBackendOptions } from "./filesystem.js";
export { type GraphContext, type GraphRuntime, provideGraphContext } from "./graph/context.js";
export { IndexedDbBackend, type IndexedDbBackendOptions } from "./indexed-db.js";
export {
  type CommandRequest,
  type ExecuteCallback,
  LocalShellBackend,
  type LocalShellBackendOptions,
} from "./local_shell.js";
export { type Channel, type SharedState, shareState } from "./mirror.js";
export { OpfsBackend, type OpfsBackendOptions } from "./opfs.js";
export {
  type AuditRecord,
  type FilesystemPermission,
  type InspectedOperation,
  type InspectVerdict,
  type Policy,
  type PolicyCall,
  PolicyWrapper,
  type Quota,
  type Rate,
  type RateLimit,
  type RingAudit,
  ringAudit,
  withPolicy,
} from "./policy.js";
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
export { SandboxBackend, type SandboxBackendOptions } from "./sandbox.js";
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
export { StateBackend, type StateBackendOptions, type StateRuntime } from "./state.js";
export {
  type NamespaceRuntime,
  type StateAndStore,
  StoreBackend,
  type StoreBackendOptions,
  type StoreLike,
  type StoreNamespace,
} from "./store.js";
export {
  type BackendOrFactory,
  type ContentBlock,
  createFileTools,
  type FileTool,
  type FileToolName,
  type FileTools,
  type FileToolsOptions,
  type InputSchema,
  type OffloadCall,
  resolveBackend,
  type ToolCall,
  type ToolOutput,
  type ToolResult,
} from "./tools.js";
export type * from "./types.js";
