// Files in a browser and across a network. All of it runs in `storages.wasm`, which is compiled when
// the first such backend is made, and never where none is.

export type { FileChanges } from "./browser/changes.js";
export type { PersistResult, StorageHealth } from "./browser/health.js";
export { IndexedDbBackend, type IndexedDbBackendOptions } from "./indexed-db.js";
export { OpfsBackend, type OpfsBackendOptions } from "./opfs.js";
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
