// What archives of both formats share: their options, the limits of unpacking, the names that are
// refused, and the files that are packed.

import { type AnyBackend, visibleName } from "kitbag";
import { namesIn } from "../../core/paths.js";
import { checkOptions, directoryOf } from "./options.js";
import { BATCH_BYTES, batches, type ConflictRule, type Content, Place } from "./place.js";
import { Stop, Tally, type TransferProgress, type TransferResult } from "./tally.js";
import { Tree, UNKNOWN } from "./tree.js";

/** Options of `toTar` and `toZip`. */
export interface PackOptions {
  /** The directory that is packed; names in the archive are those below it. Default `/`. */
  from?: string;
  /** Bytes of files that are read at a time. Default 8 MiB. */
  batchBytes?: number;
  /** Called after each batch, with what was packed as `copied`. What it throws ends the stream. */
  onProgress?: (progress: TransferProgress) => unknown;
  /** Ends the stream with an error. */
  signal?: AbortSignal;
}

/** Options of `fromTar` and `fromZip`. */
export interface UnpackOptions {
  /** The directory that files are stored in. Default `/`. */
  to?: string;
  /** As of `copyTree`. Default `"error"`. */
  onConflict?: ConflictRule;
  /** Most files and directories in the archive. More end the unpacking (`too_large`). Default 100,000. */
  maxFiles?: number;
  /** Most bytes of all files together, unpacked. Default 1 GiB. */
  maxBytes?: number;
  /** Most bytes of a single file, unpacked. Default 256 MiB. */
  maxFileBytes?: number;
  /** Bytes that are collected before they are stored. Default 8 MiB. */
  batchBytes?: number;
  /** Called after each batch. What it throws ends the unpacking. */
  onProgress?: (progress: TransferProgress) => unknown;
  /** Ends the unpacking; the result then has `code: "timeout"`. */
  signal?: AbortSignal;
}

/** The default of `maxFiles`. */
const MAX_FILES = 100_000;
/** The default of `maxBytes`. */
const MAX_BYTES = 1024 * 1024 * 1024;
/** The default of `maxFileBytes`. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** An archive, as `fetch`, a file input or a program has it. */
export type ArchiveSource = ReadableStream<Uint8Array> | Uint8Array | ArrayBuffer | Blob;

/** The archive as a stream. */
export function streamOf(of: string, source: ArchiveSource): ReadableStream<Uint8Array> {
  if (source instanceof ReadableStream) return source;
  if (source instanceof Blob) return source.stream();
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    return new Blob([source as BlobPart]).stream();
  }
  throw new TypeError(`${of}: the archive must be a ReadableStream, a Blob or bytes`);
}

/** A file to pack, or a directory without files (no bytes). */
export interface Packed {
  name: string;
  bytes: Uint8Array | undefined;
  changed: Date;
}

/** Everything that belongs into an archive, in order. Throws what ends the stream. */
export function packed(
  of: string,
  backend: AnyBackend,
  options: PackOptions | undefined,
): AsyncGenerator<Packed> {
  checkOptions(of, options, {
    from: "text",
    batchBytes: "positive",
    onProgress: "callback",
    signal: "signal",
  });
  const tree = new Tree(backend, directoryOf(of, "from", options?.from), options?.signal);
  return files(tree, options ?? {});
}

async function* files(tree: Tree, options: PackOptions): AsyncGenerator<Packed> {
  const tally = new Tally(options);
  tally.check();
  const list = await tree.list();
  if (!Array.isArray(list)) throw new Stop(list.error, list.code);
  const [unknown] = tree.unknown;
  if (unknown !== undefined) {
    throw new Stop(`${tree.path(unknown)}: ${UNKNOWN.error}`, UNKNOWN.code);
  }
  tally.result.totalFiles = list.length;
  for (const batch of batches(list, options.batchBytes ?? BATCH_BYTES)) {
    tally.check();
    const contents = await tree.bytes(batch.map(({ name }) => name));
    for (const [at, { name, changed }] of batch.entries()) {
      const bytes = contents[at];
      if (bytes instanceof Uint8Array) {
        yield { name, bytes, changed: new Date(Number.isNaN(changed) ? 0 : changed) };
        tally.stored(bytes.length);
      } else throw new Stop(bytes?.error ?? `${name} was not read`, bytes?.code ?? "unavailable");
    }
    tally.tell();
  }
  for (const name of tree.emptyDirectories) {
    yield { name, bytes: undefined, changed: new Date(0) };
  }
}

/** Why an entry of an archive is refused, or its path below the directory. */
function nameOf(name: string): { path: string } | { error: string } {
  const shown = visibleName(JSON.stringify(name.slice(0, 200)));
  if (name.includes("\uFFFD")) return { error: `The name ${shown} is not in UTF-8` };
  if (/^([/\\]|[A-Za-z]:)/.test(name)) return { error: `The name ${shown} is absolute` };
  const parts = namesIn(name);
  if (parts.some((part) => part === ".." || /(^|\\)\.\.(\\|$)/.test(part))) {
    return { error: `The name ${shown} leads out of the directory` };
  }
  return parts.length === 0 ? { error: "An entry has no name" } : { path: parts.join("/") };
}

