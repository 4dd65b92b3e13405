// The methods of every asynchronous backend. A subclass only reads its options; the operations
// are implemented in WebAssembly.

import { later, received, reportRefused } from "../core/call.js";
import { callOptions, optionNames, refused } from "../core/checks.js";
import { defineMembers, disposable, handleOf, own, release } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import { type Watch, watchOf } from "../core/listeners.js";
import { Op } from "../core/operations.js";
import type { Reply } from "../core/reply.js";
import * as ask from "../core/requests.js";
import * as unpack from "../core/results.js";
import { textOf } from "../core/text-of.js";
import type {
  BackendProtocolV2,
  CallOptions,
  Capability,
  DeleteOptions,
  DeleteResult,
  EditResult,
  ExecuteResponse,
  Failure,
  FileDownloadResponse,
  FileUploadResponse,
  GlobResult,
  GrepOptions,
  GrepResult,
  LsResult,
  ReadRawResult,
  ReadResult,
  ReadTextResult,
  TransferOptions,
  WriteOptions,
  WriteResult,
} from "../types.js";

/** Reports the entries of a batch that are refused here, while the others are passed on. */
function reportPart(self: object, operation: number, batch: ask.Batch<unknown>): void {
  const sound = batch.sound.length;
  if (sound > 0 && sound < batch.inputs.length) reportRefused(handleOf(self), operation);
}

/** Starts an operation on the backend's handle, or returns a refusal of its arguments. */
export function asked<T extends object>(
  self: object,
  operation: number,
  ask: () => Failure | undefined,
  unpackIt: (reply: Reply) => T,
  options?: unknown,
): Promise<T> {
  let read: CallOptions | undefined;
  const refusal =
    refused(() => {
      optionNames(operation, options);
      read = callOptions(options);
    }) ?? ask();
  const handle = handleOf(self);
  if (refusal) {
    reportRefused(handle, operation, refusal.code);
    return Promise.resolve(refusal as T);
  }
  return later(handle, operation, unpackIt, read) as Promise<T>;
}

function transfer(
  self: object,
  operation: number,
  from: string,
  to: string,
  options?: TransferOptions,
): Promise<WriteResult> {
  const request = () => ask.askTransfer(from, to, options);
  return asked(self, operation, request, unpack.unpackWrite(to), options);
}

/** Returns the capability of the backend with this handle. */
export function capabilityOf(handle: number): Capability {
  enter(() => glue.capability(handle));
  return received(unpack.unpackCapability) as Capability;
}

/**
 * Base class of every backend whose methods return promises. Methods do not reject because of
 * their arguments or the storage: they return `{ error, code }`.
 */
export abstract class Backend implements BackendProtocolV2 {
  /** Called by kitbag's own classes only; write your own storage with `CustomBackend`. */
  constructor(handle: number) {
    own(this, handle);
  }

  /** What this backend guarantees and supports. */
  get capability(): Capability {
    const common = capabilityOf(handleOf(this));
    return watchOf(this)?.whole ? { ...common, watch: true } : common;
  }

  /**
   * Calls back after changes of files: `watch(callback)`, or `watch(path, callback)` for the files below
   * a path. The returned function ends that. Undefined where this backend cannot be watched.
   */
  get watch(): Watch | undefined {
    return watchOf(this);
  }

  /**
   * Lists one directory level, in byte order of the paths; paths of directories end with `/`. A
   * missing directory and the path of a file give an empty listing.
   */
  ls(path: string, options?: CallOptions): Promise<LsResult> {
    return asked(this, Op.ls, () => ask.askLs(path), unpack.unpackLs, options);
  }

  /**
   * Reads lines of a text file. A binary file is returned complete, as a `Uint8Array`. A missing file
   * fails with `not_found`.
   *
   * @param offset Number of lines to skip: 0 (the default) begins at the first line. Past the end,
   *   the content is empty.
   * @param limit Most lines to return. Default 500. `nextOffset` of the result continues the read.
   * @example
   * // Lines 101 to 200; `startLine` and `endLine` of the result count from 1.
   * const page = await files.read("/log.txt", 100, 100);
   */
  read(
    filePath: string,
    offset?: number,
    limit?: number,
    options?: CallOptions,
  ): Promise<ReadResult> {
    return asked(
      this,
      Op.read,
      () => ask.askRead(filePath, offset, limit),
      unpack.unpackRead,
      options,
    );
  }

