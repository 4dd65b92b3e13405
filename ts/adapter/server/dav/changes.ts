// The methods that change files: `PUT`, `DELETE`, `MKCOL`, `COPY` and `MOVE`.

import { deleteFile, putFile } from "../files.js";
import type { Kept } from "../memory.js";
import { carryKept, destinationAt, forgetKept, stepOut } from "./aside.js";
import { type Dav, depthOf, end, stop } from "./asked.js";
import { changing, needLocks, noted } from "./conditions.js";
import { filled, forget, isAt, isBelow, type Known, parentOf, renamed } from "./record.js";
import { bare, Ended } from "./reply.js";
import { type Entry, emptyBelow, find, isReal, list, makeDirectory, mayChange } from "./tree.js";

/** Ends the call if the directory of a path does not exist. */
export async function needParent(dav: Dav, path: string): Promise<void> {
  if (dav.isAside || (await find(dav, parentOf(path)))?.directory) return;
  stop(409, "The directory of this path does not exist; make it first", "conflict");
}

/** The directory of a path, if it would end with this last file: the room then knows it. */
async function stays(dav: Dav, path: string): Promise<string | undefined> {
  const parent = parentOf(path);
  if (parent === "/" || dav.isAside || isReal(dav)) return undefined;
  const others = (await list(dav, parent)).filter((one) => !isAt(one.path, path));
  return others.length === 0 ? parent : undefined;
}

function add(known: Known, directory: string | undefined): void {
  if (directory && !known.directories.includes(directory)) known.directories.push(directory);
}

/** `PUT`. */
export const put = (dav: Dav): Promise<Kept> =>
  changing(dav, async () => {
    const { path } = dav;
    const entry = await find(dav, path);
    if (dav.isDirectory || entry?.directory) stop(405, "A PUT stores a file, no directory");
    await needLocks(dav, [{ path, member: !entry }]);
    // A client of our own makes the directories of a file with it.
    if (!entry && dav.request.headers.get("x-kitbag") !== "1") await needParent(dav, path);
    const answer = await putFile(dav, path, dav.body);
    if (answer.status >= 300 || entry) return answer;
    await noted(dav, (known) => {
      forget(known, path);
      if (!dav.isAside) filled(known, path);
    });
    return { ...answer, status: 201 };
  });

/** `DELETE`. */
export const remove = (dav: Dav): Promise<Kept> =>
  changing(dav, async () => {
    const { path } = dav;
    const entry = await find(dav, path);
    if (path === "/") stop(403, "The root cannot be deleted", "permission_denied");
    if (!entry) stop(404, "There is no such file", "not_found");
    await needLocks(dav, [{ path, member: true, deep: true }]);
    await erase(dav, entry);
    if (entry.directory) await forgetKept(dav, path);
    const parent = await stays(dav, path);
    await noted(dav, (known) => {
      forget(known, path);
      known.locks = known.locks.filter((lock) => !isAt(lock.path, path));
      add(known, parent);
    });
    return bare(204);
  });

/** Deletes a file or a directory. */
async function erase(dav: Dav, { path, directory }: Entry): Promise<void> {
  if (directory) {
    const answer = await dav.backend.delete(path, dav.options);
    const isKnown = dav.known.directories.some((one) => isAt(one, path));
    if (answer.error !== undefined && !(answer.code === "not_found" && isKnown)) end(answer);
    return;
  }
  const answer = await deleteFile(dav, path);
  if (answer.status >= 300) throw new Ended(answer);
}

/** `MKCOL`. */
export const makeCollection = (dav: Dav): Promise<Kept> =>
  changing(dav, async () => {
    const { path } = dav;
    if (dav.body.length > 0) stop(415, "MKCOL takes no body", "unsupported");
    if (await find(dav, path)) stop(405, "Something is there already", "already_exists");
    await needParent(dav, path);
    await needLocks(dav, [{ path, member: true }]);
    await makeDirectory(dav, path);
    await noted(dav, (known) => {
      forget(known, path);
      filled(known, path);
      if (!isReal(dav)) add(known, path);
    });
    return bare(201);
  });

