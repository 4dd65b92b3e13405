// StateBackend: files in memory, answering at once. Four ways to make one: bare, which is the
// state of the running graph, and a memory of its own outside of graphs; with files of its own;
// over a caller's state that is read through on every call (`new StateBackend(runtime)`); over a
// channel that gives the state and takes changes. The last two are a mirror of that state. A bare
// one finds its graph behind the handle, in wasm: see `graph/files.ts`.

import { capabilityOf } from "./backend.js";
import { limitOf, now, Op, received } from "./core/call.js";
import { callOptions, messageOf, Options, refused } from "./core/checks.js";
import { handleOf, methodsOnly, own, sealClass } from "./core/handle.js";
import { enter, glue } from "./core/instance.js";
import type { Reply } from "./core/reply.js";
import * as ask from "./core/requests.js";
import * as unpack from "./core/results.js";
import { GraphFiles } from "./graph/files.js";
import { rawFile, removeFile, setFile } from "./memory.js";
import { type Channel, Mirror } from "./mirror.js";
import type {
  BackendProtocolV2,
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
  WriteOptions,
  WriteResult,
} from "./types.js";

/** How a StateBackend is made. */
export interface StateBackendOptions {
  /** Files to begin with. */
  files?: Record<string, FileInput>;
  /** What `write` does where the file exists: refuse (`"create"`, the default) or replace it. */
  writeMode?: "create" | "overwrite";
  /** The form that new text files take in `readRaw`, `snapshot` and `filesUpdate`. */
  fileFormat?: "v1" | "v2";
  /** Bytes of all files together; over it, changes are refused. 1 GiB unless said otherwise. */
  maxBytes?: number;
  /** Where the files live, if not here. */
  channel?: Channel;
  /**
   * Whose files they are inside a running LangGraph graph. `"graph"` (the default): those of the
   * graph's state, thread by thread; where that state has no `files`, calls are refused.
   * `"instance"`: those of this object, which all threads share. With `files`, `channel` or a
   * runtime they are never the running graph's.
   */
  scope?: "graph" | "instance";
}

/** deepagents' older construction: the state is read on every call, changes are handed back. */
export interface StateRuntime {
  state: unknown;
}

const MAX_BYTES = 2 ** 31;

/** How memory is made: whether `write` replaces, whether new text is lines, the limit. */
type Form = readonly [overwrite: boolean, v1: boolean, maxBytes: number];

/** Apart from the class, so that it cannot keep an instance alive. */
function maker(form: Form): () => number {
  return () => glue.state_new(...form);
}

/** Files in memory. Every method answers at once. */
export class StateBackend implements BackendProtocolV2 {
  readonly #mirror: Mirror | undefined;
  readonly #graphs: GraphFiles | undefined;

  constructor(runtime: StateRuntime, options?: StateBackendOptions);
  constructor(options?: StateBackendOptions);
  constructor(first?: StateBackendOptions | StateRuntime, second?: StateBackendOptions) {
    const runtime = runtimeOf(first);
    const options = new Options("StateBackend", runtime ? second : first);
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
    const files = options.object("files");
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
      set: (path: string, file: unknown) => setFile(handle, path, file),
      remove: (path: string) => removeFile(handle, path),
    };
    const raw = (path: string) => rawFile(handle, path);
    if (runtime) this.#mirror = Mirror.ofRuntime(runtime, store, raw);
    else if (channel) this.#mirror = Mirror.ofChannel(channel, store, raw);
    // A mirror looks at the caller's state before each call, which the handle alone would not.
    if (this.#mirror) methodsOnly(this);
    if (files) this.#fill(files, "files");
  }

  /** What this backend can promise. */
  get capability(): Capability {
    return capabilityOf(handleOf(this));
  }

  ls(path: string): LsResult {
    return this.#asked(Op.ls, () => ask.askLs(path), unpack.unpackLs);
  }

  read(filePath: string, offset?: number, limit?: number): ReadResult {
    return this.#asked(Op.read, () => ask.askRead(filePath, offset, limit), unpack.unpackRead);
  }

  readRaw(filePath: string): ReadRawResult {
    return this.#asked(Op.readRaw, () => ask.askFile(filePath), unpack.unpackReadRaw);
  }

  grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: GrepOptions,
  ): GrepResult {
    const request = () => ask.askGrep(pattern, path, glob, maxCount, options);
    let limit: number | undefined;
    const refusal = refused(() => {
      limit = limitOf(callOptions(options));
    });
    return refusal ?? this.#asked(Op.grep, request, unpack.unpackGrep, limit);
  }

  glob(pattern: string, path?: string): GlobResult {
    return this.#asked(Op.glob, () => ask.askGlob(pattern, path), unpack.unpackGlob);
  }

  write(filePath: string, content: string | Uint8Array, options?: WriteOptions): WriteResult {
    const request = () => ask.askWrite(filePath, content, options);
    return this.#changed(this.#asked(Op.write, request, unpack.unpackWrite(filePath)));
  }

  edit(
    filePath: string,
    oldString: string | Uint8Array,
    newString: string | Uint8Array,
    replaceAll?: boolean,
  ): EditResult {
    const request = () => ask.askEdit(filePath, oldString, newString, replaceAll);
    return this.#changed(this.#asked(Op.edit, request, unpack.unpackEdit(filePath)));
  }

  delete(filePath: string, options?: DeleteOptions): DeleteResult {
    const request = () => ask.askDelete(filePath, options);
    const result = this.#asked(Op.delete, request, unpack.unpackDelete(filePath));
    if (!this.#mirror || result.path === undefined) return result;
    return this.#mirror.deleted(result, result.path);
  }

  uploadFiles(files: Array<[string, Uint8Array]>): FileUploadResponse[] {
    const batch = ask.lookAtUploads(files);
    const answer = this.#asked<FileUploadResponse[] & Failure>(
      Op.upload,
      () => ask.askUpload(batch.sound),
      unpack.unpackUpload(batch),
    );
    if (!Array.isArray(answer)) return unpack.refusedBatch(batch, answer);
    return this.#mirror ? this.#mirror.uploaded(answer) : answer;
  }

  downloadFiles(paths: string[]): FileDownloadResponse[] {
    const batch = ask.lookAtDownloads(paths);
    const answer = this.#asked<FileDownloadResponse[] & Failure>(
      Op.download,
      () => ask.askDownload(batch.sound),
      unpack.unpackDownload(batch),
    );
    if (Array.isArray(answer)) return answer;
    return unpack.refusedBatch(batch, answer).map((one) => ({ ...one, content: null }));
  }

  /** Every file as stored: a record that `restore` takes back, bytes and times included. */
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

  /** Makes the files exactly those of `record`; what was there before goes. */
  restore(record: Record<string, FileInput>): void {
    if (this.#mirror || this.#graphs?.current()) {
      throw new TypeError(
        "StateBackend: restore() is for a backend that keeps its own files, not for those of a state or of the graph that runs",
      );
    }
    if (typeof record !== "object" || record === null) {
      throw new TypeError("StateBackend: restore() takes a record of path to file");
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

/** A getter of the caller's may throw; then it is none. */
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
