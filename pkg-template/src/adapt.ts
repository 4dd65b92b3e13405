// The protocol's two versions, each seen as the other. An adapted object never throws: whatever
// the one behind it throws becomes `{ error, code: "unavailable" }` with the cause kept.

import { messageOf } from "./core/checks.js";
import { numbered } from "./numbered.js";
import { StateBackend } from "./state.js";
import type {
  BackendProtocolV2,
  CallOptions,
  DeleteResult,
  EditResult,
  ExecuteResponse,
  Failure,
  FileData,
  FileDownloadResponse,
  FileInfo,
  FileInput,
  FileUploadResponse,
  GlobResult,
  GrepMatch,
  GrepOptions,
  GrepResult,
  LsResult,
  MaybePromise,
  ReadRawResult,
  ReadResult,
  SandboxBackendProtocolV2,
  WriteResult,
} from "./types.js";

/** The protocol's first version: texts and bare arrays. */
export interface BackendProtocolV1 {
  lsInfo(path: string): MaybePromise<FileInfo[]>;
  read(filePath: string, offset?: number, limit?: number): MaybePromise<string>;
  readRaw(filePath: string): MaybePromise<FileData>;
  grepRaw(
    pattern: string,
    path?: string | null,
    glob?: string | null,
  ): MaybePromise<GrepMatch[] | string>;
  globInfo(pattern: string, path?: string): MaybePromise<FileInfo[]>;
  write(filePath: string, content: string): MaybePromise<WriteResult>;
  edit(
    filePath: string,
    oldString: string,
    newString: string,
    replaceAll?: boolean,
  ): MaybePromise<EditResult>;
  uploadFiles?(files: Array<[string, Uint8Array]>): MaybePromise<FileUploadResponse[]>;
  downloadFiles?(paths: string[]): MaybePromise<FileDownloadResponse[]>;
}

/** Any object that is a backend, of either version. */
// biome-ignore lint/suspicious/noExplicitAny: deepagents' own types differ between its versions
export type AnyBackend = BackendProtocolV2 | BackendProtocolV1 | { [method: string]: any };

// biome-ignore lint/suspicious/noExplicitAny: methods of either version, looked at before each call
type Loose = Record<string, any>;

const NAMES = [
  ["ls", "lsInfo"],
  ["read"],
  ["grep", "grepRaw"],
  ["glob", "globInfo"],
  ["write"],
  ["edit"],
] as const;

function has(object: object, name: string): boolean {
  return typeof (object as Loose)[name] === "function";
}

/** Whether an object has the methods of either version. */
export function isBackend(object: unknown): object is BackendProtocolV1 | BackendProtocolV2 {
  if (typeof object !== "object" || object === null) return false;
  try {
    return NAMES.every((names) => names.some((name) => has(object, name)));
  } catch {
    return false;
  }
}

/** What was thrown, as a result. */
function thrown(error: unknown): Failure {
  const failure: Failure = { error: messageOf(error), code: "unavailable" };
  Object.defineProperty(failure, "cause", { value: error, enumerable: false });
  return failure;
}

async function safely<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    return thrown(error) as T;
  }
}

function only<K extends string, T>(name: K, answer: unknown): T {
  if (Array.isArray(answer)) return { [name]: answer } as T;
  if (typeof answer === "string") return { error: answer } as T;
  return answer as T;
}

function failed(answer: Failure | null | undefined): boolean {
  return typeof answer?.error === "string";
}

/** Whether an object speaks the second version; asked on every call, as its methods are. */
function isSecond(it: Loose): boolean {
  return has(it, "ls");
}

/**
 * Options as a method may be given them behind its arguments, if at all. An object that has a
 * `capability`, as kitbag's own and their subclasses have, takes them. The protocol itself has no
 * signal, so a method of another object gets one only where it names its parameters: a method
 * that gathers them (`(...args)`) may count them, or send them to where no signal can go.
 */
function fitting<T extends CallOptions>(it: Loose, name: string, options?: T): [] | [T] {
  if (options === undefined || options === null) return [];
  if (isSecond(it) && (it.capability !== undefined || it[name].length > 0)) return [options];
  const { signal: _, ...others } = options;
  return Object.keys(others).length > 0 ? [others as T] : [];
}

