// StateBackend: files in memory, answering at once. Three ways to make one: on its own; over a
// caller's state that is read through on every call (`new StateBackend(runtime)`); over a
// channel that gives the state and takes changes. The last two are a mirror of that state.

import { capabilityOf } from "./backend.js";
import { limitOf, now, Op, received } from "./core/call.js";
import { callOptions, encoded, messageOf, Options, refused } from "./core/checks.js";
import { handleOf, methodsOnly, own, sealClass } from "./core/handle.js";
import { enter, glue } from "./core/instance.js";
import {
  finish,
  putBool,
  putBytes,
  putLongText,
  putOptionalText,
  putText,
  sent,
} from "./core/message.js";
import type { Reply } from "./core/reply.js";
import * as ask from "./core/requests.js";
import * as unpack from "./core/results.js";
import { incoming } from "./filedata.js";
import { type Channel, Mirror } from "./mirror.js";
import type {
  BackendProtocolV2,
  Capability,
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
}

/** deepagents' older construction: the state is read on every call, changes are handed back. */
export interface StateRuntime {
  state: unknown;
}

const MAX_BYTES = 2 ** 31;

/** Files in memory. Every method answers at once. */
export class StateBackend implements BackendProtocolV2 {
  readonly #mirror: Mirror | undefined;

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
    options.done();
    own(
      this,
      enter(() => glue.state_new(writeMode === "overwrite", fileFormat === "v1", maxBytes ?? -1)),
    );
    const store = { set: this.#set.bind(this), remove: this.#remove.bind(this) };
    const raw = (path: string) => this.#raw(path);
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

  write(filePath: string, content: string): WriteResult {
    const request = () => ask.askWrite(filePath, content);
    return this.#changed(this.#asked(Op.write, request, unpack.unpackWrite(filePath)));
  }

  edit(filePath: string, oldString: string, newString: string, replaceAll?: boolean): EditResult {
    const request = () => ask.askEdit(filePath, oldString, newString, replaceAll);
    return this.#changed(this.#asked(Op.edit, request, unpack.unpackEdit(filePath)));
  }

  delete(filePath: string): DeleteResult {
    const request = () => ask.askFile(filePath);
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
    enter(() => glue.state_snapshot(handleOf(this)));
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
    if (this.#mirror) {
      throw new TypeError("StateBackend: restore() is for a backend that keeps its own files");
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
      const refusal = this.#set(path, file);
      if ("error" in refusal) {
        throw new TypeError(
          `StateBackend: ${name}[${JSON.stringify(path)}] cannot be stored: ${refusal.error}`,
        );
      }
    }
  }

  /** Puts one file as it is given; tells its canonical path. */
  #set(path: string, file: unknown): { path: string } | Failure {
    const refusal = encoded(
      () => incoming(file),
      (seen) => {
        if (typeof seen.content === "string") putLongText(seen.content);
        else putBytes(seen.content);
        putText(path);
        putBool(seen.v1);
        // Bytes under a name of text stay what they are; a type given with them is kept.
        putOptionalText(seen.mimeType);
        putOptionalText(seen.created);
        putOptionalText(seen.modified);
      },
    );
    if (refusal) return refusal;
    const length = finish();
    sent();
    enter(() => glue.state_set(handleOf(this), length));
    return received((reply) => ({ path: reply.text() }));
  }

  #remove(path: string): void {
    encoded(() => path, putText);
    const length = finish();
    enter(() => glue.state_remove(handleOf(this), length));
  }

  #raw(path: string): FileData | undefined {
    if (ask.askFile(path)) return undefined;
    const answer: ReadRawResult = now(handleOf(this), Op.readRaw, unpack.unpackReadRaw);
    return answer.data;
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
