// A small file in a folder that is held open, read without a promise: a directory is opened and its real path checked,
// as `Place` does, and the file is reached through it. Whatever is not a plain file, has changed meanwhile or
// fails is left to the calls that wait, which say what is wrong.

import type { StoredFile } from "../core/stored.js";
import { versionOf } from "./claims.js";
import { metaOf } from "./entries.js";
import { descriptor } from "./host.js";
import type { Place } from "./place.js";

type NodeFs = typeof import("node:fs");

/** A part of a file, in bytes: from `start` up to, and without, `end`. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

/** Reads a file, or tells by `null` that none is there; `undefined` if that takes a call that waits. */
export type Soon = (
  place: Place,
  parts: string[],
  part: Part | undefined,
  most: number,
) => StoredFile | null | undefined;

/** What `use` makes of an open file or directory. */
function opened<T>(fs: NodeFs, path: string, flags: number, use: (fd: number) => T): T {
  const fd = fs.openSync(path, flags);
  try {
    return use(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** The file at `parts`, if what is read of it has at most `most` bytes. Throws what the system refuses. */
export function readNow(
  fs: NodeFs,
  place: Place,
  parts: string[],
  part: Part | undefined,
  most: number,
): StoredFile | null | undefined {
  const name = parts.at(-1);
  const path = place.rooted(parts.slice(0, -1));
  if (name === undefined || path === undefined) return undefined;
  return opened(fs, path, place.flags.directory, (directory) => {
    const at = descriptor(directory);
    if (!place.allows(path, fs.readlinkSync(at))) return undefined;
    const entry = `${at}/${name}`;
    const found = fs.lstatSync(entry, { throwIfNoEntry: false });
    if (!found) return null;
    // A pipe or a device must not even be opened.
    if (!found.isFile()) return undefined;
    return opened(fs, entry, place.flags.file, (file) => bytesNow(fs, place, file, part, most));
  });
}

function bytesNow(
  fs: NodeFs,
  place: Place,
  file: number,
  part: Part | undefined,
  most: number,
): StoredFile | undefined {
  const stats = fs.fstatSync(file, { bigint: true });
  const size = Number(stats.size);
  const end = Math.min(part?.end ?? size, size);
  const start = Math.min(part?.start ?? 0, end);
  if (!stats.isFile() || end - start > most) return undefined;
  const content = new Uint8Array(end - start);
  for (let got = 0; got < content.length; ) {
    const bytes = fs.readSync(file, content, got, content.length - got, start + got);
    if (bytes === 0) return undefined;
    got += bytes;
  }
  // A program that writes in place may have changed the file during the read.
  if (versionOf(fs.fstatSync(file, { bigint: true })) !== versionOf(stats)) return undefined;
  return { content, ...metaOf(stats), ...place.modeOf(stats) };
}
