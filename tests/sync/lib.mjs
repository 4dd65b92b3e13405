// Pairs of trees that outlive a process, and what is in them.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sync } from "../../pkg/dist/sync.js";
import { sqlite } from "../indexed/store.mjs";
import * as kitbag from "../lib/kitbag.mjs";

export { kitbag, sync };

const folders = [];

/** A folder that `cleared` removes. */
export function scratch() {
  folders.push(mkdtempSync(join(tmpdir(), "kitbag-sync-")));
  return folders.at(-1);
}

export function cleared() {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** The two trees of a place. */
export async function open(kind, place) {
  mkdirSync(join(place, "folder"), { recursive: true });
  const folder = new kitbag.FilesystemBackend({ rootDir: join(place, "folder") });
  if (kind === "folder and SQLite") {
    return { a: folder, b: await sqlite(kitbag, join(place, "files.db")) };
  }
  if (kind === "two folders") {
    mkdirSync(join(place, "other"), { recursive: true });
    return { a: folder, b: new kitbag.FilesystemBackend({ rootDir: join(place, "other") }) };
  }
  throw new Error(`there is no pair ${kind}`);
}

/** Options of a pair that keeps in its first tree what was agreed. */
export const kept = (a) => ({ keepIn: { backend: a, path: "/.kitbag/sync/other" } });

/** A content; bytes that are no text are in hexadecimal. */
export function shown(content) {
  const bytes = Buffer.from(content);
  return bytes.includes(0) ? bytes.toString("hex") : bytes.toString();
}

/** What is in a tree, by path. */
export async function contents(backend) {
  const { files, error } = await backend.glob("**", "/");
  if (error) throw new Error(error);
  const paths = files.map(({ path }) => path).sort();
  const bodies = await backend.downloadFiles(paths);
  return Object.fromEntries(
    bodies.map(({ path, content, error: failed }) => {
      if (failed) throw new Error(`${path}: ${failed}`);
      return [path, shown(content)];
    }),
  );
}

/** Stores texts, whatever is there. */
export async function put(backend, files) {
  const all = Object.entries(files).map(([path, text]) => [path, new TextEncoder().encode(text)]);
  for (const { path, error } of await backend.uploadFiles(all)) {
    if (error) throw new Error(`${path}: ${error}`);
  }
}
