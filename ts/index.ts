// Everything that `import … from "kitbag"` exports. Each class has its own module, which a bundler
// drops together with its WebAssembly if nothing uses it.
//
// A type is here if a program names it: what it passes on, or what an exported function of its own
// returns. The parts of an option's type are not: `SqlBackendOptions["query"]` names one.

export { Backend, type ExecuteOptions } from "./backend/backend.js";
export type { PersistResult, StorageHealth } from "./backend/browser/health.js";
export { CompositeBackend } from "./backend/composite.js";
export { ContextHubBackend, type ContextHubBackendOptions } from "./backend/context-hub.js";
export {
  type Condition as PutCondition,
  CustomBackend,
  type CustomBackendOptions,
  type FileToStore,
  type StorageLike,
  type StoredEntry,
  type StoredFile,
} from "./backend/custom.js";
export { FilesystemBackend, type FilesystemBackendOptions } from "./backend/filesystem.js";
export { HttpBackend, type HttpBackendOptions } from "./backend/http.js";
export type { IgnoreRules } from "./backend/ignoring.js";
export { IndexedDbBackend, type IndexedDbBackendOptions } from "./backend/indexed-db.js";
export type { KeepIn } from "./backend/keep-in.js";
export {
  type ExecuteCallback,
  LocalShellBackend,
  type LocalShellBackendOptions,
} from "./backend/local-shell.js";
export { OpfsBackend, type OpfsBackendOptions } from "./backend/opfs.js";
export { applyPatch, type PatchResult, toPatch } from "./backend/patch.js";
export {
  type AskedOperation,
  type AuditRecord,
  type FilesystemPermission,
  type InspectedOperation,
  type InspectVerdict,
  type PermissionRule,
  type Policy,
  PolicyBackend,
  type PolicyCall,
  PolicyWrapper,
  type Quota,
  type RateKind,
  type RateLimit,
  type RingAudit,
  ringAudit,
  withPolicy,
} from "./backend/policy.js";
export type { PresignRequest } from "./backend/presign.js";
export {
  presignS3,
  R2Backend,
  type R2BackendOptions,
  S3Backend,
  type S3BackendOptions,
  type S3Credentials,
  type S3SignRequest,
} from "./backend/s3.js";
export { SandboxBackend, type SandboxBackendOptions } from "./backend/sandbox.js";
export {
  D1Backend,
  type D1BackendOptions,
  PostgresBackend,
  type PostgresBackendOptions,
  SqlBackend,
  type SqlBackendOptions,
} from "./backend/sql.js";
export { StateBackend, type StateBackendOptions } from "./backend/state.js";
export {
  type BackendContext,
  type NamespaceFactory,
  StoreBackend,
  type StoreBackendOptions,
} from "./backend/store.js";
export {
  begin,
  type CommitResult,
  type RebaseOptions,
  type RebaseResult,
  type Receipt,
  Turn,
  type TurnCapability,
  type TurnChange,
  type TurnConflict,
  type TurnDiff,
  type TurnHunk,
  type TurnOptions,
  type TurnPaths,
  undo,
} from "./backend/turn.js";
export { silenceDeprecations } from "./core/deprecated.js";
export type { FileChanges, Watch as BackendWatch } from "./core/listeners.js";
export type { Operation } from "./core/operations.js";
export { KitbagPanic } from "./core/panic.js";
export { visible as visibleName } from "./core/visible.js";
export {
  type AnyBackend,
  adaptBackendProtocol,
  adaptSandboxProtocol,
  toV1,
} from "./foreign/adapt.js";
export {
  type BackendOrFactory,
  type ChangeTools,
  type ContentBlock,
  createFileTools,
  type FileTool,
  type FileToolName,
  type FileTools,
  type FileToolsOptions,
  type OffloadCall,
  resolveBackend,
  type ToolCall,
  type ToolOutput,
  type ToolPrompts,
  type ToolResult,
  type UnchangedReads,
} from "./tool/tools.js";
export type {
  AnyBackendProtocol,
  BackendAnswer,
  BackendFactory,
  BackendProtocol,
  BackendProtocolV1,
  BackendProtocolV2,
  BackendRuntime,
  CallOptions,
  Capability,
  DeleteOptions,
  DeleteResult,
  EditResult,
  ErrorCode,
  ExecuteResponse,
  Failure,
  FileData,
  FileDataV1,
  FileDataV2,
  FileDownloadResponse,
  FileInfo,
  FileInput,
  FileOperationError,
  FileUploadResponse,
  GlobResult,
  GrepMatch,
  GrepOptions,
  GrepResult,
  LsResult,
  MaybePromise,
  PythonFileData,
  ReadRawResult,
  ReadResult,
  ReadTextResult,
  SandboxBackendProtocol,
  SandboxBackendProtocolV1,
  SandboxBackendProtocolV2,
  TransferOptions,
  WriteOptions,
  WriteResult,
} from "./types.js";
