// `kitbag/zip`: trees as zip archives, through the package `@zip.js/zip.js`. An archive is written as
// a stream. Its table of contents is at its end, so reading collects the archive first.

import {
  type Entry,
  type FileEntry,
  Uint8ArrayReader,
  ZipReader,
  ZipWriter,
} from "@zip.js/zip.js/lib/zip-core-native.js";
import type { AnyBackend } from "kitbag";
import { Pace } from "../core/pace.js";
import {
  type ArchiveSource,
  type PackOptions,
  packed,
  streamOf,
  Unpacking,
  type UnpackOptions,
} from "./transfer/archive.js";
import { crc32, inflated } from "./transfer/inflate.js";
import { Stop } from "./transfer/tally.js";
import type { TransferResult } from "./transfer.js";

/** Options of `fromZip`. */
export interface FromZipOptions extends UnpackOptions {
  /** Most bytes of the archive itself, which is held in memory. Default 256 MiB. */
  maxArchiveBytes?: number;
}

/** The default of `maxArchiveBytes`. */
const MAX_ARCHIVE_BYTES = 256 * 1024 * 1024;

/** Bytes of an entry that is unpacked at once: packed, and as they were. */
const SMALL_BYTES = 32 * 1024;
const SMALL_UNPACKED_BYTES = 256 * 1024;

/** The codecs run where the files are: in this thread, or in the platform's own streams. */
const HERE = { useWebWorkers: false };

/**
 * Packs a directory as a zip archive. The stream is made as it is read; a file that cannot be read
 * ends it with an error. Empty directories are included where the backend knows any.
 *
 * @example
 * return new Response(toZip(backend, { from: "/notes" }), {
 *   headers: { "content-type": "application/zip" },
 * });
 */
export function toZip(
  backend: AnyBackend,
  options?: PackOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const entries = packed("toZip", backend, options);
  const { readable, writable } = new TransformStream<
    Uint8Array<ArrayBuffer>,
    Uint8Array<ArrayBuffer>
  >();
  const pump = async () => {
    // Names are UTF-8, and no field depends on the machine.
    const zip = new ZipWriter(writable, { ...HERE, extendedTimestamp: false, keepOrder: true });
    for await (const { name, bytes, changed } of entries) {
      const lastModDate = changed < EARLIEST ? EARLIEST : changed;
      if (bytes === undefined) await zip.add(name, undefined, { directory: true, lastModDate });
      else await zip.add(name, new Uint8ArrayReader(bytes), { lastModDate });
    }
    await zip.close();
  };
  pump().catch((error: unknown) => writable.abort(error).catch(() => {}));
  return readable;
}

/** The first time that the format can express. */
const EARLIEST = new Date(1980, 0, 1);

/** The whole archive. */
async function collected(
  source: ReadableStream<Uint8Array>,
  most: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const writable = new WritableStream<Uint8Array>({
    write(part) {
      size += part.length;
      if (size > most) {
        throw new Stop(`The archive has more than ${most} bytes (maxArchiveBytes)`, "too_large");
      }
      parts.push(part);
    },
  });
  await source.pipeTo(writable, { signal });
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads names as UTF-8, whatever an archive says; others are refused by `refusedEntry`. */
function decodeText(raw: Uint8Array): string | undefined {
  try {
    return utf8.decode(raw);
  } catch {
    return undefined;
  }
}

/** Kinds of Unix files, as the upper bits of the mode have them; a link is recognised otherwise. */
const KINDS = {
  1: "a pipe",
  2: "a character device",
  6: "a block device",
  12: "a socket",
} as const;

/** Why an entry is not unpacked. */
function refusedEntry(entry: Entry): string | undefined {
  if (decodeText(entry.rawFilename) === undefined) {
    return `The name ${JSON.stringify(entry.filename.slice(0, 200))} is not in UTF-8`;
  }
  // One program writes the mode of a file here, another one there.
  const modes = [entry.externalFileAttributes >>> 16, entry.unixMode ?? 0];
  const kinds = modes.map((mode) => KINDS[((mode >>> 12) & 15) as keyof typeof KINDS]);
  const kind = kinds.find((one) => one !== undefined);
  if (kind) return `It is ${kind}; only files are unpacked`;
  if (entry.directory) return "It is a directory, but has content";
  if (entry.symlink) return "It is a symbolic link; links are not unpacked";
  if (entry.encrypted) return "It is encrypted; encrypted files are not unpacked";
  return undefined;
}

/** Whether an entry is unpacked at once: most of the time of a small one would go into streams. */
function isSmall(entry: FileEntry): boolean {
  return (
    (entry.compressionMethod === 0 || entry.compressionMethod === 8) &&
    entry.compressedSize <= SMALL_BYTES &&
    entry.uncompressedSize <= SMALL_UNPACKED_BYTES
  );
}

/** The content of a small entry. */
async function contentOf(entry: FileEntry, archive: Uint8Array): Promise<Uint8Array> {
  // Checks both headers, and that no other entry has the same bytes.
  await entry.getData(new WritableStream(), { checkOverlappingEntryOnly: true });
  const { compressionMethod, compressedSize, uncompressedSize: size } = entry;
  const start = entry.localDirectory?.dataOffset ?? Number.NaN;
  const packed = archive.subarray(start, start + compressedSize);
  const bytes = compressionMethod === 0 ? packed.slice() : inflated(packed, size);
  const fits = packed.length === compressedSize && bytes.length === size;
  if (fits && crc32(bytes) === entry.crc32) return bytes;
  throw new Error(`The content of ${JSON.stringify(entry.filename.slice(0, 200))} is damaged`);
}

/**
 * Unpacks a zip archive. Links, encrypted files, absolute names, names with `..` or not in UTF-8, and
 * second files of one name are refused, each as a failure of the result, and the rest is unpacked.
 * An archive whose entries overlap or contradict each other is refused whole. Never rejects; throws
 * for a wrong option.
 *
 * @example
 * const result = await fromZip(input.files[0], backend, { to: "/uploads", maxBytes: 50_000_000 });
 */
export function fromZip(
  archive: ArchiveSource,
  backend: AnyBackend,
  options?: FromZipOptions,
): Promise<TransferResult> {
  const source = streamOf("fromZip", archive);
  const unpacking = new Unpacking("fromZip", backend, options, { maxArchiveBytes: "amount" });
  return unpacking.run(async () => {
    const most = options?.maxArchiveBytes ?? MAX_ARCHIVE_BYTES;
    const whole = await collected(source, most, options?.signal);
    const pace = new Pace();
    const zip = new ZipReader(new Uint8ArrayReader(whole), {
      ...HERE,
      decodeText,
      // Names are judged here, so that one bad name does not refuse the whole archive.
      filenameValidation: "tolerant",
      checkOverlappingEntry: true,
      checkCrc32: true,
    });
    try {
      for await (const entry of zip.getEntriesGenerator()) {
        if (entry.directory && entry.uncompressedSize === 0) {
          unpacking.directory(entry.filename);
          continue;
        }
        const { filename: name, uncompressedSize: size } = entry;
        if (!unpacking.begin({ name, size, refused: refusedEntry(entry) })) continue;
        if (entry.directory) continue;
        if (isSmall(entry)) {
          await unpacking.add(name, await contentOf(entry, whole));
          await pace.rest();
        } else {
          const { writable, done } = unpacking.collect(name);
          await entry.getData(writable);
          await done();
        }
      }
    } finally {
      await zip.close();
    }
  });
}
