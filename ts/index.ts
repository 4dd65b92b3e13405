// Everything that `import … from "kitbag"` exports. Each class has its own module, which a bundler
// drops together with its WebAssembly if nothing uses it.

export { Backend } from "./backend/backend.js";
export type { PersistResult, StorageHealth } from "./backend/browser/health.js";
export { type AnyBackend, CompositeBackend } from "./backend/composite.js";
export {
  ContextHubBackend,
  type ContextHubBackendOptions,
  type HubClient,
  type HubEntry,
} from "./backend/context-hub.js";
export {
  type Condition,
  CustomBackend,
  type CustomBackendOptions,
  type FileToStore,
  type StorageLike,
  type StoredEntry,
  type StoredFile,
  type StoredMeta,
} from "./backend/custom.js";
export { FilesystemBackend, type FilesystemBackendOptions } from "./backend/filesystem.js";
export type { IgnoreRules } from "./backend/ignoring.js";
export { IndexedDbBackend, type IndexedDbBackendOptions } from "./backend/indexed-db.js";
export {
  type CommandRequest,
  type ExecuteCallback,
  LocalShellBackend,
  type LocalShellBackendOptions,
} from "./backend/local-shell.js";
export { type DirectoryHandle, OpfsBackend, type OpfsBackendOptions } from "./backend/opfs.js";
export { apply, type PatchFields, type PatchResult, toPatch } from "./backend/patch.js";
export {
  type AuditRecord,
  type FilesystemPermission,
  type InspectedOperation,
  type InspectVerdict,
  type PermissionRule,
  type Policy,
  type PolicyCall,
  PolicyWrapper,
  type Quota,
  type Rate,
  type RateLimit,
  type RingAudit,
  ringAudit,
  withPolicy,
} from "./backend/policy.js";
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
} from "./backend/s3.js";
export { SandboxBackend, type SandboxBackendOptions } from "./backend/sandbox.js";
export {
  D1Backend,
  type D1BackendOptions,
  type D1Like,
  type MigrateOptions,
  PostgresBackend,
  type PostgresBackendOptions,
  type PostgresClient,
  type PostgresListen,
  type SqlAnswer,
  SqlBackend,
  type SqlBackendOptions,
  type SqlQuery,
  type SqlTableOptions,
  type SqlValue,
} from "./backend/sql.js";
export { StateBackend, type StateBackendOptions, type StateRuntime } from "./backend/state.js";
export {
  type BackendContext,
  type NamespaceFactory,
  type NamespaceRuntime,
  type StateAndStore,
  StoreBackend,
  type StoreBackendOptions,
  type StoreLike,
  type StoreNamespace,
} from "./backend/store.js";
export {
  begin,
  type CommitFailure,
  type CommitFields,
  type CommitResult,
  type RebaseFields,
  type RebaseOptions,
  type RebaseResult,
  type Receipt,
  type ReceiptFile,
  Turn,
  type TurnCapability,
  type TurnChange,
  type TurnConflict,
  type TurnDiff,
  type TurnDiffFields,
  type TurnHunk,
  type TurnOptions,
  type TurnPaths,
  type TurnPathsFields,
  type UndoOptions,
  type UnmergedFile,
  undo,
} from "./backend/turn.js";
export type { CommandLimits, CommandOutput } from "./core/command.js";
export { silenceDeprecations } from "./core/deprecated.js";
export type { FileChanges, Watch } from "./core/listeners.js";
export { KitbagPanic } from "./core/panic.js";
export type { FsLike } from "./disk/host.js";
export type { Ripgrep } from "./disk/ripgrep.js";
export {
  adaptBackendProtocol,
  adaptSandboxProtocol,
  toV1,
} from "./foreign/adapt.js";
export { type GraphContext, type GraphRuntime, provideGraphContext } from "./graph/context.js";
export { type Channel, type SharedState, shareState } from "./graph/mirror.js";
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
  type ToolPrompts,
  type ToolResult,
  type UnchangedReads,
} from "./tool/tools.js";
export type * from "./types.js";
