// Problems of a tree as Mastra's errors: its tools ask which class an error has.

import {
  DirectoryNotEmptyError,
  DirectoryNotFoundError,
  FileExistsError,
  FileNotFoundError,
  FilesystemError,
  IsDirectoryError,
  NotDirectoryError,
  PermissionError,
} from "@mastra/core/workspace";
import { Problem, problemBehind } from "../fs/errors.js";

/** A call, for its errors. */
export interface Call {
  operation: string;
  /** The path, as the caller wrote it. */
  path: string;
  /** The second path of a copy or a move. */
  dest?: string;
  /** What is missing, if something is: the default is a file. */
  missing?: "directory" | "parent";
}

function errorOf(problem: Problem, call: Call): Error {
  const { operation, path, dest, missing } = call;
  const parent = path.replace(/\/*[^/]*\/*$/, "") || (path.startsWith("/") ? "/" : ".");
  switch (problem.code) {
    case "ENOENT":
      if (missing === undefined) return new FileNotFoundError(path);
      return new DirectoryNotFoundError(missing === "parent" ? parent : path);
    case "EEXIST":
      return new FileExistsError(dest ?? path);
    case "EISDIR":
      return new IsDirectoryError(path);
    case "ENOTDIR":
      return new NotDirectoryError(missing === "parent" ? parent : path);
    case "ENOTEMPTY":
      return new DirectoryNotEmptyError(path);
    case "EACCES":
      return new PermissionError(path, operation);
    default:
      return new FilesystemError(`${operation} failed: ${path}`, problem.code, path);
  }
}

/** An error of an operation in Mastra's class, with the reason for the model. */
export function mastraError(error: unknown, call: Call): unknown {
  const problem = error instanceof Problem ? error : problemBehind(error);
  if (!problem) {
    // What `cp` checks itself: a directory onto a file, or into itself.
    const { info, message } = error as { info?: { code: string }; message: string };
    return info ? new FilesystemError(message, info.code, call.path) : error;
  }
  const made = errorOf(problem, call);
  if (problem.reason !== undefined) made.message += ` (${problem.reason})`;
  return made;
}
