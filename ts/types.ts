// The protocol's types: every name and shape that callers see. Written by hand, and checked
// against deepagents' own types by the suite `types`.

import type { FileData, FileInfo, GrepMatch } from "./types/files.js";
import type { TransferOptions } from "./types/options.js";

export type * from "./types/files.js";
export type * from "./types/options.js";

/** A stable code for the kind of error, for programs; `error` has the message. */
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

/** The text of an error: a sentence, so never empty. */
export type ErrorText = `${string} ${string}`;

/** A call that failed. */
export interface Failure {
  /** What was wrong and what to do about it. Absent on success. */
  error: ErrorText;
  /** The kind of error. Absent on success. */
  code: ErrorCode;
  /** Milliseconds after which a retry can succeed, if known. */
  retryAfterMs?: number;
  /** What the storage, host object or callback threw, if that was the reason. Not enumerable. */
  cause?: unknown;
}

/** The names of some fields, none of which is there. */
type Absent<Those> = { [Name in keyof Those]?: never };

/**
 * What a call answers: the fields of a success, or a `Failure`. `if (result.error)` tells them
 * apart.
 */
export type Result<Success, Failed extends Failure = Failure> =
  | (Success & Absent<Failed>)
  | (Failed & Absent<Success>);

/** The fields of a result's success. */
export type Fields<Of> = Of extends {
  /** Absent on success. */
  error?: never;
}
  ? Omit<Of, keyof Failure>
  : never;

/** What a backend that somebody else wrote may answer: any of the fields, and an error. */
export type BackendAnswer<Fields> = Partial<Fields> & {
  /** What was wrong. Absent on success. */
  error?: string;
  /** The kind of error; kitbag's own backends have an `ErrorCode`. Absent on success. */
  code?: string;
  /** Milliseconds after which a retry can succeed, if known. */
  retryAfterMs?: number;
};

/** Result of `ls`. */
export type LsResult = Result<LsFields>;

/** The fields of `LsResult` on success. */
type LsFields = {
  /** The entries, sorted by name in byte order. */
  files: FileInfo[];
};

/** Result of `read`. The line fields are absent for empty content and past the end of the file. */
export type ReadResult = Result<ReadFields>;

/** The fields of `ReadResult` on success. */
type ReadFields = {
  /** The requested lines as text, joined by line feeds; a binary file complete, as bytes. */
  content: string | Uint8Array;
  /** MIME type of the file. */
  mimeType?: string;
  /** Number of lines in the file. Absent also if only part of a large object was fetched. */
  totalLines?: number;
  /** Number of the first returned line, counted from 1. */
  startLine?: number;
  /** Number of the last returned line, counted from 1. */
  endLine?: number;
  /** The `offset` that continues the read; absent if no line follows. It counts from 0. */
  nextOffset?: number;
};

/** Result of `readText`. */
export type ReadTextResult = Result<{
  /** The whole text. */
  content: string;
}>;

/** Result of `readRaw`. */
export type ReadRawResult = Result<ReadRawFields>;

/** The fields of `ReadRawResult` on success. */
type ReadRawFields = {
  /** The file as it is stored; of a part of it, the bytes are in `content`. */
  data: FileData;
  /** Where the bytes are in the file, if `start` or `end` was given. */
  part?: {
    /** The offset of the first byte. */
    start: number;
    /** Number of bytes of the whole file. */
    size: number;
    /** Whether the bytes are text in UTF-8, but for characters that are cut at an end. */
    isText: boolean;
    /**
     * The state of the file: parts with the same version are of one content. Absent if the backend has to
     * read the whole file for a part of it.
     */
    version?: string;
  };
};

/** Result of `grep`. */
export type GrepResult = Result<GrepFields>;

