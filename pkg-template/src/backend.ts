// The methods of every backend that answers with promises. A class of its own adds only its
// options; what an operation means stands in wasm.

import { later, Op, received } from "./core/call.js";
import { callOptions, refused } from "./core/checks.js";
import { handleOf, own } from "./core/handle.js";
import { enter, glue } from "./core/instance.js";
import type { Reply } from "./core/reply.js";
import * as ask from "./core/requests.js";
import * as unpack from "./core/results.js";
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
  WriteOptions,
  WriteResult,
} from "./types.js";

/** Asks a backend by its handle, unless an argument or option is refused. */
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
      read = callOptions(options);
    }) ?? ask();
  if (refusal) return Promise.resolve(refusal as T);
  return later(handleOf(self), operation, unpackIt, read) as Promise<T>;
}

/** What a backend can promise. */
export function capabilityOf(handle: number): Capability {
  enter(() => glue.call_now(handle, Op.capability, 0, -1));
  return received(unpack.unpackCapability) as Capability;
}

/** Every backend whose answers are promises. */
export abstract class Backend implements BackendProtocolV2 {
  constructor(handle: number) {
    own(this, handle);
  }

  /** What this backend can promise. */
  get capability(): Capability {
    return capabilityOf(handleOf(this));
  }

  ls(path: string, options?: CallOptions): Promise<LsResult> {
    return asked(this, Op.ls, () => ask.askLs(path), unpack.unpackLs, options);
  }

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

  readRaw(filePath: string, options?: CallOptions): Promise<ReadRawResult> {
    return asked(this, Op.readRaw, () => ask.askFile(filePath), unpack.unpackReadRaw, options);
  }

  grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: GrepOptions,
  ): Promise<GrepResult> {
    const request = () => ask.askGrep(pattern, path, glob, maxCount, options);
    return asked(this, Op.grep, request, unpack.unpackGrep, options);
  }

  glob(pattern: string, path?: string, options?: CallOptions): Promise<GlobResult> {
    return asked(this, Op.glob, () => ask.askGlob(pattern, path), unpack.unpackGlob, options);
  }

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

  delete(filePath: string, options?: DeleteOptions): Promise<DeleteResult> {
    return asked(
      this,
      Op.delete,
      () => ask.askDelete(filePath, options),
      unpack.unpackDelete(filePath),
      options,
    );
  }

  async uploadFiles(
    files: Array<[string, Uint8Array]>,
    options?: CallOptions,
  ): Promise<FileUploadResponse[]> {
    const batch = ask.lookAtUploads(files);
    const request = () => ask.askUpload(batch.sound);
    const answer = await asked<FileUploadResponse[] & Failure>(
      this,
      Op.upload,
      request,
      unpack.unpackUpload(batch),
      options,
    );
    return Array.isArray(answer) ? answer : unpack.refusedBatch(batch, answer);
  }

  async downloadFiles(paths: string[], options?: CallOptions): Promise<FileDownloadResponse[]> {
    const batch = ask.lookAtDownloads(paths);
    const request = () => ask.askDownload(batch.sound);
    const answer = await asked<FileDownloadResponse[] & Failure>(
      this,
      Op.download,
      request,
      unpack.unpackDownload(batch),
      options,
    );
    if (Array.isArray(answer)) return answer;
    return unpack.refusedBatch(batch, answer).map((one) => ({ ...one, content: null }));
  }
}

/** How a command is to run. */
export interface ExecuteOptions extends CallOptions {}

/** Runs a command by a backend's handle. */
export function executeBy(
  self: object,
  command: string,
  options?: ExecuteOptions,
): Promise<ExecuteResponse> {
  const request = () => ask.askExecute(command, options?.timeoutMs);
  return asked<ExecuteResponse>(self, Op.execute, request, unpack.unpackExecute, {
    signal: options?.signal,
  }).then((answer) => (answer.error === undefined ? answer : unpack.executeFailure(answer)));
}

/**
 * Gives an object `id` and `execute` where its backend can run commands. Where it cannot,
 * neither exists at all, since callers test for them.
 */
export function addShell(self: object): void {
  const id = enter(() => glue.shell_id(handleOf(self)));
  if (id === undefined) return;
  Object.defineProperties(self, {
    id: { value: id, enumerable: true },
    execute: {
      value: (command: string, options?: ExecuteOptions) => executeBy(self, command, options),
    },
  });
}
