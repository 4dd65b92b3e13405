// `createReadStream` and `createWriteStream`, over the stream classes of Node, which Deno, Bun and Workers
// with Node's modules have as well; elsewhere the program passes some, such as those of the package
// `readable-stream`. Nothing is imported.

import { buffer as bufferOf, bytesOf, encodingOf, joined, whole } from "./content.js";
import { wrongArgument, wrongType } from "./errors.js";
import type { FsReadStream, FsWriteStream } from "./names.js";
import { close, type Opened, open, openedBy, readInto, writeFrom } from "./open.js";
import { targetOf } from "./paths.js";
import { later } from "./steps.js";
import type { Tree } from "./tree.js";
import { optionsOf } from "./within.js";

/** As much of a stream class as is used. */
type StreamClass = new (
  options: Record<string, unknown>,
) => Record<string, unknown> & {
  push(chunk: unknown): boolean;
  emit(event: string, ...args: unknown[]): boolean;
  on(event: string, hear: () => void): unknown;
  end(): void;
  destroy(error?: Error): void;
};

/** The stream classes that a program may pass. */
export interface StreamClasses {
  Readable: StreamClass;
  Writable: StreamClass;
}

interface Host {
  process?: { getBuiltinModule?(name: string): unknown };
}

function hostClasses(): StreamClasses | undefined {
  try {
    const found = (globalThis as Host).process?.getBuiltinModule?.("node:stream");
    return found as StreamClasses | undefined;
  } catch {
    return undefined;
  }
}

/** So much is read at once, and so much is gathered before it is written. */
const READ = 64 * 1024;
const GATHERED = 4 * 1024 * 1024;

type Done = (error?: unknown) => void;

/** The descriptor of what a stream is of, if that is no path. */
function descriptorOf(of: unknown, options: Record<string, unknown>): unknown {
  const fd = (options.fd as { fd?: number } | undefined)?.fd ?? options.fd;
  return (of as { fd?: number } | undefined)?.fd ?? fd ?? undefined;
}

/** A position in a file. */
function placeOf(name: string, given: unknown): number | undefined {
  if (given === undefined) return undefined;
  if (typeof given !== "number") throw wrongType(name, "of type number", given);
  return whole(name, given, 0);
}

/** The part that is read. */
function partOf({ start, end }: Record<string, unknown>): { start: number | null; end: number } {
  const from = placeOf("start", start);
  const to = end === Number.POSITIVE_INFINITY ? end : placeOf("end", end);
  if (from !== undefined && to !== undefined && from > to) {
    throw wrongArgument(
      "ERR_OUT_OF_RANGE",
      `The value of "start" is out of range. It must be <= "end" (here: ${to}). Received ${from}`,
    );
  }
  return { start: from ?? null, end: to ?? Number.POSITIVE_INFINITY };
}

/** Calls back when a stream is closed, or soon if it is. */
function afterClose(stream: InstanceType<StreamClass>, callback: (() => void) | undefined): void {
  if (!callback) return;
  if (stream.closed) queueMicrotask(callback);
  else stream.on("close", callback);
}

export class Streams {
  readonly #tree: Tree;
  readonly #given: StreamClasses | undefined;

  constructor(tree: Tree, given: StreamClasses | undefined) {
    this.#tree = tree;
    this.#given = given;
  }