/** The fields of `GrepResult` on success. */
type GrepFields = {
  /** The matching lines, ordered by path and line. */
  matches: GrepMatch[];
  /** True if there are more matches than were returned. */
  truncated?: boolean;
  /** How many files ignore files left out (`withIgnore`). Absent if none. */
  ignored?: number;
  /**
   * What the search cost, if `stats` was asked for and a search index took part. Files that a policy
   * hides are in none of the numbers.
   */
  stats?: {
    /** Reads of the index. Under a policy that hides files, 0. */
    requests: number;
    /** Files that the index knows and did not exclude: they were searched. */
    candidates: number;
    /** Files that the index does not know: they were searched. */
    unindexed: number;
    /** Files that the index excluded. */
    indexed: number;
    /** Bytes of the index that were read, and of the files that were searched. */
    bytes: number;
    /**
     * Present if nothing was listed, because of `freshness: "writers"`: a change that was not made through
     * such an index since the last `updateIndex` was not seen. `unindexed` counts files that were changed
     * through it since.
     */
    freshness?: "writers";
  };
};

/** Result of `glob`. */
export type GlobResult = Result<GlobFields>;

/** The fields of `GlobResult` on success. */
type GlobFields = {
  /** The matching files, newest first. */
  files: FileInfo[];
  /** True if there are more files than were returned. */
  truncated?: boolean;
  /** How many files ignore files left out (`withIgnore`). Absent if none. */
  ignored?: number;
};

/**
 * Result of a change. kitbag's own backends always say why with a `code`; a subclass or a wrapper
 * that refuses a change may leave it out.
 */
type Change<Fields> =
  | (Fields & Absent<Failure>)
  | (Omit<Failure, "code"> & {
      /** Why, as far as the backend says it. */
      code?: ErrorCode;
    } & Absent<Fields>);

/** Result of `write`. */
export type WriteResult = Change<WriteFields>;

/** The fields of `WriteResult` on success. */
type WriteFields = {
  /** Canonical path of the written file. */
  path: string;
  /**
   * Changes that the caller must apply to its state, by path. Only from a backend that returns its
   * changes instead of storing them, such as `new StateBackend(runtime)`.
   */
  filesUpdate?: Record<string, FileData> | null;
  /** Further information; kitbag's own backends have none for a write. */
  metadata?: Record<string, unknown>;
};

/** Result of `edit`. */
export type EditResult = Change<EditFields>;

/** The fields of `EditResult` on success. */
type EditFields = {
  /** Canonical path of the edited file. */
  path: string;
  /** Number of replacements. */
  occurrences: number;
  /** Changes that the caller must apply to its state; see `WriteResult`. */
  filesUpdate?: Record<string, FileData> | null;
  /** `{ lineEndings: "crlf" }` if the text matched only when line endings were ignored. */
  metadata?: Record<string, unknown>;
};

/** Result of `delete`. */
export type DeleteResult = Result<DeleteFields>;

/** The fields of `DeleteResult` on success. */
type DeleteFields = {
  /** Canonical path of what was deleted. */
  path: string;
  /** Deletions (null) that the caller must apply to its state; see `WriteResult`. */
  filesUpdate?: Record<string, null> | null;
  /** Further information; kitbag's own backends have none for a delete. */
  metadata?: Record<string, unknown>;
};

/** Result of `execute`. A command that could not run has `error` and `code` as well. */
export interface ExecuteResponse extends Partial<Failure> {
  /** Standard output and error output of the command as one text; on failure the error message. */
  output: string;
  /** Exit code of the command, or null if it is not known. */
  exitCode: number | null;
  /** True if the output was cut at the limit. */
  truncated: boolean;
}

/** deepagents' error codes for single files of a batch. */
export type FileOperationError =
  | "file_not_found"
  | "permission_denied"
  | "is_directory"
  | "invalid_path";

/** Result of `uploadFiles` for one file. */
export interface FileUploadResponse {
  /** The path as it was given. */
  path: string;
  /** Null on success, otherwise the closest of deepagents' codes. */
  error: FileOperationError | null;
  /** kitbag's more precise code. Absent on success. */
  code?: ErrorCode;
  /** What was wrong and what to do about it. Absent on success. */
  message?: string;
}

/** Result of `downloadFiles` for one file. */
export interface FileDownloadResponse {
  /** The path as it was given. */
  path: string;
  /** The bytes of the file; null if the download failed. */
  content: Uint8Array | null;
  /** Null on success, otherwise the closest of deepagents' codes. */
  error: FileOperationError | null;
  /** kitbag's more precise code. Absent on success. */
  code?: ErrorCode;
  /** What was wrong and what to do about it. Absent on success. */
  message?: string;
}

