// `kitbag/mastra`: a backend as the file system of a workspace of Mastra. The operations are those of
// `kitbag/fs`; here are Mastra's options, its errors, and its searches.

import type { WorkspaceFilesystem } from "@mastra/core/workspace";
import type { AnyBackend } from "kitbag";
import { onlyKnown } from "../core/nearest.js";
import { deleted } from "./framework/files.js";
import { bytesOf, decoded, encodingOf, wrongData } from "./fs/content.js";
import { Problem } from "./fs/errors.js";
import { exists } from "./fs/looking.js";
import { nameOf, targetOf } from "./fs/paths.js";
import { later, type Steps } from "./fs/steps.js";
import { Tree } from "./fs/tree.js";
import { bytesAt } from "./fs/whole.js";
import { list, make, removed, walk } from "./mastra/directories.js";
import { type Call, mastraError } from "./mastra/errors.js";
import { append, copy, move, timeOf, write } from "./mastra/files.js";
import { grep } from "./mastra/grep.js";

/** Options of `workspaceFilesystem`. */
export interface WorkspaceFilesystemOptions {
  /** Identifies the file system in Mastra. Default: a new identifier. */
  id?: string;
  /** Refuses all changes, and Mastra offers no tools for them. Default: as the backend says. */
  readOnly?: boolean;
  /** What the agent is told about the files, in place of the default. */
  instructions?: string;
}

function checked(options: WorkspaceFilesystemOptions | undefined): WorkspaceFilesystemOptions {
  onlyKnown("workspaceFilesystem", options, ["id", "readOnly", "instructions"]);
  const kinds = { id: "string", readOnly: "boolean", instructions: "string" } as const;
  for (const [name, kind] of Object.entries(kinds)) {
    const given = options?.[name as keyof typeof kinds];
    if (given !== undefined && typeof given !== kind) {
      throw new TypeError(`workspaceFilesystem: option "${name}" must be a ${kind}`);
    }
  }
  return options ?? {};
}

function instructionsOf(readOnly: boolean): string {
  const changes = readOnly ? " They can be read but not changed." : "";
  return `The files are in a tree of their own, not on a disk: "/" is its root, and paths begin there, with or without the slash.${changes}`;
}

/**
 * Returns the file system of a workspace of Mastra over a backend. Its errors are Mastra's. Searches are
 * made by the backend, and `expectedMtime` by a conditional change.
 *
 * @param backend Any backend with `uploadFiles`, `downloadFiles` and `delete`.
 * @example
 * const filesystem = workspaceFilesystem(new StateBackend());
 * const agent = new Agent({ id, name, instructions, model, workspace: new Workspace({ filesystem }) });
 */
export function workspaceFilesystem(
  backend: AnyBackend,
  options?: WorkspaceFilesystemOptions,
): WorkspaceFilesystem {
  const { id = `kitbag-${crypto.randomUUID()}`, ...given } = checked(options);
  if (typeof backend !== "object" || backend === null) {
    throw new TypeError("workspaceFilesystem: the first argument must be a backend");
  }
  const tree = new Tree(backend, "/", "workspaceFilesystem");
  const { capability } = tree.files as { capability?: { writable?: boolean } };
  const readOnly = given.readOnly ?? capability?.writable === false;
  const identity = { id, name: "kitbag", provider: "kitbag", readOnly };
  const run = async <T>(call: Call, steps: () => Steps<T>): Promise<T> => {
    try {
      return await later(steps());
    } catch (error) {
      throw mastraError(error, call);
    }
  };
  const change = (call: Call, steps: () => Steps<void>): Promise<void> =>
    run(call, () => {
      if (readOnly) throw new Problem("EACCES", "the files are read-only");
      return steps();
    });
  const at = (path: string) => targetOf(path, tree.cwd);
  const bytes = (content: unknown) => {
    const found = bytesOf(content, undefined);
    if (found) return found;
    throw wrongData("content", content);
  };
  return {
    ...identity,
    status: "ready",
    getInfo: () => ({ ...identity, status: "ready" as const }),
    getInstructions: () => given.instructions ?? instructionsOf(readOnly),
    realpath: (path) =>
      run({ operation: "realpath", path }, function* () {
        yield* tree.get(at(path));
        return at(path).path;
      }),
    readFile: (path, how) =>
      run({ operation: "read", path }, function* () {
        const encoding = encodingOf(how?.encoding);
        return decoded(yield* bytesAt(tree, at(path)), encoding) as string | Buffer;
      }),
    writeFile: (path, content, how) =>
      change({ operation: "write", path, missing: "parent" }, () =>
        write(tree, at(path), bytes(content), how ?? {}),
      ),
    appendFile: (path, content) =>
      change({ operation: "append", path, missing: "parent" }, () =>
        append(tree, at(path), bytes(content)),
      ),
    deleteFile: (path, how) =>
      change({ operation: "delete", path }, function* () {
        if (!(yield* deleted(tree, at(path))) && !how?.force) throw new Problem("ENOENT");
      }),
    copyFile: (path, dest, how) =>
      change({ operation: "copy", path, dest }, () => copy(tree, path, dest, how ?? {})),
    moveFile: (path, dest, how) =>
      change({ operation: "move", path, dest }, () => move(tree, path, dest, how ?? {})),
    mkdir: (path, how) =>
      change({ operation: "mkdir", path, missing: "parent" }, () =>
        make(tree, at(path), how?.recursive !== false),
      ),
    rmdir: (path, how) =>
      change({ operation: "rmdir", path, missing: "directory" }, () =>
        removed(tree, at(path), how ?? {}),
      ),
    readdir: (path, how) =>
      run({ operation: "list", path, missing: "directory" }, () => list(tree, at(path), how ?? {})),
    walk: (path, how) =>
      run({ operation: "walk", path, missing: "directory" }, () => walk(tree, at(path), how ?? {})),
    grep: (how) => run({ operation: "grep", path: how.path }, () => grep(tree, at(how.path), how)),
    exists: (path) => later(exists(tree, path)),
    stat: (path) =>
      run({ operation: "stat", path }, function* () {
        const target = at(path);
        const { directory, size, modified } = yield* tree.get(target);
        const time = directory ? new Date(tree.shared.made) : timeOf(modified);
        return {
          name: nameOf(target.path),
          path: target.path,
          type: directory ? ("directory" as const) : ("file" as const),
          size: directory ? 0 : size,
          createdAt: time,
          modifiedAt: time,
        };
      }),
  };
}
