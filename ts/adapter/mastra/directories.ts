// The operations on directories.

import type {
  FileEntry,
  ListOptions,
  RemoveOptions,
  WalkEntry,
  WalkOptions,
} from "@mastra/core/workspace";
import { namesIn } from "../../core/paths.js";
import { Problem, problemOf } from "../fs/errors.js";
import { entriesOf } from "../fs/looking.js";
import { erase, makeAll, mkdir, removeEmpty } from "../fs/making.js";
import { type Target, targetOf } from "../fs/paths.js";
import { ask, type Steps } from "../fs/steps.js";
import type { Listed, Tree } from "../fs/tree.js";

export function* make(tree: Tree, target: Target, recursive: boolean): Steps<void> {
  if (recursive) {
    yield* makeAll(tree, target.path);
    return;
  }
  const entry = yield* tree.find(target.path);
  if (entry && !entry.directory) throw new Problem("EEXIST");
  if (!entry) yield* mkdir(tree, target.given);
}

export function* removed(tree: Tree, target: Target, options: RemoveOptions): Steps<void> {
  const entry = yield* tree.find(target.path);
  if (!entry) {
    const problem = yield* tree.missing(target.path);
    if (options.force && problem.code === "ENOENT") return;
    throw problem;
  }
  if (!entry.directory) throw new Problem("ENOTDIR");
  if (target.path === "/") throw new Problem("EBUSY", "the root cannot be removed");
  if (options.recursive) yield* erase(tree, target.path);
  else yield* removeEmpty(tree, target.path);
}

/** What is below a directory, each directory followed by what is in it. */
function* below(
  tree: Tree,
  target: Target,
  depth: number,
  wanted: (entry: Listed) => boolean,
  from = "",
): Steps<WalkEntry[]> {
  const found: WalkEntry[] = [];
  for (const entry of yield* entriesOf(tree, target)) {
    if (!wanted(entry)) continue;
    const { name, directory, size } = entry;
    const path = from === "" ? name : `${from}/${name}`;
    const type = directory ? ("directory" as const) : ("file" as const);
    found.push({ name, path, type, ...(size !== undefined && { size }) });
    if (!directory || depth <= 1) continue;
    const inner = targetOf(`${target.path}/${name}`, tree.cwd);
    try {
      for (const one of yield* below(tree, inner, depth - 1, wanted, path)) found.push(one);
    } catch (error) {
      // What a rule hides is left out, and what was deleted meanwhile.
      const gone = error instanceof Problem && /EACCES|ENOENT|ENOTDIR/.test(error.code);
      if (!gone) throw error;
    }
  }
  return found;
}

/** The depth to which Mastra's own file system lists, if none is asked for. */
const DEPTH = 100;

export function* list(tree: Tree, target: Target, options: ListOptions): Steps<FileEntry[]> {
  const { extension, recursive, maxDepth } = options;
  const endings = extension === undefined ? undefined : [extension].flat();
  const ends = (name: string) => {
    const dot = name.lastIndexOf(".");
    const own = dot > 0 ? name.slice(dot) : "";
    return endings?.some((one) => one === own || one === own.slice(1)) ?? true;
  };
  const depth = recursive ? (maxDepth ?? DEPTH) + 1 : 1;
  yield* isDirectory(tree, target);
  const found = yield* below(tree, target, depth, (one) => one.directory || ends(one.name));
  return found.map(({ path, ...entry }) => ({ ...entry, name: path }));
}

/** An empty listing may be that of a path at which there is nothing. */
function* isDirectory(tree: Tree, target: Target): Steps<void> {
  if (!(yield* tree.get(target)).directory) throw new Problem("ENOTDIR");
}

/** The same by one search, where directories follow from the paths of files. */
function* searched(
  tree: Tree,
  target: Target,
  depth: number,
  wanted: (entry: Listed) => boolean,
): Steps<WalkEntry[] | undefined> {
  const answer = yield* ask(() => tree.files.glob("**", target.path));
  if (answer.error !== undefined) throw problemOf(answer, target.path);
  if (answer.truncated) return undefined;
  const found = new Map<string, WalkEntry>();
  const put = (names: string[], size?: number) => {
    for (let at = 1; at <= names.length && at <= depth; at++) {
      const [name, path] = [names[at - 1] as string, names.slice(0, at).join("/")];
      const directory = at < names.length || size === undefined;
      if (!wanted({ name, directory })) return;
      if (found.get(path)?.type === "file") return;
      found.set(path, { name, path, ...(directory ? DIRECTORY : { type: "file", size }) });
    }
  };
  const start = namesIn(target.path).length;
  for (const file of answer.files ?? []) put(namesIn(file.path).slice(start), file.size ?? 0);
  const empty = [target.path];
  for (let dir = empty.pop(); dir !== undefined; dir = empty.pop()) {
    for (const name of tree.shared.directories.inside(dir)) {
      const path = dir === "/" ? `/${name}` : `${dir}/${name}`;
      put(namesIn(path).slice(start));
      empty.push(path);
    }
  }
  const key = ({ path }: WalkEntry) => path.replaceAll("/", "\0");
  return [...found.values()].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

const DIRECTORY = { type: "directory" as const };

export function* walk(
  tree: Tree,
  target: Target,
  { maxDepth, includeHidden }: WalkOptions,
): Steps<WalkEntry[]> {
  const depth = maxDepth ?? Number.POSITIVE_INFINITY;
  yield* isDirectory(tree, target);
  const shown = ({ name }: Listed) => includeHidden === true || !name.startsWith(".");
  if (depth < 1) return [];
  // Of a shallow look one listing for each directory reads less.
  const all = depth > 2 && !tree.real ? yield* searched(tree, target, depth, shown) : undefined;
  return all ?? (yield* below(tree, target, depth, shown));
}
