// The operations as calls: how the arguments of a method are written, and how its answer is read. Methods
// are made from them, here those that return promises, for every asynchronous backend; `StateBackend`
// makes its own, which answer at once. A subclass only reads its options; the operations are implemented
// in WebAssembly.

import { later, received, reportRefused } from "../core/call.js";
import { callOptions, optionNames, refused } from "../core/checks.js";
import { defineMembers, disposable, handleOf, own, release } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import { type Watch, watchOf } from "../core/listeners.js";
import { Op } from "../core/operations.js";
import { isParts, whole } from "../core/parts.js";
import type { Reply } from "../core/reply.js";
import * as ask from "../core/requests.js";
import * as unpack from "../core/results.js";
import { textOf } from "../core/text-of.js";
import type {
  BackendProtocolV2,
  CallOptions,
  Capability,
  ExecuteResponse,
  Failure,
  FileDownloadResponse,
  FileParts,
  FileUploadResponse,
  ReadTextResult,
} from "../types.js";
import type { FileMethods } from "./methods.js";

/** A call before it is made. */
export interface Call<T> {
  /** The number of the operation. */
  operation: number;
  /** Writes the arguments, or refuses them. */
  write(): Failure | undefined;
  /** Reads an answer. */
  read(reply: Reply): T;
  /** The options of the method, as they were given. */
  options?: unknown;
  /** The path that a move or a copy is of. */
  from?: string | undefined;
  /** The files of a batch, where each has an answer of its own. */
  batch?: ask.Batch<unknown> | undefined;
  /** The result where the whole call was refused. Default: the refusal. */
  refused?(refusal: Failure): T;
}

/** What only some calls have. */
type Particular<T> = Pick<Call<T>, "from" | "batch" | "refused">;

/** All calls have the same shape, which engines need to read them fast. */
const call = <T>(
  operation: number,
  write: () => Failure | undefined,
  read: (reply: Reply) => T,
  options?: unknown,
  { from, batch, refused }: Particular<T> = {},
): Call<T> => ({ operation, write, read, options, from, batch, refused });

const transfer = (operation: number, from: string, to: string, options: unknown) => {
  const write = () => ask.askTransfer(from, to, options);
  return call(operation, write, unpack.unpackWrite(to), options, { from });
};

/** The calls, by their methods, with the methods' arguments. `FileMethods` has their types. */
export const calls = {
  ls: (path: unknown, options?: unknown) =>
    call(Op.ls, () => ask.askLs(path), unpack.unpackLs, options),
  read: (path: unknown, offset: unknown, limit: unknown, options?: unknown) =>
    call(Op.read, () => ask.askRead(path, offset, limit), unpack.unpackRead, options),
  readRaw: (path: unknown, options?: unknown) =>
    call(Op.readRaw, () => ask.askFile(path, options), unpack.unpackReadRaw, options),
  grep: (pattern: unknown, path: unknown, glob: unknown, maxCount: unknown, options: unknown) => {
    const given = ask.grepOptions(maxCount, options);
    const write = () => ask.askGrep(pattern, path, glob, maxCount, given);
    const read = (reply: Reply) => unpack.unpackGrep(reply, given);
    return call(Op.grep, write, read, given);
  },
  glob: (pattern: unknown, path: unknown, options?: unknown) =>
    call(Op.glob, () => ask.askGlob(pattern, path), unpack.unpackGlob, options),
  write: (path: string, content: unknown, options?: unknown) =>
    call(Op.write, () => ask.askWrite(path, content, options), unpack.unpackWrite(path), options),
  edit: (path: string, old: unknown, fresh: unknown, all: unknown, options?: unknown) =>
    call(Op.edit, () => ask.askEdit(path, old, fresh, all), unpack.unpackEdit(path), options),
  delete: (path: string, options?: unknown) =>
    call(Op.delete, () => ask.askDelete(path, options), unpack.unpackDelete(path), options),
  uploadFiles: (files: unknown, options?: unknown): Call<FileUploadResponse[]> => {
    const batch = ask.lookAtUploads(files);
    const read = unpack.unpackUpload(batch);
    return call(Op.uploadFiles, () => ask.askUpload(batch, options), read, options, {
      batch,
      refused: (refusal) => unpack.refusedBatch(batch, refusal),
    });
  },
  downloadFiles: (paths: unknown, options?: unknown): Call<FileDownloadResponse[]> => {
    const batch = ask.lookAtDownloads(paths);
    const read = unpack.unpackDownload(batch);
    return call(Op.downloadFiles, () => ask.askDownload(batch), read, options, {
      batch,
      refused: (refusal) =>
        unpack.refusedBatch(batch, refusal).map((one) => ({ ...one, content: null })),
    });
  },
  move: (from: string, to: string, options?: unknown) => transfer(Op.move, from, to, options),
  copy: (from: string, to: string, options?: unknown) => transfer(Op.copy, from, to, options),
  append: (path: string, content: unknown, options?: unknown) =>
    call(Op.append, () => ask.askAppend(path, content), unpack.unpackWrite(path), options),
  execute: (command: string, options?: CallOptions): Call<ExecuteResponse> => {
    // Here the time limit is that of the command.
    const write = () =>
      refused(() => optionNames(Op.execute, options)) ??
      ask.askExecute(command, options?.timeoutMs);
    const given = { signal: options?.signal };
    return call(Op.execute, write, unpack.unpackExecute, given, { refused: unpack.executeFailure });
  },
};