/** The path that a file goes to. */
function destinationOf(dav: Dav): string {
  const given = dav.request.headers.get("destination");
  if (given === null) stop(400, "The header Destination is missing");
  const path = dav.pathOf(given);
  return path ?? stop(502, "The header Destination must be an address of this server");
}

/** `COPY` and `MOVE`. */
export const transfer = (dav: Dav): Promise<Kept> =>
  changing(dav, async () => {
    const { path: from, request } = dav;
    const moves = request.method === "MOVE";
    const to = destinationOf(dav);
    const source = await find(dav, from);
    if (!source) stop(404, "There is no such file", "not_found");
    const depth = depthOf(dav, "infinity");
    if (depth === "1" || (moves && depth === "0" && source.directory)) {
      stop(400, "The header Depth must be infinity, or 0 for a COPY");
    }
    const overwrite = request.headers.get("overwrite")?.trim().toUpperCase() !== "F";
    const goesInside = source.directory && isBelow(to, from) && depth !== "0";
    if (to === from || to === "/" || from === "/" || isBelow(from, to) || goesInside) {
      stop(403, "A file cannot go to itself, nor a directory into itself", "permission_denied");
    }
    const { there, target } = await destinationAt(dav, to);
    if (target && !overwrite) stop(412, "Something is at the destination", "already_exists");
    if (!target) await needParent(there, to);
    await needLocks(there, [{ path: to, member: !target, deep: true }]);
    if (moves) await needLocks(dav, [{ path: from, member: true, deep: true }]);
    if (target && (source.directory || target.directory)) {
      await replacedBy(there, target, dav, source);
    }
    const deep = depth !== "0";
    if (there.isAside === dav.isAside) await transferred(dav, source, to, moves, deep);
    else await stepOut(dav, there, to, moves, !target);
    // What was kept there would hide what is there now.
    if (!there.isAside) await forgetKept(dav, to);
    if (source.directory && deep) await carryKept(dav, to, moves);
    const parent = moves ? await stays(dav, from) : undefined;
    const isEmpty = source.directory && !isReal(dav) && (await list(dav, to)).length === 0;
    await noted(dav, (known) => {
      const gone = renamed(known, from, to, deep);
      forget(known, to);
      if (moves) forget(known, from);
      known.properties.push(...gone.properties);
      for (const one of gone.directories) add(known, one);
      // Locks do not go with a file, and one on the destination stays on what is there now.
      const ends = (path: string) => isBelow(path, to) || (moves && isAt(path, from));
      known.locks = known.locks.filter((lock) => !ends(lock.path));
      if (!there.isAside) filled(known, to);
      if (isEmpty && gone.directories.length === 0) add(known, to);
      add(known, parent);
    });
    return bare(target ? 204 : 201);
  });

/** Deletes what is at a destination, as the standard has it, after the rules were asked about the source. */
async function replacedBy(
  { backend, options }: Dav,
  target: Entry,
  dav: Dav,
  source: Entry,
): Promise<void> {
  if (!source.directory) {
    const { error, ...rest } = await dav.backend.readRaw(source.path, dav.options);
    if (error !== undefined) end({ error, ...rest });
  }
  const answer = await backend.delete(target.path, options);
  if (answer.error !== undefined && answer.code !== "not_found") end(answer);
}

async function transferred(
  dav: Dav,
  { path: from, directory }: Entry,
  to: string,
  moves: boolean,
  deep: boolean,
): Promise<void> {
  const { backend, options } = dav;
  if (directory && !deep) return makeDirectory(dav, to);
  const empty = directory && isReal(dav) ? await emptyBelow(dav, from) : [];
  const below = directory ? await backend.glob("**", from, options) : undefined;
  if (below?.error !== undefined) end(below);
  // A directory without a file is nothing for the backend.
  if (below?.files?.length === 0) {
    if (moves) await mayChange(dav, from);
    if (empty.length === 0) await makeDirectory(dav, to);
  } else {
    const how = { ...options, overwrite: !directory };
    const answer = await backend[moves ? "move" : "copy"](from, to, how);
    if (answer.error !== undefined) end(answer);
  }
  for (const one of empty) await makeDirectory(dav, to + one.slice(from.length));
  if (moves && empty.length > 0) {
    const gone = await backend.delete(from, options);
    if (gone.error !== undefined && gone.code !== "not_found") end(gone);
  }
}