/** Calls a method of the second version. */
function ask(it: Loose, name: string, args: unknown[], options?: CallOptions) {
  return it[name](...args, ...(isSecond(it) ? fitting(it, name, options) : []));
}

/**
 * A backend of either version as one of the second. Its methods take kitbag's options behind the
 * protocol's arguments; a `signal` is handed on to an object of the second version.
 */
export function adaptBackendProtocol(backend: AnyBackend): BackendProtocolV2 {
  if (!isBackend(backend)) {
    throw new TypeError("adaptBackendProtocol: the backend has not the methods of either protocol");
  }
  const it = backend as Loose;
  // Asked of the object on every call, so that a method patched later is the one called.
  const readRaw = (filePath: string, options?: CallOptions): Promise<ReadRawResult> =>
    safely(async () => {
      if (!has(it, "readRaw")) {
        return { error: "readRaw is not supported by this backend", code: "unsupported" };
      }
      const answer = await ask(it, "readRaw", [filePath], options);
      if (typeof answer === "string") return { error: answer };
      if (answer && typeof answer === "object" && ("data" in answer || "error" in answer))
        return answer;
      return { data: answer as FileData };
    });
  const adapted: BackendProtocolV2 & Loose = {
    ls: (path: string, options?: CallOptions) =>
      safely(async () =>
        only<"files", LsResult>(
          "files",
          await (isSecond(it) ? ask(it, "ls", [path], options) : it.lsInfo(path)),
        ),
      ),
    read: (filePath: string, offset?: number, limit?: number, options?: CallOptions) =>
      safely(async () => {
        if (!isSecond(it) && has(it, "readRaw"))
          return page(filePath, await readRaw(filePath), offset, limit);
        const answer = await ask(it, "read", [filePath, offset, limit], options);
        if (typeof answer !== "string") return answer as ReadResult;
        return /^Error\b/.test(answer) ? { error: answer } : { content: answer };
      }),
    readRaw,
    grep: (
      pattern: string,
      path?: string | null,
      glob?: string | null,
      maxCount?: number | null,
      options?: GrepOptions,
    ) =>
      safely(async () => {
        const answer = only<"matches", GrepResult>(
          "matches",
          await (has(it, "grep")
            ? it.grep(pattern, path, glob, maxCount, ...fitting(it, "grep", options))
            : literally(it, pattern, path, glob)),
        );
        if (typeof maxCount !== "number" || !answer?.matches || answer.matches.length <= maxCount) {
          return answer;
        }
        return { ...answer, matches: answer.matches.slice(0, maxCount), truncated: true };
      }),
    glob: (pattern: string, path?: string, options?: CallOptions) =>
      safely(async () =>
        only<"files", GlobResult>(
          "files",
          await (has(it, "glob")
            ? ask(it, "glob", [pattern, path], options)
            : it.globInfo(pattern, path)),
        ),
      ),
    write: (filePath: string, content: string, options?: CallOptions) =>
      safely<WriteResult>(() => ask(it, "write", [filePath, content], options)),
    edit: (
      filePath: string,
      oldString: string,
      newString: string,
      replaceAll?: boolean,
      options?: CallOptions,
    ) =>
      safely<EditResult>(() =>
        ask(it, "edit", [filePath, oldString, newString, replaceAll], options),
      ),
  };
  if (has(it, "delete")) {
    adapted.delete = (filePath: string, options?: CallOptions) =>
      safely<DeleteResult>(() => ask(it, "delete", [filePath], options));
  }
  for (const name of ["uploadFiles", "downloadFiles"] as const) {
    if (has(it, name)) {
      adapted[name] = async (batch: never, options?: CallOptions) =>
        await ask(it, name, [batch], options);
    }
  }
  for (const name of ["routePrefixes", "capability"] as const) {
    if (it[name] !== undefined) {
      Object.defineProperty(adapted, name, { get: () => it[name], enumerable: true });
    }
  }
  return adapted;
}

/**
 * Asks the first version for a text. Some take the pattern as it stands and some as a regular
 * expression, so where that makes a difference both are asked, and what holds the text is kept.
 */
