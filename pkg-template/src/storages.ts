// The places that keep files elsewhere. All of them run in `storages.wasm`, which is compiled when
// the first of them is made, and never where none is.

export type { FileChanges } from "./browser/changes.js";
export type { PersistResult, StorageHealth } from "./browser/health.js";
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
export { FilesystemBackend, type FilesystemBackendOptions } from "./filesystem.js";
export type { CommandLimits, CommandOutput } from "./execute.js";
export {
  type CommandRequest,
  type ExecuteCallback,
  LocalShellBackend,
  type LocalShellBackendOptions,
} from "./local_shell.js";
export { IndexedDbBackend, type IndexedDbBackendOptions } from "./indexed-db.js";
export { OpfsBackend, type OpfsBackendOptions } from "./opfs.js";
export { SandboxBackend, type SandboxBackendOptions } from "./sandbox.js";
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