/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/** What the caller of a backend may declare that a method returns. */
type Answered<Fields> = BackendAnswer<Fields> | PromiseLike<BackendAnswer<Fields>>;

/**
 * Any backend: `deepagents`' `BackendProtocolV2`, with the optional methods present. Behind a policy,
 * a router or the tools each method is also given `CallOptions`, behind the arguments named here
 * (`grep`: `GrepOptions`): their `signal` aborts when the call is given up.
 */
export interface BackendProtocolV2 {
  // Each of these methods is declared twice. By the first signature a wrapper can declare its own
  // `Promise<LsResult>` and return what the backend inside it returns. An implementation is checked
  // by the second. Both have the same type parameters, so that literals infer their parameters.
  /** Lists one directory level. A missing directory gives an empty listing. */
  ls<As extends Answered<LsFields> = MaybePromise<BackendAnswer<LsFields>>>(path: string): As;
  ls<_As extends Answered<LsFields> = MaybePromise<BackendAnswer<LsFields>>>(
    path: string,
  ): MaybePromise<BackendAnswer<LsFields>>;
  /**
   * Reads lines of a text file; a binary file is returned complete.
   *
   * @param offset Number of lines to skip: 0 (the default) begins at the first line.
   * @param limit Most lines to return. Default 500.
   */
  read<As extends Answered<ReadFields> = MaybePromise<BackendAnswer<ReadFields>>>(
    filePath: string,
    offset?: number,
    limit?: number,
  ): As;
  read<_As extends Answered<ReadFields> = MaybePromise<BackendAnswer<ReadFields>>>(
    filePath: string,
    offset?: number,
    limit?: number,
  ): MaybePromise<BackendAnswer<ReadFields>>;
  /** Returns a file as it is stored, complete, with its times. */
  readRaw<As extends Answered<ReadRawFields> = MaybePromise<BackendAnswer<ReadRawFields>>>(
    filePath: string,
  ): As;
  readRaw<_As extends Answered<ReadRawFields> = MaybePromise<BackendAnswer<ReadRawFields>>>(
    filePath: string,
  ): MaybePromise<BackendAnswer<ReadRawFields>>;
  /**
   * Searches files for a literal text, line by line.
   *
   * @param path File or directory to search. Default `/`.
   * @param glob Searches only matching files. Without `/` it is matched against file names, with
   *   `/` against the path below `path`.
   * @param maxCount Most matches to return; if there are more, `truncated` is set.
   */
  grep<As extends Answered<GrepFields> = MaybePromise<BackendAnswer<GrepFields>>>(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
  ): As;
  grep<_As extends Answered<GrepFields> = MaybePromise<BackendAnswer<GrepFields>>>(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
  ): MaybePromise<BackendAnswer<GrepFields>>;
  /** Finds files whose path below `path` (default `/`) matches a pattern, newest first. */
  glob<As extends Answered<GlobFields> = MaybePromise<BackendAnswer<GlobFields>>>(
    pattern: string,
    path?: string,
  ): As;
  glob<_As extends Answered<GlobFields> = MaybePromise<BackendAnswer<GlobFields>>>(
    pattern: string,
    path?: string,
  ): MaybePromise<BackendAnswer<GlobFields>>;
  /** Creates a text file; whether it replaces one that exists depends on the backend. */
  write<As extends Answered<WriteFields> = MaybePromise<BackendAnswer<WriteFields>>>(
    filePath: string,
    content: string,
  ): As;
  write<_As extends Answered<WriteFields> = MaybePromise<BackendAnswer<WriteFields>>>(
    filePath: string,
    content: string,
  ): MaybePromise<BackendAnswer<WriteFields>>;
  /** Replaces a literal text in a file: one that occurs once, or with `replaceAll` each. */
  edit<As extends Answered<EditFields> = MaybePromise<BackendAnswer<EditFields>>>(
    filePath: string,
    oldString: string,
    newString: string,
    replaceAll?: boolean,
  ): As;
  edit<_As extends Answered<EditFields> = MaybePromise<BackendAnswer<EditFields>>>(
    filePath: string,
    oldString: string,
    newString: string,
    replaceAll?: boolean,
  ): MaybePromise<BackendAnswer<EditFields>>;
  /** Deletes a file, or a directory with everything below it. */
  delete?(filePath: string): MaybePromise<BackendAnswer<DeleteFields>>;
  /** Stores files as bytes; returns a result for each, in order. */
  uploadFiles?(files: Array<[string, Uint8Array]>): MaybePromise<FileUploadResponse[]>;
  /** Returns files as bytes; returns a result for each, in order. */
  downloadFiles?(paths: string[]): MaybePromise<FileDownloadResponse[]>;
  /** Moves a file, or a directory with everything below it. kitbag's addition to the protocol. */
  move?(
    from: string,
    to: string,
    options?: TransferOptions,
  ): MaybePromise<BackendAnswer<WriteFields>>;
  /** Copies a file, or a directory with everything below it. kitbag's addition to the protocol. */
  copy?(
    from: string,
    to: string,
    options?: TransferOptions,
  ): MaybePromise<BackendAnswer<WriteFields>>;
  /** Adds to the end of a file that exists. kitbag's addition to the protocol. */
  append?(filePath: string, content: string | Uint8Array): MaybePromise<BackendAnswer<WriteFields>>;
}

