// `kitbag/tar`: trees as tar archives, through the package `modern-tar`. Both directions are streams.
// Compression is the platform's: `.pipeThrough(new CompressionStream("gzip"))`.

import { type AnyBackend, visibleName } from "kitbag";
import { createTarDecoder, createTarPacker, type TarHeader } from "modern-tar";
import {
  type ArchiveSource,
  type PackOptions,
  packed,
  streamOf,
  Unpacking,
  type UnpackOptions,
} from "./transfer/archive.js";
import type { TransferResult } from "./transfer.js";

export type { ArchiveSource, PackOptions, UnpackOptions } from "./transfer/archive.js";

/**
 * Packs a directory as a tar archive. The stream is made as it is read; a file that cannot be read
 * ends it with an error. Empty directories are included where the backend knows any.
 *
 * @example
 * const archive = toTar(backend, { from: "/notes" }).pipeThrough(new CompressionStream("gzip"));
 * await writeFile("notes.tar.gz", archive);
 */
export function toTar(
  backend: AnyBackend,
  options?: PackOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const entries = packed("toTar", backend, options);
  const { readable, controller } = createTarPacker();
  const pump = async () => {
    for await (const { name, bytes, changed } of entries) {
      const header: TarHeader =
        bytes === undefined
          ? { name, size: 0, type: "directory", mtime: changed, mode: 0o755 }
          : { name, size: bytes.length, type: "file", mtime: changed, mode: 0o644 };
      const writer = controller.add(header).getWriter();
      if (bytes && bytes.length > 0) await writer.write(bytes);
      await writer.close();
    }
    controller.finalize();
  };
  pump().catch((error: unknown) => controller.error(error));
  return readable as ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** Bytes of a header, and what contents are padded to. */
const BLOCK = 512;

/** Most bytes of what is said about a next entry; more is the decoder's to refuse. */
const MAX_ABOUT = 8 * 1024 * 1024;

/** Each byte as one character. */
const perByte = new TextDecoder("latin1");

/** Of an entry, what the decoder does not tell. */
interface Head {
  type: string;
  /** Whether its name was written with a byte order mark, which the decoder drops. */
  marked: boolean;
}

/** The size in a header: octal digits, or a large number in binary. */
function sizeIn(block: Uint8Array): number {
  const field = block.subarray(124, 136);
  const first = field[0] ?? 0;
  if (first & 128) return field.subarray(1).reduce((all, byte) => all * 256 + byte, first & 127);
  const [digits = ""] = perByte.decode(field).split("\0");
  const text = digits.replaceAll(" ", "");
  return text === "" ? 0 : Number.parseInt(text, 8);
}

/** The size that the records of a pax header give. */
function paxSize(body: Uint8Array): number | undefined {
  const text = perByte.decode(body);
  let size: number | undefined;
  for (let at = 0; at < text.length; ) {
    const length = Number.parseInt(text.slice(at, at + 12), 10);
    if (!(length > 0)) break;
    const record = /^\d+ size=(\d+)\n$/.exec(text.slice(at, at + Math.min(length, 64)));
    if (record) size = Number(record[1]);
    at += length;
  }
  return size;
}

const isMarked = (bytes: Uint8Array, at: number) =>
  bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf;

/**
 * Looks at the headers of an archive that passes: to the decoder, an entry of a type that it does not know
 * is a file. Passes everything but the maps of sparse files, of which the decoder knows nothing.
 */
class Heads {
  /** Of the entries that the decoder has not given yet. */
  readonly waiting: Head[] = [];
  #room: Uint8Array = new Uint8Array(BLOCK);
  #filled = 0;
  /** Bytes that are not looked at. */
  #passing = 0;
  /** What is collected: a header, what is said about the next entry, or the map of a sparse file. */
  #collects = "";
  #body = 0;
  #size: number | undefined;
  #sizeOfAll: number | undefined;
  /** Whether a long name of the next entry is marked. */
  #longMarked: boolean | undefined;

  stream(): TransformStream<Uint8Array, Uint8Array> {
    return new TransformStream({
      transform: (chunk, controller) => {
        let sent = 0;
        for (let at = 0; at < chunk.length; ) {
          const isMap = this.#collects === "S";
          const end = at + this.#take(chunk.subarray(at));
          if (isMap) {
            if (sent < at) controller.enqueue(chunk.subarray(sent, at));
            sent = end;
          }
          at = end;
        }
        if (sent < chunk.length) controller.enqueue(chunk.subarray(sent));
      },
    });
  }

  /** Takes bytes up to the end of what is read; how many it were. */
  #take(bytes: Uint8Array): number {
    if (this.#passing > 0) {
      const passed = Math.min(this.#passing, bytes.length);
      this.#passing -= passed;
      return passed;
    }
    const part = bytes.subarray(0, this.#room.length - this.#filled);
    this.#room.set(part, this.#filled);
    this.#filled += part.length;
    if (this.#filled === this.#room.length) this.#read(this.#room);
    return part.length;
  }

  #collect(what: string, size: number): void {
    this.#collects = what;
    if (this.#room.length !== size) this.#room = new Uint8Array(size);
    this.#filled = 0;
  }

  #read(bytes: Uint8Array): void {
    const what = this.#collects;
    this.#collect("", BLOCK);
    if (what === "") this.#header(bytes);
    else if (what === "S") this.#map(bytes[504]);
    else if (what === "x") this.#size = paxSize(bytes);
    else if (what === "g") this.#sizeOfAll = paxSize(bytes) ?? this.#sizeOfAll;
    else if (what === "L") this.#longMarked = isMarked(bytes, 0);
  }

  #header(block: Uint8Array): void {
    const type = String.fromCharCode(block[156] ?? 0);
    const own = sizeIn(block);
    const isEnd = block.every((byte) => byte === 0);
    const isAbout = /[xgLK]/.test(type);
    if (isEnd || Number.isNaN(own) || (isAbout && own > MAX_ABOUT)) {
      this.#passing = Number.POSITIVE_INFINITY;
    } else if (isAbout) {
      if (own > 0) this.#collect(type, Math.ceil(own / BLOCK) * BLOCK);
    } else this.#entry(block, type, own);
  }

  #entry(block: Uint8Array, type: string, own: number): void {
    const magic = perByte.decode(block.subarray(257, 263));
    const inHeader = isMarked(block, 0) || (magic === "ustar\0" && isMarked(block, 345));
    this.waiting.push({ type, marked: this.#longMarked ?? inHeader });
    const size = this.#size ?? this.#sizeOfAll ?? own;
    this.#body = /[1-6]/.test(type) ? 0 : Math.ceil(size / BLOCK) * BLOCK;
    this.#size = undefined;
    this.#longMarked = undefined;
    this.#map(type === "S" && magic === "ustar " ? block[482] : 0);
  }

  /** Another part of the map of a sparse file follows, or the content. */
  #map(more = 0): void {
    if (more !== 0) this.#collect("S", BLOCK);
    else this.#passing = this.#body;
  }
}

/** Types of which the decoder tells, and of files. */
const KNOWN = /[01-7\0]/;

/** Why an entry is not unpacked. */
function refusedEntry({ type = "file", linkname = "", pax = {} }: TarHeader, head?: Head) {
  if (head?.type === "S" || Object.keys(pax).some((key) => key.startsWith("GNU.sparse."))) {
    return "It is a sparse file; only whole files are unpacked";
  }
  if (type === "symlink" || type === "link") {
    return `It is a link to ${visibleName(JSON.stringify(linkname.slice(0, 200)))}; links are not unpacked`;
  }
  if (type !== "file") return `It is a ${type}; only files are unpacked`;
  if (head && !KNOWN.test(head.type)) {
    return `It is of type ${visibleName(JSON.stringify(head.type))}; only files are unpacked`;
  }
  if (head?.marked && pax.path === undefined) return "Its name has the character U+FEFF in front";
  return undefined;
}

/**
 * Unpacks a tar archive. Links, devices, sparse files, absolute names, names with `..` or not in
 * UTF-8, and second files of one name are refused, each as a failure of the result, and the rest is
 * unpacked. Never rejects; throws for a wrong option.
 *
 * @example
 * const { body } = await fetch(url);
 * const result = await fromTar(body.pipeThrough(new DecompressionStream("gzip")), backend);
 */
export function fromTar(
  archive: ArchiveSource,
  backend: AnyBackend,
  options?: UnpackOptions,
): Promise<TransferResult> {
  const source = streamOf("fromTar", archive);
  const unpacking = new Unpacking("fromTar", backend, options);
  return unpacking.run(async () => {
    const heads = new Heads();
    const decoder = createTarDecoder({ strict: true });
    const entries = source.pipeThrough(heads.stream()).pipeThrough(decoder).getReader();
    try {
      for (;;) {
        const { done, value: entry } = await entries.read();
        if (done) return;
        const { header, body } = entry;
        const head = heads.waiting.shift();
        if (header.type === "directory") {
          unpacking.directory(header.name);
          await body.cancel();
          continue;
        }
        const refused = refusedEntry(header, head);
        // A sparse file has a name that nobody gave it.
        const name = header.pax?.["GNU.sparse.name"] ?? header.name;
        if (!unpacking.begin({ name, size: header.size, refused })) {
          await body.cancel();
          continue;
        }
        const { writable, done: collected } = unpacking.collect(name);
        await body.pipeTo(writable);
        await collected();
      }
    } catch (error) {
      await entries.cancel(error).catch(() => {});
      throw error;
    }
  });
}
