// `kitbag/vscode`: a backend as the file system of a scheme in VS Code, with its searches. The operations are
// those of `kitbag/fs`; here are VS Code's options, its errors, what it is told of changes, and its searches.

import type { AnyBackend } from "kitbag";
import { bytesOf, wrongData } from "./fs/content.js";
import { cp } from "./fs/copying.js";
import { Problem } from "./fs/errors.js";
import { entriesOf } from "./fs/looking.js";
import { erase, mkdir, random, removeEmpty } from "./fs/making.js";
import { type Target, targetOf } from "./fs/paths.js";
import { changed, put, putNew, replaced } from "./fs/put.js";
import { copied, eraseFile, movedFile, rename } from "./fs/removing.js";
import { later, type Steps } from "./fs/steps.js";
import { isAt, Tree } from "./fs/tree.js";
import { bytesAt } from "./fs/whole.js";
import { Changes } from "./vscode/changes.js";
import { vsCodeError } from "./vscode/errors.js";
import type { SearchedFolder, Token } from "./vscode/names.js";
import { searchFiles, searchText } from "./vscode/search.js";
import { Seen } from "./vscode/seen.js";
import type { Types, VsCode } from "./vscode/types.js";

/** Of `FileType` and `FilePermission`. */
const IS = { file: 1, directory: 2, readOnly: 1 } as const;

/** A signal that a token of VS Code aborts. */
function signalOf(token: Token): AbortSignal {
  const controller = new AbortController();
  token.onCancellationRequested(() => controller.abort());
  if (token.isCancellationRequested) controller.abort();
  return controller.signal;
}

function* deleted(tree: Tree, target: Target, recursive: boolean): Steps<void> {
  const { path } = target;
  const { directory } = yield* tree.get(target);
  if (path === "/") throw new Problem("EBUSY", "the root cannot be deleted");
  if (!directory) yield* eraseFile(tree, path);
  else if (recursive) yield* erase(tree, path);
  else yield* removeEmpty(tree, path);
}

/** Checks a new path. Whether what is to come is a directory, and what is there now. */
function* checked(tree: Tree, from: Target, to: Target, overwrite: boolean) {
  const { directory } = yield* tree.get(from);
  if (from.path === "/") throw new Problem("EBUSY", "the root cannot be moved or copied");
  const there = yield* tree.find(to.path);
  if (there && !overwrite) throw new Problem("EEXIST");
  if (!there) yield* tree.room(to.path);
  if (isAt(from.path, to.path) || (directory && isAt(to.path, from.path))) {
    throw new Problem("EINVAL", "one path is inside the other");
  }
  return { directory, there };
}

/** Moves or copies. A directory that is replaced, or replaces a file, is there until that has succeeded. */
function* carried(
  tree: Tree,
  from: Target,
  to: Target,
  overwrite: boolean,
  work: (directory: boolean) => Steps<void>,
): Steps<void> {
  const { directory, there } = yield* checked(tree, from, to, overwrite);
  if (!there?.directory && !(there && directory)) return yield* work(directory);
  const aside = `${to.path}.${random(12)}`;
  yield* rename(tree, to.path, aside);
  try {
    yield* work(directory);
  } catch (error) {
    // If something has come, what was there stays under its other name.
    if (!(yield* tree.find(to.path))) yield* rename(tree, aside, to.path);
    throw error;
  }
  yield* there.directory ? erase(tree, aside) : eraseFile(tree, aside);
}

const moved = (tree: Tree, from: Target, to: Target, overwrite: boolean) =>
  carried(tree, from, to, overwrite, (directory) =>
    directory ? rename(tree, from.path, to.path) : movedFile(tree, from.path, to.path, overwrite),
  );

const copiedTo = (tree: Tree, from: Target, to: Target, overwrite: boolean) =>
  carried(tree, from, to, overwrite, (directory) =>
    directory
      ? cp(tree, from.path, to.path, { recursive: true, force: overwrite })
      : copied(tree, from.path, to.path, overwrite),
  );

function* written(
  tree: Tree,
  seen: Seen,
  target: Target,
  bytes: Uint8Array,
  { create, overwrite }: { create: boolean; overwrite: boolean },
): Steps<void> {
  const { path } = target;
  const entry = yield* tree.find(path);
  if (!entry) seen.came(path);
  if (entry?.directory || target.directory) throw new Problem("EISDIR");
  if (!entry) {
    if (!create) throw yield* tree.missing(path);
    yield* tree.room(path);
  } else if (!overwrite) throw new Problem("EEXIST");
  if (!overwrite) {
    if (!(yield* putNew(tree, path, bytes))) throw new Problem("EEXIST");
  } else if (entry && seen.saving(path, entry)) {
    const old = yield* tree.read(path);
    const now = yield* tree.find(path);
    const still = now?.modified === entry.modified && now?.size === entry.size;
    if (!still || !(yield* replaced(tree, path, old, bytes))) {
      throw new Problem("EBUSY", "another writer has changed it meanwhile");
    }
    tree.wrote(path);
  } else if (create) yield* put(tree, path, bytes);
  else yield* changed(tree, path, () => bytes);
}