  #classes(of: string): StreamClasses {
    const classes = this.#given ?? hostClasses();
    if (classes) return classes;
    throw new TypeError(
      `${of}: this host has no stream classes; pass createFs the option "stream" with Readable and Writable, such as those of the package readable-stream`,
    );
  }

  /** Opens what a stream is of: a path, a descriptor, or a handle. */
  async #opened(of: unknown, options: Record<string, unknown>, flags: string): Promise<Opened> {
    const known = descriptorOf(of, options);
    if (known !== undefined) return openedBy(known, "read");
    return later(open(this.#tree, of, options.flags ?? flags, options.mode));
  }

  /** What both kinds have: the file is opened first, and closed at the end. */
  #life(of: unknown, options: Record<string, unknown>, flags: string, use: (file: Opened) => void) {
    const tree = this.#tree;
    // A wrong path is thrown at once, and not told as an event.
    if (descriptorOf(of, options) === undefined) targetOf(of, tree.cwd);
    let file: Opened | undefined;
    type Self = { emit(event: string, ...args: unknown[]): void; fd: number | null };
    const run = this.#opened.bind(this);
    return {
      autoDestroy: options.autoClose !== false,
      emitClose: options.emitClose !== false,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      construct(this: Self, done: Done) {
        run(of, options, flags).then((opened) => {
          file = opened;
          use(opened);
          this.fd = opened.fd;
          done();
          this.emit("open", opened.fd);
          this.emit("ready");
        }, done);
      },
      destroy(this: Self, error: unknown, done: Done) {
        if (file && options.autoClose !== false) close(tree, file);
        done(error);
      },
    };
  }

  reading(of: unknown, given?: unknown): FsReadStream {
    const options = optionsOf(given, "encoding");
    const { Readable } = this.#classes("createReadStream");
    const tree = this.#tree;
    let file: Opened;
    const { start, end } = partOf(options);
    let position = start;
    let count = 0;
    const stream = new Readable({
      highWaterMark: options.highWaterMark ?? READ,
      encoding: encodingOf(options.encoding),
      ...this.#life(of, options, "r", (opened) => {
        file = opened;
      }),
      read(this: InstanceType<StreamClass>, size: number) {
        const from = position ?? count;
        const buffer = new Uint8Array(Math.max(0, Math.min(size, end - from + 1)));
        later(readInto(tree, file, buffer, position)).then(
          (read) => {
            count += read;
            if (position !== null) position += read;
            this.bytesRead = count;
            this.push(read === 0 ? null : bufferOf(buffer.subarray(0, read)));
          },
          (error) => this.destroy(error),
        );
      },
    });
    const close = (callback?: Done) => {
      const { readableEnded, errored } = stream;
      const early = Object.assign(new Error("Premature close"), {
        code: "ERR_STREAM_PREMATURE_CLOSE",
      });
      afterClose(
        stream,
        callback && (() => callback(errored ?? (readableEnded ? undefined : early))),
      );
      stream.destroy();
    };
    return Object.assign(stream, {
      path: of,
      bytesRead: 0,
      fd: null,
      close,
    }) as unknown as FsReadStream;
  }

  writing(of: unknown, given?: unknown): FsWriteStream {
    const options = optionsOf(given, "encoding");
    const { Writable } = this.#classes("createWriteStream");
    const tree = this.#tree;
    let file: Opened;
    let position = placeOf("start", options.start) ?? null;
    let parts: Uint8Array[] = [];
    let size = 0;
    let written = 0;
    const flush = async () => {
      const bytes = joined(parts);
      [parts, size] = [[], 0];
      if (bytes.length === 0) return;
      await later(writeFrom(tree, file, bytes, position));
      if (position !== null) position += bytes.length;
    };
    const stream = new Writable({
      highWaterMark: options.highWaterMark ?? READ,
      decodeStrings: false,
      defaultEncoding: encodingOf(options.encoding) ?? "utf8",
      ...this.#life(of, options, "w", (opened) => {
        file = opened;
      }),
      write(this: { bytesWritten: number }, chunk: unknown, encoding: string, done: Done) {
        const bytes = bytesOf(chunk, typeof chunk === "string" ? encoding : undefined);
        if (bytes) {
          parts.push(bytes);
          size += bytes.length;
          written += bytes.length;
          this.bytesWritten = written;
        }
        if (size < GATHERED) done();
        else flush().then(() => done(), done);
      },
      final(done: Done) {
        flush().then(() => done(), done);
      },
    });
    const close = (callback?: Done) => {
      afterClose(stream, callback && (() => callback(stream.errored ?? undefined)));
      if (options.autoClose === false) stream.on("finish", () => stream.destroy());
      stream.end();
    };
    const fields = { path: of, bytesWritten: 0, fd: null, close };
    return Object.assign(stream, fields) as unknown as FsWriteStream;
  }
}
