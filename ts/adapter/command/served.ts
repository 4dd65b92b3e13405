// What `kitbag serve` serves: one address, or several folders as directories of one tree.

import { existsSync, realpathSync } from "node:fs";
import { basename, isAbsolute, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type AnyBackend, CompositeBackend, StateBackend, withPolicy } from "kitbag";
import { exactly } from "../../core/paths.js";
import { type AddressFlags, type Opened, open } from "./address.js";
import { CommandError, withoutPassword } from "./output.js";

/** A folder on disk, and the directory of the tree that shows it, without a slash at its end. */
export interface ServedFolder {
  folder: string;
  at: string;
}

interface Served {
  backend: AnyBackend;
  folders: readonly ServedFolder[];
  close(): Promise<void>;
}

/** Opens what is to be served. */
export async function openServed(
  addresses: readonly string[],
  flags: AddressFlags,
): Promise<Served> {
  const opened: Opened[] = [];
  for (const address of addresses) opened.push(await open(address, flags));
  const close = async () => {
    for (const one of opened) await one.close();
  };
  const [only] = opened.length === 1 ? opened : [];
  for (const { folder } of opened) {
    // A copy makes its folder; a server of none is a misspelled address.
    if (folder !== undefined && !existsSync(folder)) {
      throw new CommandError(`There is no folder ${withoutPassword(folder)}`);
    }
  }
  if (only?.folder !== undefined) {
    return { backend: only.backend, folders: [{ folder: only.folder, at: "" }], close };
  }
  if (only) return { backend: within(only), folders: [], close };
  const folders = named(opened);
  const routes = folders.map(({ at }, index) => [`${at}/`, opened[index]?.backend] as const);
  const nothing = withPolicy(new StateBackend({ scope: "instance" }), { readOnly: true });
  const backend = new CompositeBackend(
    nothing,
    Object.fromEntries(routes) as Record<string, AnyBackend>,
  );
  return { backend, folders, close };
}

/** A backend without what is outside of the directory that its address names. */
function within({ backend, directory }: Opened): AnyBackend {
  if (directory === "/") return backend;
  const operations: Array<"read" | "write"> = ["read", "write"];
  return withPolicy(backend, {
    permissions: [
      { operations, paths: [`${exactly(directory.slice(0, -1))}/**`], mode: "allow" },
      // Not the root itself: searches begin there.
      { operations, paths: ["/*", "/*/**"], mode: "deny" },
    ],
  });
}

/** The directories of several folders: their names, with a number where one is taken. */
function named(opened: readonly Opened[]): ServedFolder[] {
  const found: ServedFolder[] = [];
  for (const { folder, name } of opened) {
    if (folder === undefined) {
      throw new CommandError(`Several addresses must be folders; ${name} is none`);
    }
    // Two ways to one file would be two sets of rules about it.
    const [place, taken] = [
      real(folder),
      found.find((one) => overlap(real(one.folder), real(folder))),
    ];
    if (taken) {
      const [inner, outer] = isIn(real(taken.folder), place)
        ? [place, taken.folder]
        : [taken.folder, place];
      throw new CommandError(
        `${withoutPassword(inner)} is in ${withoutPassword(outer)}; name only one of them`,
      );
    }
    const own = basename(place) || "root";
    const isTaken = (at: string) => found.some((one) => one.at.toLowerCase() === at.toLowerCase());
    let at = `/${own}`;
    for (let number = 2; isTaken(at); number += 1) at = `/${own}-${number}`;
    found.push({ folder, at });
  }
  return found;
}

const overlap = (one: string, other: string) => isIn(one, other) || isIn(other, one);

/** Whether a path is a folder or in it. */
const isIn = (folder: string, path: string) => inside(folder, path) !== undefined;

/** The names from a folder to a path that is in it. */
function inside(folder: string, path: string): string[] | undefined {
  const way = relative(folder, path);
  const parts = way.split(sep).filter((part) => part !== "");
  return isAbsolute(way) || parts[0] === ".." ? undefined : parts;
}

/** What a model is told about several folders. */
export const partsOf = (folders: readonly ServedFolder[]) =>
  `The files are in ${folders.map(({ at }) => at).join(", ")}; nothing can be written elsewhere.`;

/** The directories of the tree that a root of the client is. */
export function directoriesOf(folders: readonly ServedFolder[], uri: string): string[] {
  let place: string;
  try {
    place = real(fileURLToPath(uri));
  } catch {
    return [];
  }
  return folders.flatMap(({ folder, at }) => {
    const served = real(folder);
    // The folder may be inside the root, or the root inside the folder.
    const names = isIn(place, served) ? [] : inside(served, place);
    return names ? [[at, ...names].join("/") || "/"] : [];
  });
}

/** A path without links: a client may name a folder by another way than the command line. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
