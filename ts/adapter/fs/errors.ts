// Errors as Node has them: codes, numbers and texts of Linux, and what the answers of a backend are in
// these terms.

import { isMissing } from "../changes.js";

/** The codes, with their numbers and texts. */
const CODES = {
  EPERM: [1, "operation not permitted"],
  ENOENT: [2, "no such file or directory"],
  EIO: [5, "i/o error"],
  EBADF: [9, "bad file descriptor"],
  EAGAIN: [11, "resource temporarily unavailable"],
  EACCES: [13, "permission denied"],
  EBUSY: [16, "resource busy or locked"],
  EEXIST: [17, "file already exists"],
  ENOTDIR: [20, "not a directory"],
  EISDIR: [21, "illegal operation on a directory"],
  EINVAL: [22, "invalid argument"],
  EFBIG: [27, "file too large"],
  ENOSPC: [28, "no space left on device"],
  ENAMETOOLONG: [36, "name too long"],
  ENOSYS: [38, "function not implemented"],
  ENOTEMPTY: [39, "directory not empty"],
  ETIMEDOUT: [110, "connection timed out"],
} as const;

export type Code = keyof typeof CODES;

/** The operation that failed, and the paths as the caller gave them. */
export interface Place {
  syscall: string;
  path?: string | undefined;
  dest?: string | undefined;
}

/** What went wrong inside an operation, which adds its name and paths. */
export class Problem extends Error {
  constructor(
    readonly code: Code,
    /** Why, if the code does not say it. */
    readonly reason?: string,
    /** Another place than that of the operation. */
    readonly place?: Place,
  ) {
    super(code);
  }
}

/** An error with the fields of Node's. */
export function fsError(code: Code, place: Place, reason?: string, cause?: unknown): Error {
  const { syscall, path, dest } = place;
  const [errno, text] = CODES[code];
  const at = path === undefined ? "" : ` '${path}'`;
  const to = dest === undefined ? "" : ` -> '${dest}'`;
  const why = reason === undefined ? "" : ` (${reason})`;
  const error = new Error(
    `${code}: ${text}, ${syscall}${at}${to}${why}`,
    cause === undefined ? undefined : { cause },
  );
  const fields: Record<string, unknown> = { errno: -errno, code, syscall };
  if (path !== undefined) fields.path = path;
  if (dest !== undefined) fields.dest = dest;
  return Object.assign(error, fields);
}

/** An error of `cp` and `rm`, which Node checks itself before the system does. */
export function systemError(code: string, what: string, said: [string, Code], place: Place): Error {
  const [message, word] = said;
  const [errno] = CODES[word];
  const error = new Error(`${what}: ${place.syscall} returned ${word} (${message}) ${place.path}`);
  error.name = "SystemError";
  const info = { message, path: place.path, syscall: place.syscall, errno, code: word };
  return Object.assign(error, { code, info, errno, syscall: place.syscall, path: place.path });
}

/** A wrong argument. */
export const wrongArgument = (code: string, message: string): Error =>
  Object.assign(code === "ERR_OUT_OF_RANGE" ? new RangeError(message) : new TypeError(message), {
    code,
  });

/** What a value is, in Node's words. */
export function received(value: unknown): string {
  if (value === null || value === undefined) return `Received ${value}`;
  if (typeof value === "function") return `Received function ${value.name}`;
  if (typeof value === "object") {
    const name = (value as object).constructor?.name;
    return name ? `Received an instance of ${name}` : "Received an object without a prototype";
  }
  if (typeof value === "bigint") return `Received type bigint (${value}n)`;
  const text = typeof value === "string" ? `'${value.slice(0, 25)}'` : String(value);
  return `Received type ${typeof value} (${text})`;
}

export const wrongType = (name: string, kind: string, value: unknown): Error =>
  wrongArgument(
    "ERR_INVALID_ARG_TYPE",
    `The "${name}" ${name.includes(".") ? "property" : "argument"} must be ${kind}. ${received(value)}`,
  );

/** The error for a call that its signal has ended. */
export const aborted = (signal: AbortSignal): Error =>
  Object.assign(new Error("The operation was aborted", { cause: signal.reason }), {
    name: "AbortError",
    code: "ABORT_ERR",
  });

/** Codes of answers, of kitbag's own backends and of deepagents' batches. */
const ANSWERS: Record<string, Code> = {
  not_found: "ENOENT",
  file_not_found: "ENOENT",
  already_exists: "EEXIST",
  permission_denied: "EACCES",
  is_directory: "EISDIR",
  invalid_path: "EINVAL",
  invalid_argument: "EINVAL",
  too_large: "EFBIG",
  quota_exceeded: "ENOSPC",
  rate_limited: "EAGAIN",
  unsupported: "ENOSYS",
  conflict: "EBUSY",
  timeout: "ETIMEDOUT",
};

/** What an answer may have; `message` is that of an entry of a batch. */
export interface Answered {
  error?: string | null | undefined;
  message?: string | undefined;
  code?: string | undefined;
}

/** A failed answer as a problem. */
export function problemOf(answer: Answered | undefined, path: string): Problem {
  const said = answer?.message ?? answer?.error ?? "the backend gave no answer";
  // An object of another library may have a sentence only.
  const plain = answer && answer.code === undefined && isMissing(answer) ? "ENOENT" : "EIO";
  const code = ANSWERS[answer?.code ?? answer?.error ?? ""] ?? plain;
  // The limit of every backend.
  if (code === "EINVAL" && new TextEncoder().encode(path).length > 1024) {
    return new Problem("ENAMETOOLONG");
  }
  return new Problem(code, code === "ENOENT" ? undefined : said);
}

const behind = new WeakMap<Error, Problem>();

/** The problem that an error of an operation was made of. */
export const problemBehind = (error: unknown): Problem | undefined => behind.get(error as Error);

/** An error of a step with the place where it happened. */
export function located(error: unknown, place: Place): unknown {
  if (!(error instanceof Problem)) return error;
  const made = fsError(error.code, error.place ?? place, error.reason);
  behind.set(made, error);
  return made;
}