/**
 * Returns a backend as the file system of a scheme in VS Code: a `FileSystemProvider`, which is also a
 * `TextSearchProvider2` and a `FileSearchProvider2` of VS Code's proposed API.
 *
 * @param backend Any backend with `uploadFiles`, `downloadFiles` and `delete`.
 * @param vscode The module `vscode` of an extension.
 * @example
 * const provider = fileSystemProvider(backend, vscode);
 * const { isReadonly } = provider;
 * vscode.workspace.registerFileSystemProvider("kitbag", provider, { isCaseSensitive: true, isReadonly });
 */
export function fileSystemProvider<U extends Types<never>["uri"]>(
  backend: AnyBackend,
  vscode: VsCode<U>,
): Types<U>["provider"] {
  if (typeof backend !== "object" || backend === null) {
    throw new TypeError("fileSystemProvider: the first argument must be a backend");
  }
  if (typeof vscode?.FileSystemError?.FileNotFound !== "function") {
    throw new TypeError('fileSystemProvider: the second argument must be the module "vscode"');
  }
  const tree = new Tree(backend, "/", "fileSystemProvider");
  const { capability } = tree.files as { capability?: { writable?: boolean } };
  const isReadonly = capability?.writable === false;
  const seen = new Seen();
  const changes = new Changes<U>(tree, seen);
  const run = async <T>(uri: U, steps: (target: Target) => Steps<T>): Promise<T> => {
    try {
      return await later(steps(targetOf(uri.path || "/", "/")));
    } catch (error) {
      throw vsCodeError(vscode, error, uri);
    }
  };
  const change = (uri: U, steps: (target: Target) => Steps<void>): Promise<void> =>
    run(uri, (target) => {
      if (isReadonly) throw new Problem("EACCES", "the files are read-only");
      return steps(target);
    });
  /** From one path to another; what is wrong is mostly so at the second. */
  const carry = (from: U, to: U, steps: (source: Target, target: Target) => Steps<void>) =>
    change(to, function* (target) {
      const source = targetOf(from.path, "/");
      try {
        if (source.path !== target.path) yield* steps(source, target);
      } catch (error) {
        const gone = error instanceof Problem && !(yield* tree.find(source.path));
        throw gone ? vsCodeError(vscode, error, from) : error;
      }
      seen.came(target.path);
    });
  const search = async <T>([first]: readonly SearchedFolder<U>[], steps: () => Steps<T>) =>
    first ? run(first.folder, steps) : later(steps());
  return {
    isReadonly,
    onDidChangeFile: changes.event,
    watch: (uri, options) => changes.watch(uri, options),
    stat: (uri) =>
      run(uri, function* (target) {
        const entry = yield* tree.get(target);
        const { directory, size } = entry;
        const mtime = seen.shown(target.path, entry, tree.shared.made);
        const type = directory ? IS.directory : IS.file;
        const stat = { type, ctime: mtime, mtime, size: directory ? 0 : size };
        return isReadonly ? { ...stat, permissions: IS.readOnly } : stat;
      }),
    readDirectory: (uri) =>
      run(uri, function* (target) {
        const dir = target.path === "/" ? "" : target.path;
        return (yield* entriesOf(tree, target)).map(({ name, directory }): [string, number] => {
          seen.named(`${dir}/${name}`);
          return [name, directory ? IS.directory : IS.file];
        });
      }),
    createDirectory: (uri) =>
      change(uri, function* ({ path }) {
        yield* mkdir(tree, path);
        seen.came(path);
      }),
    readFile: (uri) =>
      run(uri, function* (target) {
        const bytes = yield* bytesAt(tree, target);
        seen.read(target.path);
        return bytes;
      }),
    writeFile: (uri, content, options) =>
      change(uri, function* (target) {
        const bytes = bytesOf(content, undefined);
        if (!bytes) throw wrongData("content", content);
        yield* written(tree, seen, target, bytes, options);
        seen.wrote(target.path);
      }),
    delete: (uri, options) =>
      change(uri, function* (target) {
        yield* deleted(tree, target, options?.recursive === true);
        seen.gone(target.path);
      }),
    rename: (from, to, options) =>
      carry(from, to, function* (source, target) {
        yield* moved(tree, source, target, options?.overwrite === true);
        seen.gone(source.path);
      }),
    copy: (from, to, options) =>
      carry(from, to, (source, target) =>
        copiedTo(tree, source, target, options?.overwrite === true),
      ),
    provideTextSearchResults: (query, options, progress, token) =>
      search(options.folderOptions, function* () {
        const report = (one: object) => progress.report(one);
        const signal = signalOf(token);
        try {
          return { limitHit: yield* searchText(tree, vscode, query, options, report, signal) };
        } catch (error) {
          if (signal.aborted) return { limitHit: true };
          throw error;
        }
      }),
    provideFileSearchResults: (pattern, options, token) =>
      search(options.folderOptions, () => searchFiles(tree, pattern, options, signalOf(token))),
  };
}