async function literally(
  it: Loose,
  pattern: string,
  path?: string | null,
  glob?: string | null,
): Promise<GrepMatch[] | string> {
  const ask = (text: string) => it.grepRaw(text, path ?? "/", glob ?? null);
  const escaped = pattern.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  if (escaped === pattern) return ask(pattern);
  const answers: Array<GrepMatch[] | string> = [await ask(escaped), await ask(pattern)];
  const found = new Map<string, GrepMatch>();
  for (const answer of answers) {
    if (!Array.isArray(answer)) continue;
    for (const match of answer) {
      if (String(match.text).includes(pattern)) found.set(`${match.line} ${match.path}`, match);
    }
  }
  const refusal = answers.every((answer) => typeof answer === "string") ? answers[0] : undefined;
  return refusal ?? [...found.values()];
}

/** Lines of a stored file, as the second version reads them. */
function page(filePath: string, raw: ReadRawResult, offset?: number, limit?: number): ReadResult {
  if (failed(raw) || raw.data === undefined) return raw as ReadResult;
  const whole = new StateBackend({ files: { [filePath]: raw.data as FileInput } });
  return whole.read(filePath, offset, limit);
}

/** A backend of either version that can run commands as one of the second. */
export function adaptSandboxProtocol(sandbox: AnyBackend): SandboxBackendProtocolV2 {
  const adapted = adaptBackendProtocol(sandbox) as SandboxBackendProtocolV2 & Loose;
  const it = sandbox as Loose;
  adapted.execute = async (command: string, options?: CallOptions): Promise<ExecuteResponse> => {
    try {
      return await it.execute(command, ...fitting(it, "execute", options));
    } catch (error) {
      const failure = thrown(error);
      return Object.assign(failure, {
        output: failure.error ?? "",
        exitCode: null,
        truncated: false,
      });
    }
  };
  Object.defineProperty(adapted, "id", { get: () => it.id, enumerable: true });
  return adapted;
}

/** What is thrown where the first version has no place for a refusal. */
function refuse(failure: Failure): never {
  const error = new Error(failure.error, { cause: failure.cause });
  throw Object.assign(error, { code: failure.code });
}

/** A view of a backend in the protocol's first version. */
export function toV1(backend: AnyBackend): BackendProtocolV1 {
  const v2 = adaptBackendProtocol(backend) as BackendProtocolV2 & Loose;
  const it = backend as Loose;
  const view: BackendProtocolV1 & Loose = {
    lsInfo: async (path) => (await v2.ls(path)).files ?? [],
    async read(filePath, offset = 0, limit = 500) {
      const answer = await v2.read(filePath, offset, limit);
      if (answer.error !== undefined) {
        return answer.error.startsWith("Error") ? answer.error : `Error: ${answer.error}`;
      }
      if (typeof answer.content !== "string") {
        return `Error: '${filePath}' is not text (${answer.mimeType ?? "unknown type"}); download it instead`;
      }
      return numbered(answer.content, answer.startLine ?? offset + 1, limit);
    },
    async readRaw(filePath) {
      const answer = await v2.readRaw(filePath);
      return answer.data ?? refuse(answer);
    },
    async grepRaw(pattern, path, glob) {
      const answer: GrepResult = await v2.grep.call(v2, pattern, path, glob, null, ...regex);
      return answer.matches ?? answer.error ?? [];
    },
    globInfo: async (pattern, path) => (await v2.glob(pattern, path)).files ?? [],
    write: async (filePath, content) => v2.write(filePath, content),
    edit: async (filePath, oldString, newString, replaceAll) =>
      v2.edit(filePath, oldString, newString, replaceAll),
  };
  if (v2.uploadFiles) view.uploadFiles = async (files) => v2.uploadFiles?.(files) ?? [];
  if (v2.downloadFiles) view.downloadFiles = async (paths) => v2.downloadFiles?.(paths) ?? [];
  if (v2.delete) view.delete = async (filePath: string) => v2.delete?.(filePath);
  if (has(it, "execute") && typeof it.id === "string" && it.id !== "") {
    const sandbox = adaptSandboxProtocol(backend);
    view.execute = (command: string) => sandbox.execute(command);
    Object.defineProperty(view, "id", { get: () => sandbox.id, enumerable: true });
  }
  return view;
}

const regex: [] = [{ regex: true } satisfies GrepOptions] as unknown as [];
