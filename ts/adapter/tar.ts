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

/** Why an entry of this type is not unpacked. */
function refusedType({ type = "file", linkname = "" }: TarHeader): string | undefined {
  if (type === "file") return undefined;
  if (type === "symlink" || type === "link") {
    return `It is a link to ${visibleName(JSON.stringify(linkname.slice(0, 200)))}; links are not unpacked`;
  }
  return `It is a ${type}; only files are unpacked`;
}

/**
 * Unpacks a tar archive. Links, devices, absolute names, names with `..` or not in UTF-8, and second
 * files of one name are refused, each as a failure of the result, and the rest is unpacked. Never
 * rejects; throws for a wrong option.
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
    const entries = source.pipeThrough(createTarDecoder({ strict: true })).getReader();
    try {
      for (;;) {
        const { done, value: entry } = await entries.read();
        if (done) return;
        const { header, body } = entry;
        if (header.type === "directory") {
          unpacking.directory(header.name);
          await body.cancel();
          continue;
        }
        const refused = refusedType(header);
        if (!unpacking.begin({ name: header.name, size: header.size, refused })) {
          await body.cancel();
          continue;
        }
        const { writable, done: collected } = unpacking.collect(header.name);
        await body.pipeTo(writable);
        await collected();
      }
    } catch (error) {
      await entries.cancel(error).catch(() => {});
      throw error;
    }
  });
}
