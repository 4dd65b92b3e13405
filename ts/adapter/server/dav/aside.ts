// Files that file managers keep for themselves, which are no files of the tree: what a drive creates under such a name
// stays in the process. One that goes to another name is a file as all others, with the rules of the backend.

import { uploaded } from "../files.js";
import { OWN_HEADER } from "../guard.js";
import type { Served } from "../served.js";
import { stored } from "../stored.js";
import { type Dav, end } from "./asked.js";
import { type Entry, find } from "./tree.js";

/** Names of the Finder and of Explorer. */
const NAMES = /\/(\._[^/]*|\.DS_Store|desktop\.ini|Thumbs\.db)$/;

/** The methods that make such a file. */
const MAKES = ["PUT", "LOCK"];

const about = (dav: Dav, backend: Served): Dav => ({ ...dav, backend, isAside: true });

/** A file that is kept at a path; there are no directories. */
async function keptAt(dav: Dav, path: string): Promise<Entry | undefined> {
  const kept = NAMES.test(path) ? dav.kept(false) : undefined;
  const entry = kept && (await find(about(dav, kept), path));
  return entry?.directory ? undefined : entry;
}

/** The call about what its path means: a file of the tree, or one that is kept. */
export async function meant(dav: Dav): Promise<Dav> {
  const { path, request } = dav;
  if (!NAMES.test(path)) return dav;
  const isKept = await keptAt(dav, path);
  // A client of our own means every file.
  const isDrive = request.headers.get(OWN_HEADER) !== "1";
  const makes = isDrive && MAKES.includes(request.method) && !(await find(dav, path));
  const kept = isKept || makes ? dav.kept(true) : undefined;
  return kept ? about(dav, kept) : dav;
}

/** What is at a destination: the call about it, and the file or directory there. */
export async function destinationAt(
  dav: Dav,
  to: string,
): Promise<{ there: Dav; target: Entry | undefined }> {
  const files = { ...dav, backend: dav.files, isAside: false };
  const kept = await keptAt(dav, to);
  if (kept) return { there: dav.isAside ? dav : files, target: kept };
  const target = await find(files, to);
  const stays = dav.isAside && !target && NAMES.test(to);
  return { there: stays ? dav : files, target };
}

/** Stores a file that was kept in the tree. */
export async function stepOut(dav: Dav, there: Dav, to: string, moves: boolean, isNew: boolean) {
  const { backend, options, path } = dav;
  const file = await stored(dav, path);
  if ("error" in file) end(file);
  const refused = await uploaded({ ...there, arrives: undefined }, to, file.bytes, isNew);
  if (refused) end(refused);
  if (moves) await backend.delete(path, options);
}

/** Forgets what is kept at a path and all below it. */
export async function forgetKept(dav: Dav, path: string): Promise<void> {
  await dav.kept(false)?.delete(path, dav.options);
}

/** What is kept below a directory goes with it; if it cannot, nothing of the tree is missing. */
export async function carryKept(dav: Dav, to: string, moves: boolean): Promise<void> {
  const kept = dav.kept(false);
  await kept?.[moves ? "move" : "copy"](dav.path, to, dav.options);
}