/** A backend that can run commands as well. */
export interface SandboxBackendProtocolV2 extends BackendProtocolV2 {
  /** Runs a command in a shell. */
  execute(command: string): MaybePromise<ExecuteResponse>;
  /** Identifies the machine on which commands run. */
  readonly id: string;
}

/** The protocol's first version, which returns plain text and arrays. */
export interface BackendProtocolV1 {
  /** Lists one directory level. */
  lsInfo(path: string): MaybePromise<FileInfo[]>;
  /**
   * Reads lines with their numbers, which count from 1; an error is a text that begins with `Error`.
   *
   * @param offset Number of lines to skip: 0 (the default) begins at the first line.
   * @param limit Most rows to return; a very long line takes several. Default 500.
   */
  read(filePath: string, offset?: number, limit?: number): MaybePromise<string>;
  /** Returns a file as it is stored. Throws on failure. */
  readRaw(filePath: string): MaybePromise<FileData>;
  /** Searches files for a regular expression. A string result is an error message. */
  grepRaw(
    pattern: string,
    path?: string | null,
    glob?: string | null,
  ): MaybePromise<GrepMatch[] | string>;
  /** Finds files whose path matches a pattern. */
  globInfo(pattern: string, path?: string): MaybePromise<FileInfo[]>;
  /** Writes a text file. */
  write(filePath: string, content: string): MaybePromise<BackendAnswer<WriteFields>>;
  /** Replaces a literal text in a file. */
  edit(
    filePath: string,
    oldString: string,
    newString: string,
    replaceAll?: boolean,
  ): MaybePromise<BackendAnswer<EditFields>>;
  /** Stores files as bytes. */
  uploadFiles?(files: Array<[string, Uint8Array]>): MaybePromise<FileUploadResponse[]>;
  /** Returns files as bytes. */
  downloadFiles?(paths: string[]): MaybePromise<FileDownloadResponse[]>;
}

/** A backend of the protocol's first version that can run commands as well. */
export interface SandboxBackendProtocolV1 extends BackendProtocolV1 {
  /** Runs a command in a shell. */
  execute(command: string): MaybePromise<ExecuteResponse>;
  /** Identifies the machine on which commands run. */
  readonly id: string;
}

/** A backend of either version. */
export type AnyBackendProtocol = BackendProtocolV1 | BackendProtocolV2;

/** @deprecated deepagents' name for the first version; use `BackendProtocolV2`. */
export interface BackendProtocol extends BackendProtocolV1 {}

/** @deprecated deepagents' name for the first version; use `SandboxBackendProtocolV2`. */
export interface SandboxBackendProtocol extends SandboxBackendProtocolV1 {}

/** What a graph hands to a `BackendFactory`: its state, and what LangGraph's runtime has. */
export interface BackendRuntime<State = unknown> {
  /** The state of the graph. */
  state: State;
  // biome-ignore lint/suspicious/noExplicitAny: its other fields are LangGraph's, and differ between versions
  [field: string]: any;
}

/**
 * Makes a backend for each call.
 *
 * @deprecated An instance finds the running graph by itself; pass `new StateBackend()`.
 */
export type BackendFactory = (runtime: BackendRuntime) => MaybePromise<AnyBackendProtocol>;
