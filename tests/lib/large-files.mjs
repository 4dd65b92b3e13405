// Large files on the disk: how they are made and compared without having them in memory.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

export const MIB = 1 << 20;

/** A new folder, which is removed after the tests of the file. */
export function folder() {
  folders.push(mkdtempSync(join(tmpdir(), "kitbag-large-")));
  return folders.at(-1);
}
const folders = [];
after(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A megabyte that differs from block to block, and from `seed` to `seed`. */
export function block(at, seed = 0) {
  const bytes = Buffer.alloc(MIB, `${at} `);
  bytes.writeUInt32LE(at, 0);
  bytes.writeUInt32LE(seed, 4);
  return bytes;
}

/** The bytes of a file of so many megabytes. */
export const content = (blocks, seed) =>
  Buffer.concat(Array.from({ length: blocks }, (_, at) => block(at, seed)));

/** Writes such a file. */
export async function made(path, blocks, seed) {
  const file = createWriteStream(path);
  for (let at = 0; at < blocks; at++) {
    if (!file.write(block(at, seed))) await once(file, "drain");
  }
  file.end();
  await once(file, "close");
}

/** The digest of a file. */
export async function digest(path) {
  const hash = createHash("sha256");
  for await (const part of createReadStream(path)) hash.update(part);
  return hash.digest("hex");
}
