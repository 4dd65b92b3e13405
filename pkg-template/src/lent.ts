// Backends over what the host lends: a disk, a shell, a sandbox, a database, a store, a storage of one's
// own. All of it runs in `lent.wasm`, which is compiled when the first of them is made.

export {
  ContextHubBackend,
  type ContextHubBackendOptions,
  type HubClient,
  type HubEntry,
} from "./context-hub.js";
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
export {
  type CommandRequest,
  type ExecuteCallback,
  LocalShellBackend,
  type LocalShellBackendOptions,
} from "./local_shell.js";
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
export {
  type NamespaceRuntime,
  type StateAndStore,
  StoreBackend,
  type StoreBackendOptions,
  type StoreLike,
  type StoreNamespace,
} from "./store.js";
