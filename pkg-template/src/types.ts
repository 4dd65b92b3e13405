// The protocol as TypeScript sees it. Hand-written, and checked against deepagents' own types
// by the suite `types`. Names and shapes that callers meet stand here; how answers are made
// does not.

/** A stable word for what went wrong, beside the sentence in `error`. */
export type ErrorCode =
  | "not_found"
  | "already_exists"
  | "ambiguous_edit"
  | "no_match"
  | "conflict"
  | "invalid_path"
  | "invalid_pattern"
  | "invalid_argument"
  | "permission_denied"
  | "is_directory"
  | "too_large"
  | "quota_exceeded"
  | "rate_limited"
  | "unsupported"
  | "timeout"
  | "unavailable"
  | "internal";

/** What every answer has when it is a refusal. */
export interface Failure {
  /** What was wrong and what to do about it. Absent on success. */
  error?: string;
  /** The same as a stable word. Absent on success. */
  code?: ErrorCode;
  /** Milliseconds after which another try can succeed, where that is known. */
  retryAfterMs?: number;
  /** What a host object threw, where that was the reason. */
  cause?: unknown;
}

/** One line of a listing. */
export interface FileInfo {
  path: string;
  is_dir?: boolean;
  size?: number;
  modified_at?: string;
}

/** One matching line. */
export interface GrepMatch {
  path: string;
  /** From 1. */
  line: number;
  /** The line without its line feed. */
  text: string;
  /** Lines before it, where `before` asked for them. */
  before?: string[];
  /** Lines after it, where `after` asked for them. */
  after?: string[];
}

/** A stored file: text as one string, anything else as bytes. */
export interface FileDataV2 {
  content: string | Uint8Array;
  mimeType: string;
  created_at: string;
  modified_at: string;
}

/** A stored text file in the older form: an array of lines. */
export interface FileDataV1 {
  content: string[];
  created_at: string;
  modified_at: string;
}

/** A stored file in either form that this package writes. */
export type FileData = FileDataV1 | FileDataV2;

/** A stored file as the Python package writes it; read, never written. */
export interface PythonFileData {
  content: string;
  encoding: "utf-8" | "base64";
  created_at?: string;
  modified_at?: string;
}

export interface LsResult extends Failure {
  files?: FileInfo[];
}

export interface ReadResult extends Failure {
  content?: string | Uint8Array;
  mimeType?: string;
  /** Left out as well where only a part of a large object was read to answer. */
  totalLines?: number;
  startLine?: number;
  endLine?: number;
  nextOffset?: number;
}

export interface ReadRawResult extends Failure {
  data?: FileData;
}

export interface GrepResult extends Failure {
  matches?: GrepMatch[];
  truncated?: boolean;
}

export interface GlobResult extends Failure {
  files?: FileInfo[];
  truncated?: boolean;
}

export interface WriteResult extends Failure {
  path?: string;
  filesUpdate?: Record<string, FileData> | null;
  metadata?: Record<string, unknown>;
}

export interface EditResult extends Failure {
  path?: string;
  occurrences?: number;
  filesUpdate?: Record<string, FileData> | null;
  metadata?: Record<string, unknown>;
}

export interface DeleteResult extends Failure {
  path?: string;
  filesUpdate?: Record<string, null> | null;
  metadata?: Record<string, unknown>;
}

export interface ExecuteResponse extends Failure {
  output: string;
  exitCode: number | null;
  truncated: boolean;
}

export type FileOperationError =
  | "file_not_found"
  | "permission_denied"
  | "is_directory"
  | "invalid_path";

export interface FileUploadResponse {
  path: string;
  error: FileOperationError | null;
  /** The finer word, where there is an error. */
  code?: ErrorCode;
  /** The sentence, where there is an error. */
  message?: string;
}

export interface FileDownloadResponse {
  path: string;
  content: Uint8Array | null;
  error: FileOperationError | null;
  code?: ErrorCode;
  message?: string;
}

/** How long a call may take, and what ends it early. */
export interface CallOptions {
  /** Ends the call when it aborts; the answer is `{ error, code: "timeout" }`. */
  signal?: AbortSignal;
  /** Ends the call after so long, likewise. */
  timeoutMs?: number;
}

/** What `write` takes beyond the protocol. */
export interface WriteOptions extends CallOptions {
  /** With bytes as content: only where no file is, whatever the backend's `writeMode`. */
  ifAbsent?: boolean;
}

/** What `delete` takes beyond the protocol. */
export interface DeleteOptions extends CallOptions {
  /** Delete only a file, and only while it is exactly these bytes; else `conflict`. */
  unchanged?: Uint8Array;
}

/** What `grep` takes beyond the protocol. */
export interface GrepOptions extends CallOptions {
  /** Read the pattern as a regular expression; linear in time, whatever the pattern. */
  regex?: boolean;
  ignoreCase?: boolean;
  /** Lines to show before each match. */
  before?: number;
  /** Lines to show after each match. */
  after?: number;
  maxPerFile?: number;
}

/** How far a promise reaches when several writers meet. */
export type Reach =
  /** The storage checks and changes in one step; it holds between processes. */
  | "storage"
  /** Calls take turns inside this instance; other writers are not seen. */
  | "instance"
  /** Not at all. */
  | "never";

/** What a backend can promise. */
export interface Capability {
  create: Reach;
  update: Reach;
  rangedReads: boolean;
  nativeSearch: boolean;
  directories: "implied" | "real";
  keepsCreated: boolean;
  keepsMime: boolean;
  keepsFormat: boolean;
  keepsBinary: boolean;
  writable: boolean;
  maxFileBytes?: number;
  /** Whether whoever calls decides which files a call works on, as inside a running graph. */
  perCaller?: boolean;
  notes: string[];
}

export type MaybePromise<T> = T | Promise<T>;

/**
 * Any backend: `deepagents`' `BackendProtocolV2`, with the optional methods present. Behind a policy,
 * a router or the tools each method is also given `CallOptions`, behind the arguments named here
 * (`grep`: `GrepOptions`): their `signal` aborts when the call is given up.
 */
export interface BackendProtocolV2 {
  ls(path: string): MaybePromise<LsResult>;
  read(filePath: string, offset?: number, limit?: number): MaybePromise<ReadResult>;
  readRaw(filePath: string): MaybePromise<ReadRawResult>;
  grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
  ): MaybePromise<GrepResult>;
  glob(pattern: string, path?: string): MaybePromise<GlobResult>;
  write(filePath: string, content: string): MaybePromise<WriteResult>;
  edit(
    filePath: string,
    oldString: string,
    newString: string,
    replaceAll?: boolean,
  ): MaybePromise<EditResult>;
  delete?(filePath: string): MaybePromise<DeleteResult>;
  uploadFiles?(files: Array<[string, Uint8Array]>): MaybePromise<FileUploadResponse[]>;
  downloadFiles?(paths: string[]): MaybePromise<FileDownloadResponse[]>;
}

/** A backend that can run commands. */
export interface SandboxBackendProtocolV2 extends BackendProtocolV2 {
  execute(command: string): MaybePromise<ExecuteResponse>;
  readonly id: string;
}

/** What a file may be given as: text, bytes, or stored data in any of its three forms. */
export type FileInput = string | Uint8Array | FileData | PythonFileData;
