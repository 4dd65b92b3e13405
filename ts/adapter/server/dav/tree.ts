// A backend as a tree in which directories exist, also empty ones. Where directories follow from the files
// in them, the room knows the empty ones.

import { exactly } from "../../../core/paths.js";
import { seen as seenFile } from "../stored.js";
import { type Dav, end } from "./asked.js";
import { isAt, isBelow, parentOf } from "./record.js";

/** A file or a directory. */
export interface Entry {
  path: string;
  directory: boolean;
  size?: number | undefined;
  modified?: Date | undefined;
}

const NOTHING = new Uint8Array();

type Listed = { path: string; is_dir?: boolean; size?: number; modified_at?: string };

function entryOf({ path, is_dir, size, modified_at }: Listed): Entry {
  const directory = is_dir === true || path.endsWith("/");
  if (directory) return { path: path.replace(/\/$/, ""), directory };
  const modified = new Date(modified_at ?? "");
  return {
    ...{ path, directory, size },
    modified: Number.isNaN(modified.getTime()) ? undefined : modified,
  };
}

/** What is at a path. */
export async function find(dav: Dav, path: string): Promise<Entry | undefined> {
  const directory = { path, directory: true };
  if (path === "/") return directory;
  const { backend, options, known } = dav;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const found = await backend.glob(exactly(name), parentOf(path), options);
  if (found.error !== undefined) {
    if (found.code !== "permission_denied") end(found);
    // Who may not search the directory may know what is in it.
    const file = await seen(dav, path);
    if (file) return file;
  }
  const file = found.files?.find((one) => one.path === path && one.is_dir !== true);
  if (file) return entryOf(file);
  const inside = await backend.ls(path, options);
  if (inside.error !== undefined) {
    if (inside.code === "not_found") return undefined;
    end(inside);
  }
  const isKnown = known.directories.some((one) => isAt(one, path));
  if ((inside.files ?? []).length > 0 || isKnown) return directory;
  // An empty one of a folder, or where a backend is mounted.
  const [answer] = await backend.downloadFiles([path], options);
  const { code, error } = (answer ?? {}) as { code?: unknown; error?: unknown };
  return (code ?? error) === "is_directory" ? directory : undefined;
}

/** A file that is found by reading it. */
async function seen(dav: Dav, path: string): Promise<Entry | undefined> {
  const file = await seenFile(dav, path);
  if (!("error" in file)) {
    return { path, directory: false, size: file.size, modified: file.modified };
  }
  if (file.code === "not_found" || file.code === "is_directory") return undefined;
  return end(file);
}

/** What is in a directory. */
export async function list(dav: Dav, path: string): Promise<Entry[]> {
  const { backend, options, known } = dav;
  const answer = await backend.ls(path, options);
  if (answer.error !== undefined) end(answer);
  const entries = (answer.files ?? []).map(entryOf);
  const names = new Set(entries.map((one) => one.path));
  const top = path === "/" ? 1 : path.length + 1;
  for (const one of known.directories) {
    if (!isBelow(one, path)) continue;
    const child = one.slice(0, one.indexOf("/", top) < 0 ? one.length : one.indexOf("/", top));
    if (names.has(child)) continue;
    names.add(child);
    // Another user, who may see it, has made it.
    const seen = await backend.ls(child, options);
    if (seen.error === undefined) entries.push({ path: child, directory: true });
  }
  return entries;
}

/**
 * Ends the call if the rules do not allow a change at a path. They are asked with a change that never
 * happens: an edit of other bytes than a file can be expected to have, or an addition to a file that is not
 * there.
 */
export async function mayChange(dav: Dav, path: string): Promise<void> {
  const { backend, options } = dav;
  const entry = await find(dav, path);
  const random = () => crypto.getRandomValues(new Uint8Array(32));
  const at = entry?.directory ? `${path === "/" ? "" : path}/${crypto.randomUUID()}` : path;
  const answer =
    entry && !entry.directory
      ? await backend.edit(path, random(), random(), false, options)
      : await backend.append(at, NOTHING, options);
  const fine = ["conflict", "no_match", "not_found", "is_directory", "unsupported"];
  if (answer.error !== undefined && !fine.includes(String(answer.code))) end(answer);
}

/** Makes a directory, where nothing is. The room is told by the caller. */
export async function makeDirectory(dav: Dav, path: string): Promise<void> {
  const { backend, options } = dav;
  if (!isReal(dav)) return mayChange(dav, path);
  // In a folder a directory remains where a file was for a moment.
  const file = `${path}/.making-${crypto.randomUUID()}`;
  const made = await backend.write(file, NOTHING, { ifAbsent: true, ...options });
  if (made.error !== undefined) end(made);
  const gone = await backend.delete(file, { unchanged: NOTHING, ...options });
  if (gone.error !== undefined && gone.code !== "not_found") end(gone);
}

/** Whether directories exist by themselves. */
export const isReal = ({ backend }: Dav): boolean => backend.capability.directories === "real";

/** The empty directories at and below a path of a folder, which copies and moves leave behind. */
export async function emptyBelow(dav: Dav, path: string): Promise<string[]> {
  const all: string[] = [];
  const waiting = [path];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const inside = await list(dav, next);
    if (inside.length === 0) all.push(next);
    for (const { path: child, directory } of inside) if (directory) waiting.push(child);
  }
  return all;
}
