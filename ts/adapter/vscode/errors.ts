// Problems of a tree as VS Code's errors, made by the classes of the module that the caller passed in.

import { type Code, Problem, problemBehind } from "../fs/errors.js";
import type { UriLike } from "./names.js";
import type { VsCode } from "./types.js";

type Kind = Exclude<keyof VsCode<UriLike>["FileSystemError"], "prototype">;

const KINDS: Partial<Record<Code, Kind>> = {
  ENOENT: "FileNotFound",
  EEXIST: "FileExists",
  ENOTDIR: "FileNotADirectory",
  EISDIR: "FileIsADirectory",
  EACCES: "NoPermissions",
  EPERM: "NoPermissions",
  EAGAIN: "Unavailable",
  EBUSY: "Unavailable",
  EIO: "Unavailable",
  ETIMEDOUT: "Unavailable",
};

/** What those say that VS Code has no class for. */
const TEXTS: Partial<Record<Code, string>> = {
  EINVAL: "the path or an argument is invalid",
  ENOTEMPTY: "the directory is not empty",
  ENAMETOOLONG: "the path is too long",
};

/** An error of an operation in VS Code's class. Its text says why, where the class does not. */
export function vsCodeError<U extends UriLike>(vscode: VsCode<U>, error: unknown, uri: U): unknown {
  const { FileSystemError } = vscode;
  let problem = error instanceof Problem ? error : problemBehind(error);
  // What a copy checks itself: a directory onto a file, or into itself.
  const { info, message } = error as { info?: { code: Code }; message: string };
  if (!problem && info) problem = new Problem(info.code, message);
  if (!problem) return error;
  const reason = problem.reason ?? TEXTS[problem.code];
  const said = reason === undefined ? uri : `${uri.path}: ${reason}`;
  const kind = KINDS[problem.code];
  return kind ? FileSystemError[kind](said) : new FileSystemError(said);
}
