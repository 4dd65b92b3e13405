// What a caller can ask of each call, and what a backend says of itself.

/** Options of every call: cancellation and time limit. */
export interface CallOptions {
  /** Cancels the call when it aborts; the result is then `{ error, code: "timeout" }`. */
  signal?: AbortSignal;
  /**
   * Time limit of the call, in milliseconds; the result is then `{ error, code: "timeout" }`.
   * Without it there is no limit, except 10 s of computing for some searches. 2^31 or more is no
   * limit.
   */
  timeoutMs?: number;
}

/** Options of `write` that kitbag adds to the protocol. */
export interface WriteOptions extends CallOptions {
  /** Only with bytes as content: create the file and never replace one, in either `writeMode`. */
  ifAbsent?: boolean;
}

/** Options of `move` and `copy`. */
export interface TransferOptions extends CallOptions {
  /** Replace a file that exists at the new path. A directory is never replaced. Default false. */
  overwrite?: boolean;
}

/** Options of `delete` that kitbag adds to the protocol. */
export interface DeleteOptions extends CallOptions {
  /** Delete only a file that has exactly these bytes; otherwise the result is `conflict`. */
  unchanged?: Uint8Array;
}

/** Options of `grep` that kitbag adds to the protocol. */
export interface GrepOptions extends CallOptions {
  /** The argument `maxCount`, for a call that has the options in its place. */
  maxCount?: number;
  /** Treat the pattern as a regular expression, matched in linear time. Default: literal text. */
  regex?: boolean;
  /** Ignore letter case. Default false. For regular expressions this covers ASCII only. */
  ignoreCase?: boolean;
  /** Number of context lines to return before each match. Default 0. */
  before?: number;
  /** Number of context lines to return after each match. Default 0. */
  after?: number;
  /** The most matches to return from one file. Default: no limit. */
  maxPerFile?: number;
  /** Return `stats`, where a search index takes part (`withIndex`). Default false. */
  stats?: boolean;
}

/** Which concurrent writers a guarantee covers. */
export type Reach =
  /** All writers, also other processes: the storage checks and changes in one atomic step. */
  | "storage"
  /** Only calls of this instance, which wait for each other; other writers are not noticed. */
  | "instance"
  /** No writers: there is no guarantee. */
  | "never";

/** What a backend guarantees and supports. */
export interface Capability {
  /** Which writers exclusive creation covers: `write` never replaces a file made meanwhile. */
  create: Reach;
  /** Which writers an edit is safe against: no change of theirs is lost. */
  update: Reach;
  /** `"implied"`: directories follow from paths of files. `"real"`: they exist by themselves. */
  directories: "implied" | "real";
  /**
   * Which spellings of a name are one file: those that differ in upper and lower case (`"case"`), in
   * composed and decomposed letters (`"composition"`), or in both. Absent or `"exact"`: each
   * spelling is a name of its own. Under a policy, a rule that restricts then covers every spelling.
   */
  names?: "exact" | "case" | "composition" | "case and composition";
  /** Whether `created_at` survives edits and overwrites. */
  keepsCreated: boolean;
  /** Whether a MIME type that was given with a file is kept. */
  keepsMime: boolean;
  /** Whether the `v1` form of a text file is kept. */
  keepsFormat: boolean;
  /**
   * Whether permission bits of files survive copies, moves, turns, histories, and what undoes them. In a
   * router: whether some mount keeps them.
   */
  keepsModes: boolean;
  /** Whether bytes that are not text can be stored. */
  keepsBinary: boolean;
  /** Whether files can be changed. */
  writable: boolean;
  /** Whether `write` replaces a file that exists. */
  overwrites: boolean;
  /** The largest file that can be stored, in bytes. Absent if there is no fixed limit. */
  maxFileBytes?: number;
  /**
   * True if listings name a version of each file that no other state of it ever has. `withIndex`
   * needs it; without, every search reads all files.
   */
  listsVersions?: boolean;
  /** True if a search index takes part in `grep`. */
  indexed?: boolean;
  /** True if `watch` tells of changes of all files. */
  watch?: boolean;
  /** True if the caller decides which files a call works on, as inside a running graph. */
  perCaller?: boolean;
  /** Remarks for the owner of the backend: remaining risks and limits. */
  notes: string[];
}