/** Stores the entries of an archive, one after the other, within limits. */
export class Unpacking {
  readonly #tally: Tally;
  readonly #place: Place;
  readonly #seen = new Set<string>();
  readonly #directories = new Set<string>();
  readonly #maxFiles: number;
  readonly #maxBytes: number;
  readonly #maxFileBytes: number;
  readonly #batchBytes: number;
  #bytes = 0;
  #entries = 0;
  #waiting: Content[] = [];
  #waitingBytes = 0;

  /** @param more Options of one format only. */
  constructor(
    of: string,
    backend: AnyBackend,
    options: UnpackOptions = {},
    more: Parameters<typeof checkOptions>[2] = {},
  ) {
    checkOptions(of, options, {
      ...more,
      to: "text",
      onConflict: ["skip", "overwrite", "error", "()"],
      maxFiles: "amount",
      maxBytes: "amount",
      maxFileBytes: "amount",
      batchBytes: "positive",
      onProgress: "callback",
      signal: "signal",
    });
    this.#tally = new Tally(options);
    const tree = new Tree(backend, directoryOf(of, "to", options.to), options.signal);
    this.#place = new Place(tree, this.#tally, options.onConflict);
    this.#maxFiles = options.maxFiles ?? MAX_FILES;
    this.#maxBytes = options.maxBytes ?? MAX_BYTES;
    this.#maxFileBytes = options.maxFileBytes ?? MAX_FILE_BYTES;
    this.#batchBytes = options.batchBytes ?? BATCH_BYTES;
  }

  run(work: () => Promise<void>): Promise<TransferResult> {
    return this.#tally.run(async () => {
      await work();
      await this.#store();
      this.#countEmpty();
    });
  }

  /** Whether an entry is to be read; one that is refused is counted as failed. */
  begin(entry: { name: string; size: number; refused?: string }): boolean {
    this.#count();
    const found = nameOf(entry.name);
    const repeated = "path" in found && this.#seen.has(found.path);
    const error =
      entry.refused ??
      ("error" in found
        ? found.error
        : repeated
          ? `The archive has ${JSON.stringify(found.path)} twice; the first is kept`
          : undefined);
    if (error !== undefined || !("path" in found)) {
      const code = repeated && !entry.refused ? "already_exists" : "invalid_path";
      this.#tally.fail(entry.name, { error: error ?? "", code });
      return false;
    }
    this.#seen.add(found.path);
    this.#room(entry.size);
    return true;
  }

  /** A directory: it follows from its files, and an empty one is only counted. */
  directory(name: string): void {
    this.#count();
    const found = nameOf(name);
    if ("path" in found) this.#directories.add(found.path);
  }

  #countEmpty(): void {
    const full = new Set<string>();
    for (const path of [...this.#seen, ...this.#directories]) {
      for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
        full.add(path.slice(0, end));
      }
    }
    for (const path of this.#directories) {
      if (!full.has(path)) this.#tally.result.emptyDirectories += 1;
    }
  }

  #count(): void {
    this.#tally.check();
    this.#entries += 1;
    if (this.#entries <= this.#maxFiles) return;
    throw new Stop(`The archive has more than ${this.#maxFiles} entries (maxFiles)`, "too_large");
  }

  #room(size: number): void {
    if (size > this.#maxFileBytes) {
      throw new Stop(
        `A file of the archive has more than ${this.#maxFileBytes} bytes (maxFileBytes)`,
        "too_large",
      );
    }
    if (this.#bytes + size > this.#maxBytes) {
      throw new Stop(
        `The files of the archive have more than ${this.#maxBytes} bytes (maxBytes)`,
        "too_large",
      );
    }
  }

  /** A stream that collects the content of an entry and stores it at the end. */
  collect(name: string): { writable: WritableStream<Uint8Array>; done: () => Promise<void> } {
    const parts: Uint8Array[] = [];
    let size = 0;
    const writable = new WritableStream<Uint8Array>({
      write: (part) => {
        size += part.length;
        // What the archive says about sizes is not believed.
        this.#room(size);
        parts.push(part);
      },
    });
    const done = async () => {
      const bytes = new Uint8Array(size);
      let at = 0;
      for (const part of parts) {
        bytes.set(part, at);
        at += part.length;
      }
      await this.#take(name, bytes);
    };
    return { writable, done };
  }

  /** The content of an entry that was collected elsewhere. */
  add(name: string, bytes: Uint8Array): Promise<void> {
    this.#room(bytes.length);
    return this.#take(name, bytes);
  }

  async #take(name: string, bytes: Uint8Array): Promise<void> {
    const size = bytes.length;
    this.#bytes += size;
    const found = nameOf(name);
    if ("path" in found) this.#waiting.push([found.path, bytes]);
    this.#waitingBytes += size;
    if (this.#waitingBytes >= this.#batchBytes || this.#waiting.length >= WAITING_FILES) {
      await this.#store();
    }
  }

  async #store(): Promise<void> {
    const files = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    await this.#place.create(files);
    this.#tally.tell();
  }
}

/** Most files that wait to be stored. */
const WAITING_FILES = 64;