/** The result of a call from its answer, or from the refusal of its arguments. */
export function resultOf<T>(call: Call<T>, answer: T | Failure): T {
  const failed = (answer as Failure).error !== undefined;
  return failed && call.refused ? call.refused(answer as Failure) : (answer as T);
}

/** Starts a call on the backend's handle, or returns the refusal of its arguments. */
export function started<T>(self: object, call: Call<T>): Promise<T> {
  const { operation, options, batch } = call;
  let read: CallOptions | undefined;
  const wrong = refused(() => {
    optionNames(operation, options);
    read = callOptions(options);
  });
  const handle = handleOf(self);
  if (!wrong && batch?.sound.some((file) => isParts((file as ask.Upload)[1]))) {
    return oneByOne(self, batch as ask.Batch<ask.Upload>, options) as Promise<T>;
  }
  const refusal = wrong ?? call.write();
  // Entries of a batch that are refused here, while the others are passed on.
  if (batch && batch.sound.length > 0 && batch.sound.length < batch.inputs.length) {
    reportRefused(handle, operation);
  }
  if (refusal) {
    reportRefused(handle, operation, refusal.code);
    return Promise.resolve(resultOf<T>(call, refusal));
  }
  const answer = later(handle, operation, call.read, read);
  // Reads of small files are as fast as a promise, so there is no second one.
  return call.refused ? answer.then((one) => resultOf(call, one)) : (answer as Promise<T>);
}

/** Stores one file whose bytes come in parts. */
type InParts = (
  self: object,
  path: string,
  content: FileParts,
  options: unknown,
) => Promise<FileUploadResponse>;

/** How that is done: where no class of the page stores parts, the file is read before it is stored. */
let inParts: InParts = async (self, path, content, options) => {
  const one = { inputs: [{ path }], sound: [] };
  const read = await whole(content, callOptions(options) ?? {});
  if (!(read instanceof Uint8Array)) return unpack.refusedBatch(one, read)[0] as FileUploadResponse;
  const [answer] = await started(self, calls.uploadFiles([[path, read]], options));
  return answer as FileUploadResponse;
};

/** Called by the module of the classes that store parts. */
export function storeInParts(store: InParts): void {
  inParts = store;
}

/** Stores files in their order, those whose bytes come in parts one by one. */
async function oneByOne(
  self: object,
  { inputs, sound }: ask.Batch<ask.Upload>,
  options: unknown,
): Promise<FileUploadResponse[]> {
  const results: FileUploadResponse[] = [];
  const files = sound.values();
  let together: unknown[] = [];
  const store = async () => {
    if (together.length > 0)
      results.push(...(await started(self, calls.uploadFiles(together, options))));
    together = [];
  };
  for (const { path, refusal } of inputs) {
    const content = refusal === undefined && files.next().value?.[1];
    if (content && !isParts(content)) {
      together.push([path, content]);
      continue;
    }
    await store();
    if (content) {
      results.push(await inParts(self, path, content, options));
    } else {
      reportRefused(handleOf(self), Op.uploadFiles);
      results.push(unpack.badInput(path, refusal ?? ""));
    }
  }
  await store();
  return results;
}

/** Adds the methods to a class; `run` makes a call. */
export function addMethods<T extends object>(
  prototype: T,
  run: (self: T, call: Call<object>) => unknown,
): void {
  const { execute: _, ...methods } = calls;
  for (const [name, make] of Object.entries(methods)) {
    const callOf = make as (...given: unknown[]) => Call<object>;
    // No method has more arguments; gathering them would make the short calls slower.
    const method = function (this: T, a: unknown, b: unknown, c: unknown, d: unknown, e: unknown) {
      return run(this, callOf(a, b, c, d, e));
    };
    Object.defineProperties(method, { name: { value: name }, [unpack.MATCHES]: { value: true } });
    Object.defineProperty(prototype, name, { value: method, writable: true, configurable: true });
  }
}

/** Returns the capability of the backend with this handle. */
export function capabilityOf(handle: number): Capability {
  enter(() => glue.capability(handle));
  return received(unpack.unpackCapability) as Capability;
}

/** Its methods, which `addMethods` puts on the prototype. */
export interface Backend extends FileMethods<"later"> {}

/**
 * Base class of every backend whose methods return promises. Methods do not reject because of
 * their arguments or the storage: they return `{ error, code }`.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the methods are added to the prototype
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
   * Reads a whole text file, of whatever length. A binary file fails with `unsupported`, a missing one
   * with `not_found`.
   */
  async readText(filePath: string, options?: CallOptions): Promise<ReadTextResult> {
    return textOf(filePath, await this.readRaw(filePath, options));
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

addMethods(Backend.prototype, started);
disposable(Backend.prototype);

/** Options of `execute`. Here `timeoutMs` (milliseconds) is the time limit of the command. */
export interface ExecuteOptions extends CallOptions {}

/** Runs a command on the backend's handle. */
export function executeBy(
  self: object,
  command: string,
  options?: ExecuteOptions,
): Promise<ExecuteResponse> {
  return started(self, calls.execute(command, options));
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