  /**
   * Reads a whole text file, of whatever length. A binary file fails with `unsupported`, a missing one
   * with `not_found`.
   */
  async readText(filePath: string, options?: CallOptions): Promise<ReadTextResult> {
    return textOf(filePath, await this.readRaw(filePath, options));
  }

  /**
   * Returns a file as it is stored, complete, with its MIME type and times. A missing file fails with
   * `not_found`.
   */
  readRaw(filePath: string, options?: CallOptions): Promise<ReadRawResult> {
    return asked(this, Op.readRaw, () => ask.askFile(filePath), unpack.unpackReadRaw, options);
  }

  /**
   * Searches files for a literal text, or with `options.regex` for a regular expression, line by
   * line. Letter case matters. Binary files are skipped. Matches are ordered by path, then line. A
   * wrong expression fails with `invalid_pattern`; without matches the list is empty.
   *
   * @param pattern The text. One with a line feed matches nothing, an empty one every line.
   * @param path File or directory to search. Default `/`.
   * @param glob Searches only matching files. Without `/` it is matched against file names, with
   *   `/` against the path below `path`.
   * @param maxCount Most matches to return; if there are more, `truncated` is set. Default: no
   *   limit but 128 MiB of results. The options may be in its place.
   */
  grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | GrepOptions | null,
    options?: GrepOptions,
  ): Promise<GrepResult> {
    const given = ask.grepOptions(maxCount, options);
    const request = () => ask.askGrep(pattern, path, glob, maxCount, given);
    return asked(this, Op.grep, request, unpack.unpackGrep, given);
  }

  /**
   * Finds files whose path below `path` (default `/`) matches a pattern, newest first. `*` and `?`
   * match inside a segment, `**` also matches `/`, and `{a,b}`, `[abc]`, `[!a]` and `\` work as
   * usual. A pattern without `/` matches only directly below `path`; one that begins with `/` is
   * matched against whole paths. A wrong pattern fails with `invalid_pattern`.
   *
   * @example
   * const { files } = await backend.glob("*.{md,txt}", "/notes");
   */
  glob(pattern: string, path?: string, options?: CallOptions): Promise<GlobResult> {
    return asked(this, Op.glob, () => ask.askGlob(pattern, path), unpack.unpackGlob, options);
  }

  /**
   * Creates a file. If it exists, the call fails with `already_exists`, or replaces it with
   * `writeMode: "overwrite"`. A failed call leaves the file as it was. Bytes are stored unchanged.
   * For a path with a binary type, such as `.png`, a string must be base64 or a `data:` URL;
   * otherwise the call fails with `invalid_argument`.
   */
  write(
    filePath: string,
    content: string | Uint8Array,
    options?: WriteOptions,
  ): Promise<WriteResult> {
    return asked(
      this,
      Op.write,
      () => ask.askWrite(filePath, content, options),
      unpack.unpackWrite(filePath),
      options,
    );
  }

  /**
   * Replaces a literal text. `oldString` must occur exactly once, unless `replaceAll` (default
   * false) is true. If it is not found, differences in line endings are ignored. `oldString` may be
   * empty only if the file is.
   *
   * It fails with `no_match` if the text is not in the file, `ambiguous_edit` if it is there several
   * times, `not_found` without the file, `conflict` if another writer was faster, and
   * `invalid_argument` for a binary file. The file is then unchanged.
   *
   * With two `Uint8Array`s the whole file must equal `oldString` and becomes `newString`; otherwise
   * the result is `conflict`.
   */
  edit(
    filePath: string,
    oldString: string | Uint8Array,
    newString: string | Uint8Array,
    replaceAll?: boolean,
    options?: CallOptions,
  ): Promise<EditResult> {
    const request = () => ask.askEdit(filePath, oldString, newString, replaceAll);
    return asked(this, Op.edit, request, unpack.unpackEdit(filePath), options);
  }

  /**
   * Deletes a file, or a directory with everything below it. If there is nothing, the call fails with
   * `not_found`. The root cannot be deleted.
   */
  delete(filePath: string, options?: DeleteOptions): Promise<DeleteResult> {
    return asked(
      this,
      Op.delete,
      () => ask.askDelete(filePath, options),
      unpack.unpackDelete(filePath),
      options,
    );
  }

  /**
   * Stores files as bytes, replacing existing ones. Returns a result for each, in order; one that
   * fails does not stop the others. On success its `error` is null.
   */
  async uploadFiles(
    files: Array<[string, Uint8Array]>,
    options?: CallOptions,
  ): Promise<FileUploadResponse[]> {
    const batch = ask.lookAtUploads(files);
    const request = () => ask.askUpload(batch);
    reportPart(this, Op.uploadFiles, batch);
    const answer = await asked<FileUploadResponse[]>(
      this,
      Op.uploadFiles,
      request,
      unpack.unpackUpload(batch),
      options,
    );
    return Array.isArray(answer) ? answer : unpack.refusedBatch(batch, answer);
  }

  /**
   * Fetches files as bytes. Returns a result for each path, in order; one that fails does not stop
   * the others. On success its `error` is null.
   */
  async downloadFiles(paths: string[], options?: CallOptions): Promise<FileDownloadResponse[]> {
    const batch = ask.lookAtDownloads(paths);
    const request = () => ask.askDownload(batch);
    reportPart(this, Op.downloadFiles, batch);
    const answer = await asked<FileDownloadResponse[]>(
      this,
      Op.downloadFiles,
      request,
      unpack.unpackDownload(batch),
      options,
    );
    if (Array.isArray(answer)) return answer;
    return unpack.refusedBatch(batch, answer).map((one) => ({ ...one, content: null }));
  }

  /**
   * Moves a file, or a directory with everything below it, file by file. If the new path exists, the
   * call fails with `already_exists`; with `overwrite` a file replaces a file. A directory is never
   * replaced, and nothing is moved into one: name the new path in full. If a move breaks off, the
   * error says which files are where, and no file is gone from both paths.
   *
   * @example
   * await files.move("/draft.md", "/final.md", { overwrite: true });
   */
  move(from: string, to: string, options?: TransferOptions): Promise<WriteResult> {
    return transfer(this, Op.move, from, to, options);
  }

  /** Copies a file, or a directory with everything below it. The rules are those of `move`. */
  copy(from: string, to: string, options?: TransferOptions): Promise<WriteResult> {
    return transfer(this, Op.copy, from, to, options);
  }

  /**
   * Adds to the end of a file, text or binary. A missing file fails with `not_found`: `write` creates
   * it. Concurrent appends are all kept, as edits are.
   */
  append(
    filePath: string,
    content: string | Uint8Array,
    options?: CallOptions,
  ): Promise<WriteResult> {
    const request = () => ask.askAppend(filePath, content);
    return asked(this, Op.append, request, unpack.unpackWrite(filePath), options);
  }

  /**
   * Frees what this object holds, at once; otherwise garbage collection does. Later calls return
   * `unavailable`. Routers, policies and tools that were made with it go on. Also called at the end
   * of a block by `using backend = …`.
   */
  dispose(): void {
    release(this);
  }
}

disposable(Backend.prototype);

/** Options of `execute`. Here `timeoutMs` (milliseconds) is the time limit of the command. */
export interface ExecuteOptions extends CallOptions {}

/** Runs a command on the backend's handle. */
export function executeBy(
  self: object,
  command: string,
  options?: ExecuteOptions,
): Promise<ExecuteResponse> {
  const request = () =>
    refused(() => optionNames(Op.execute, options)) ?? ask.askExecute(command, options?.timeoutMs);
  return asked<ExecuteResponse>(self, Op.execute, request, unpack.unpackExecute, {
    signal: options?.signal,
  }).then((answer) => (answer.error === undefined ? answer : unpack.executeFailure(answer)));
}

/**
 * Adds `id` and `execute` to an object whose backend can run commands. For other backends neither
 * property exists, because callers test for them.
 */
export function addShell(self: object): void {
  const id = enter(() => glue.shell_id(handleOf(self)));
  if (id === undefined) return;
  defineMembers(self, {
    id,
    execute: (command: string, options?: ExecuteOptions) => executeBy(self, command, options),
  });
}
