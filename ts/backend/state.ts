// StateBackend: files in memory, with synchronous results. There are four kinds. Without arguments
// it uses the state of the running graph, and its own memory outside of graphs. With `files` it
// has its own memory. Over a caller's state (`new StateBackend(runtime)`), or over a channel that
// reads the state and receives changes, it mirrors that state. The first kind finds its graph in
// WebAssembly, below the handle: see `graph/files.ts`.

import { limitOf, now, received } from "../core/call.js";
import {
  callOptions,
  isRecord,
  kindOf,
  messageOf,
  olderForm,
  optionNames,
  refused,
} from "../core/checks.js";
import { findsGraphs } from "../core/context.js";
import { deprecated } from "../core/deprecated.js";
import { disposable, handleOf, methodsOnly, own, release, sealClass } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import { rawFile, removeFile, setFile } from "../core/memory.js";
import { Op } from "../core/operations.js";
import type { Reply } from "../core/reply.js";
import * as ask from "../core/requests.js";
import * as unpack from "../core/results.js";
import { textOf } from "../core/text-of.js";
import { GraphFiles } from "../graph/files.js";
import { type Channel, Mirror } from "../graph/mirror.js";
import type {
  BackendProtocolV2,
  CallOptions,
  Capability,
  DeleteOptions,
  DeleteResult,
  EditResult,
  Failure,
  FileData,
  FileDownloadResponse,
  FileInput,
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
import { asked, capabilityOf } from "./backend.js";

/** Options of StateBackend. */
export interface StateBackendOptions {
  /** Initial files, by path. */
  files?: Record<string, FileInput>;
  /** What `write` does if the file exists: fail (`"create"`, the default) or replace it. */
  writeMode?: "create" | "overwrite";
  /**
   * Form of new text files in `readRaw`, `snapshot` and `filesUpdate`: one string (`"v2"`, the
   * default) or an array of lines (`"v1"`).
   */
  fileFormat?: "v1" | "v2";
  /** Most bytes of all files together; more is refused. Default 1 GiB, at most 2 GiB. */
  maxBytes?: number;
  /** Reads and updates a state elsewhere, which then has the files. Default: none. */
  channel?: Channel;
  /**
   * Which files the backend uses inside a running LangGraph graph. `"graph"` (the default): those
   * of the graph's state, separately for each thread; if that state has no `files`, calls fail.
   * `"instance"`: those of this object, shared by all threads. With `files`, `channel` or a runtime
   * the backend never uses the running graph.
   */
  scope?: "graph" | "instance";
}

/** deepagents' older constructor: each call reads `state.files`, results return the changes. */
export interface StateRuntime {
  /** State of the graph, with its `files`. */
  state: unknown;
}

const MAX_BYTES = 2 ** 31;

/** Options that belong into the second argument where the first is a runtime. */
const OPTIONS = ["files", "writeMode", "fileFormat", "maxBytes", "channel", "scope"];

/** Options of the memory: whether `write` replaces, whether new text is `v1`, the size limit. */
type Form = readonly [overwrite: boolean, v1: boolean, maxBytes: number];

/** Outside of the class, so that the closure does not keep an instance alive. */
function maker(form: Form): () => number {
  return () => glue.state_new(...form);
}

/**
 * Files in memory. Every method returns its result and not a promise. Inside a running LangGraph
 * graph, a backend without options works on the files of the graph's state; see `scope`.
 *
 * @example
 * const files = new StateBackend({ files: { "/notes.txt": "milk\n" } });
 * const { content } = files.read("/notes.txt");
 */
export class StateBackend implements BackendProtocolV2 {
  readonly #mirror: Mirror | undefined;
  readonly #graphs: GraphFiles | undefined;

  /**
   * deepagents' older form: results return the changes in `filesUpdate`.
   *
   * @deprecated Inside a graph use `new StateBackend()`, which finds the graph by itself; for a
   * state of your own use the option `channel`.
   */
  constructor(runtime: StateRuntime, options?: StateBackendOptions);
  /** Throws a `TypeError` that names the option, or the file, that is wrong. */
  constructor(options?: StateBackendOptions);
  constructor(first?: StateBackendOptions | StateRuntime, second?: StateBackendOptions) {
    const runtime = runtimeOf(first);
    // Without AsyncLocalStorage, as in a browser, there is no other way with deepagents' own tools.
    if (runtime && findsGraphs()) {
      deprecated(
        "`new StateBackend(runtime)` is deprecated. Pass `new StateBackend()`, which finds the running graph, or the option `channel` for your own state.",
      );
    }
    const options = olderForm("StateBackend", runtime, first, second, OPTIONS);
    const writeMode = options.oneOf("writeMode", ["create", "overwrite"], "create");
    const fileFormat = options.oneOf("fileFormat", ["v1", "v2"], "v2");
    const maxBytes = options.amount("maxBytes");
    if (maxBytes !== undefined && maxBytes > MAX_BYTES) {
      options.refuse("maxBytes", `at most ${MAX_BYTES}, which is what memory holds`, maxBytes);
    }
    const channel = options.object("channel") as Channel | undefined;
    if (channel && !isChannel(channel)) {
      options.refuse("channel", "an object with read() and send(update)", channel);
    }
    const files = options.record("files", '{ "/a.txt": "text" }');
    const scope = options.oneOf("scope", ["graph", "instance"], "graph");
    options.done();
    const form: Form = [writeMode === "overwrite", fileFormat === "v1", maxBytes ?? -1];
    if (!runtime && !channel && !files && scope === "graph") {
      const graphs = new GraphFiles(maker(form));
      own(
        this,
        enter(() => glue.state_in_graphs(...form, graphs)),
      );
      this.#graphs = graphs;
      return;
    }
    const handle = enter(() => glue.state_new(...form));
    own(this, handle);
    const store = {
      set: (path: string, file: unknown) => setFile(handle, path, file, true),
      remove: (path: string) => removeFile(handle, path),
    };
    const raw = (path: string) => rawFile(handle, path);
    if (runtime) this.#mirror = Mirror.ofRuntime(runtime, store, raw);
    else if (channel) this.#mirror = Mirror.ofChannel(channel, store, raw);
    // A mirror reads the caller's state before each call; the handle alone would skip that.
    if (this.#mirror) methodsOnly(this);
    if (files) this.#fill(files, "files");
  }

  /** What this backend guarantees and supports. */
  get capability(): Capability {
    return capabilityOf(handleOf(this));
  }

  /**
   * Lists one directory level, in byte order of the paths; paths of directories end with `/`. A
   * missing directory and the path of a file give an empty listing.
   */
  ls(path: string): LsResult {
    return this.#asked(Op.ls, () => ask.askLs(path), unpack.unpackLs);
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
   * const page = files.read("/log.txt", 100, 100);
   */
  read(filePath: string, offset?: number, limit?: number): ReadResult {
    return this.#asked(Op.read, () => ask.askRead(filePath, offset, limit), unpack.unpackRead);
  }

  /**
   * Reads a whole text file, of whatever length. A binary file fails with `unsupported`, a missing one
   * with `not_found`.
   */
  readText(filePath: string): ReadTextResult {
    return textOf(filePath, this.readRaw(filePath));
  }

  /**
   * Returns a file as it is stored, complete, with its MIME type and times. A missing file fails with
   * `not_found`.
   */
  readRaw(filePath: string): ReadRawResult {
    return this.#asked(Op.readRaw, () => ask.askFile(filePath), unpack.unpackReadRaw);
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
   * @param options `timeoutMs` limits the search; `signal` has no effect on a synchronous call.
   */
  grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | GrepOptions | null,
    options?: GrepOptions,
  ): GrepResult {
    const given = ask.grepOptions(maxCount, options);
    const request = () => ask.askGrep(pattern, path, glob, maxCount, given);
    let limit: number | undefined;
    const refusal = refused(() => {
      optionNames(Op.grep, given);
      limit = limitOf(callOptions(given));
    });
    return refusal ?? this.#asked(Op.grep, request, unpack.unpackGrep, limit);
  }

  /**
   * Finds files whose path below `path` (default `/`) matches a pattern, newest first. `*` and `?`
   * match inside a segment, `**` also matches `/`, and `{a,b}`, `[abc]`, `[!a]` and `\` work as
   * usual. A pattern without `/` matches only directly below `path`; one that begins with `/` is
   * matched against whole paths. A wrong pattern fails with `invalid_pattern`.
   *
   * @example
   * const { files } = backend.glob("*.{md,txt}", "/notes");
   */
  glob(pattern: string, path?: string): GlobResult {
    return this.#asked(Op.glob, () => ask.askGlob(pattern, path), unpack.unpackGlob);
  }

  /**
   * Searches as `grep` does, with a promise: every few milliseconds other work of the page or process
   * goes on, such as drawing. Files are searched in the order of their paths, each as it is when the
   * search comes to it: of one that is changed meanwhile, the old text is found or the new one.
   *
   * @param pattern As of `grep`, as are the other parameters.
   * @param options `signal` ends the search with the next pause.
   * @example
   * const { matches } = await files.grepAsync("TODO", "/", "*.ts", { signal });
   */
  grepAsync(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | GrepOptions | null,
    options?: GrepOptions,
  ): Promise<GrepResult> {
    const given = ask.grepOptions(maxCount, options);
    const request = () => this.#mirror?.sync() ?? ask.askGrep(pattern, path, glob, maxCount, given);
    return asked(this, Op.grep, request, unpack.unpackGrep, given);
  }

  /** Finds files as `glob` does, with a promise, among the files as they are when the call is made. */
  globAsync(pattern: string, path?: string, options?: CallOptions): Promise<GlobResult> {
    const request = () => this.#mirror?.sync() ?? ask.askGlob(pattern, path);
    return asked(this, Op.glob, request, unpack.unpackGlob, options);
  }

  /**
   * Creates a file. If it exists, the call fails with `already_exists`, or replaces it with
   * `writeMode: "overwrite"`. A failed call leaves the file as it was. Bytes are stored unchanged.
   * For a path with a binary type, such as `.png`, a string must be base64 or a `data:` URL;
   * otherwise the call fails with `invalid_argument`.
   */
  write(filePath: string, content: string | Uint8Array, options?: WriteOptions): WriteResult {
    const request = () =>
      refused(() => optionNames(Op.write, options)) ?? ask.askWrite(filePath, content, options);
    return this.#changed(this.#asked(Op.write, request, unpack.unpackWrite(filePath)));
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
  ): EditResult {
    const request = () => ask.askEdit(filePath, oldString, newString, replaceAll);
    return this.#changed(this.#asked(Op.edit, request, unpack.unpackEdit(filePath)));
  }

  /**
   * Deletes a file, or a directory with everything below it. If there is nothing, the call fails with
   * `not_found`. The root cannot be deleted.
   */
  delete(filePath: string, options?: DeleteOptions): DeleteResult {
    const request = () =>
      refused(() => optionNames(Op.delete, options)) ?? ask.askDelete(filePath, options);
    const result = this.#asked(Op.delete, request, unpack.unpackDelete(filePath));
    if (!this.#mirror || result.path === undefined) return result;
    return this.#mirror.deleted(result, result.path);
  }

  /**
   * Stores files as bytes, replacing existing ones. Returns a result for each, in order; one that
   * fails does not stop the others. On success its `error` is null.
   */
  uploadFiles(files: Array<[string, Uint8Array]>): FileUploadResponse[] {
    const batch = ask.lookAtUploads(files);
    const answer = this.#asked<FileUploadResponse[]>(
      Op.uploadFiles,
      () => ask.askUpload(batch),
      unpack.unpackUpload(batch),
    );
    if (!Array.isArray(answer)) return unpack.refusedBatch(batch, answer);
    return this.#mirror ? this.#mirror.uploaded(answer) : answer;
  }

  /**
   * Fetches files as bytes. Returns a result for each path, in order; one that fails does not stop
   * the others. On success its `error` is null.
   */
  downloadFiles(paths: string[]): FileDownloadResponse[] {
    const batch = ask.lookAtDownloads(paths);
    const answer = this.#asked<FileDownloadResponse[]>(
      Op.downloadFiles,
      () => ask.askDownload(batch),
      unpack.unpackDownload(batch),
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
   * files.move("/draft.md", "/final.md", { overwrite: true });
   */
  move(from: string, to: string, options?: TransferOptions): WriteResult {
    return this.#transferred(Op.move, from, to, options);
  }

  /** Copies a file, or a directory with everything below it. The rules are those of `move`. */
  copy(from: string, to: string, options?: TransferOptions): WriteResult {
    return this.#transferred(Op.copy, from, to, options);
  }

  /**
   * Adds to the end of a file, text or binary. A missing file fails with `not_found`: `write` creates
   * it. Concurrent appends are all kept, as edits are.
   */
  append(filePath: string, content: string | Uint8Array): WriteResult {
    const request = () => ask.askAppend(filePath, content);
    return this.#changed(this.#asked(Op.append, request, unpack.unpackWrite(filePath)));
  }

  /** Returns every file as it is stored, with its times. Pass the record to `restore` to undo. */
  snapshot(): Record<string, FileData> {
    const stale = this.#mirror?.sync();
    if (stale) throw new Error(stale.error);
    const handle = this.#graphs?.current() || handleOf(this);
    enter(() => glue.state_snapshot(handle));
    const answer = received((reply) => {
      const files: Record<string, FileData> = {};
      const count = reply.u32();
      for (let at = 0; at < count; at++) {
        const path = reply.text();
        files[path] = unpack.fileData(reply);
      }
      return { files };
    });
    if (!("files" in answer)) throw new Error(answer.error);
    enter(() => glue.reply_done());
    return answer.files;
  }

  /**
   * Replaces all files by those of `record`. Throws if a file cannot be stored; the files are then
   * unchanged. Not for files of a caller's state or of a running graph.
   */
  restore(record: Record<string, FileInput>): void {
    if (this.#mirror || this.#graphs?.current()) {
      throw new TypeError(
        "StateBackend: restore() is for files of the backend itself, not of a state or of a graph",
      );
    }
    if (!isRecord(record)) {
      throw new TypeError(
        `StateBackend: restore() takes an object such as { "/a.txt": file }, not ${kindOf(record)}`,
      );
    }
    const before = this.snapshot();
    enter(() => glue.state_clear(handleOf(this)));
    try {
      this.#fill(record, "restore");
    } catch (error) {
      enter(() => glue.state_clear(handleOf(this)));
      this.#fill(before, "restore");
      throw error;
    }
  }

  #asked<T extends object>(
    operation: number,
    request: () => Failure | undefined,
    unpackIt: (reply: Reply) => T,
    limit?: number,
  ): T {
    const handle = handleOf(this);
    const refusal = this.#mirror?.sync() ?? request();
    return (refusal ?? now(handle, operation, unpackIt, limit)) as T;
  }

  /**
   * Frees the files, at once; otherwise garbage collection does. Later calls return `unavailable`.
   * Also called at the end of a block by `using backend = …`.
   */
  dispose(): void {
    release(this);
  }

  #transferred(operation: number, from: string, to: string, options: unknown): WriteResult {
    const request = () =>
      refused(() => optionNames(operation, options)) ?? ask.askTransfer(from, to, options);
    const result = this.#asked(operation, request, unpack.unpackWrite(to));
    if (!this.#mirror || result.path === undefined) return result;
    ask.askGlob("**", result.path);
    const there = now(handleOf(this), Op.glob, unpack.unpackGlob) as GlobResult;
    // A search below a file finds nothing.
    const paths = [result.path, ...(there.files ?? []).map(({ path }) => path)];
    return this.#mirror.transferred(result, paths, operation === Op.move ? from : undefined);
  }

  #changed<T extends WriteResult | EditResult>(result: T): T {
    if (!this.#mirror || result.path === undefined) return result;
    return this.#mirror.changed(result, result.path);
  }

  #fill(files: Record<string, unknown>, name: string): void {
    let entries: Array<[string, unknown]>;
    try {
      entries = Object.entries(files);
    } catch (error) {
      throw new TypeError(`StateBackend: ${name} could not be read: ${messageOf(error)}`, {
        cause: error,
      });
    }
    for (const [path, file] of entries) {
      const refusal = setFile(handleOf(this), path, file);
      if ("error" in refusal) {
        throw new TypeError(
          `StateBackend: ${name}[${JSON.stringify(path)}] cannot be stored: ${refusal.error}`,
        );
      }
    }
  }
}

sealClass(StateBackend);
disposable(StateBackend.prototype);

/** False also for an object whose getters throw. */
function isChannel(channel: Channel): boolean {
  try {
    return typeof channel.read === "function" && typeof channel.send === "function";
  } catch {
    return false;
  }
}

function runtimeOf(first: unknown): StateRuntime | undefined {
  let found = false;
  const bad = refused(() => {
    found = typeof first === "object" && first !== null && "state" in first;
  });
  if (bad) throw new TypeError(`StateBackend: the first argument could not be read: ${bad.error}`);
  return found ? (first as StateRuntime) : undefined;
}
