// Adapters between the protocol's two versions. An adapted object never throws: an exception of the
// adapted backend becomes `{ error, code: "unavailable" }` with a `cause`.

import { messageOf } from "../core/checks.js";
import { knownHandle } from "../core/handle.js";
import { pageOf as pageOfFile } from "../core/memory.js";
import { numbered, unnumbered } from "../core/numbered.js";
import { isOwn } from "../core/own.js";
import type {
  BackendAnswer,
  BackendProtocolV1,
  BackendProtocolV2,
  CallOptions,
  DeleteResult,
  EditResult,
  ErrorText,
  ExecuteResponse,
  Failure,
  Fields,
  FileData,
  FileInfo,
  GlobResult,
  GrepMatch,
  GrepOptions,
  GrepResult,
  LsResult,
  ReadRawResult,
  ReadResult,
  SandboxBackendProtocolV2,
  WriteResult,
} from "../types.js";
import { guarded } from "./guard.js";

/** Any object with the methods of a backend, kitbag's or another, of either protocol version. */
// biome-ignore lint/suspicious/noExplicitAny: deepagents' own types differ between its versions
export type AnyBackend = BackendProtocolV2 | BackendProtocolV1 | { [method: string]: any };

// biome-ignore lint/suspicious/noExplicitAny: methods of either version, checked before each call
type Loose = Record<string, any>;

/** The operations of every backend with all their names; those of the first version come last. */
const NAMES = {
  ls: ["ls", "lsInfo", "ls_info"],
  read: ["read"],
  grep: ["grep", "grepRaw", "grep_raw"],
  glob: ["glob", "globInfo", "glob_info"],
  write: ["write"],
  edit: ["edit"],
} as const;

function has(object: object, name: string): boolean {
  return typeof (object as Loose)[name] === "function";
}

/** Whether an object has the methods of either version. */
export function isBackend(object: unknown): object is BackendProtocolV1 | BackendProtocolV2 {
  if (typeof object !== "object" || object === null) return false;
  try {
    return Object.values(NAMES).every((names) => names.some((name) => has(object, name)));
  } catch {
    return false;
  }
}

/** Whether an object has at least one method of either version. */
function hasSome(object: unknown): boolean {
  if (typeof object !== "object" || object === null) return false;
  return [...Object.values(NAMES).flat(), "readRaw"].some((name) => has(object, name));
}

/** An exception as a result. */
function thrown(error: unknown): Failure {
  const failure: Failure = { error: messageOf(error) as ErrorText, code: "unavailable" };
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

/** The name of an object's method for an operation. */
function nameIn(object: object, operation: "ls" | "grep" | "glob"): string {
  return NAMES[operation].find((name) => has(object, name)) ?? operation;
}

/** Removes null fields, because the Python package fills every missing field with null. */
function filled<T>(answer: unknown): T {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) return answer as T;
  const fields = Object.entries(answer);
  if (fields.every(([, value]) => value !== null)) return answer as T;
  return Object.fromEntries(fields.filter(([, value]) => value !== null)) as T;
}

/** A listing or matches under the field `name`; `others` are the Python package's field names. */
function only<K extends string, T>(name: K, answer: unknown, ...others: string[]): T {
  if (Array.isArray(answer)) return { [name]: answer } as T;
  if (typeof answer === "string") return { error: answer } as T;
  const it = filled<Loose>(answer);
  const other = others.find((one) => Array.isArray(it?.[one]));
  return (other === undefined || it[name] !== undefined ? it : { ...it, [name]: it[other] }) as T;
}

/** The result of a change; also reads the Python package's field `files_update`. */
function changed<T>(answer: unknown): T {
  const it = filled<Loose>(answer);
  return (it?.files_update === undefined ? it : { ...it, filesUpdate: it.files_update }) as T;
}

/** A page; also in the form of the Python package: `file_data` with text or base64. */
function pageOf(answer: unknown): BackendAnswer<Fields<ReadResult>> {
  const it = filled<Loose>(answer);
  const data = it?.file_data as Loose | undefined;
  if (typeof data !== "object" || data === null || it.content !== undefined)
    return it as BackendAnswer<Fields<ReadResult>>;
  const { content, encoding } = data;
  if (encoding === "base64") {
    const binary = atob(content);
    return { content: Uint8Array.from(binary, (character) => character.charCodeAt(0)) };
  }
  return { content: Array.isArray(content) ? content.join("\n") : content };
}

function failed(answer: { error?: string } | null | undefined): boolean {
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

/** Calls a method with these arguments and, behind them, the options that fit. */
function ask(it: Loose, name: string, args: unknown[], options?: CallOptions) {
  if (!has(it, name)) {
    return { error: `${name} is not supported by this backend`, code: "unsupported" };
  }
  return it[name](...args, ...fitting(it, name, options));
}

/** What `readRaw` answers. The first version has no other way than to throw if there is no file. */
async function rawOf(it: Loose, filePath: string, options?: CallOptions): Promise<Loose | string> {
  try {
    return await ask(it, "readRaw", [filePath], options);
  } catch (error) {
    if (isSecond(it) || !/not found|no such file|does not exist/i.test(messageOf(error)))
      throw error;
    return { ...thrown(error), code: "not_found" };
  }
}

const isOurs = (backend: object) => knownHandle(backend) !== undefined;

/**
 * A backend of either version as one of the second. Its methods take kitbag's options behind the
 * protocol's arguments; a `signal` is handed on to an object of the second version.
 */
export function adaptBackendProtocol(backend: AnyBackend): BackendProtocolV2 {
  return guarded(adaptedBy("adaptBackendProtocol", backend), isOurs(backend));
}

/** The same, for who may reach the library's own files; `of` is the function that was called. */
export function adaptedBy(of: string, backend: AnyBackend): BackendProtocolV2 {
  if (!hasSome(backend)) {
    throw new TypeError(`${of}: the backend has no method of either protocol`);
  }
  const it = backend as Loose;
  // Asked of the object on every call, so that a method patched later is the one called.
  const readRaw = (
    filePath: string,
    options?: CallOptions,
  ): Promise<BackendAnswer<Fields<ReadRawResult>>> =>
    safely(async () => {
      if (!has(it, "readRaw")) {
        return { error: "readRaw is not supported by this backend", code: "unsupported" };
      }
      const answer = await rawOf(it, filePath, options);
      if (typeof answer === "string") return { error: answer };
      if (answer && typeof answer === "object" && ("data" in answer || "error" in answer))
        return answer;
      return { data: answer as FileData };
    });
  const adapted: BackendProtocolV2 & Loose = {
    ls: (path: string, options?: CallOptions) =>
      safely(async () =>
        only<"files", BackendAnswer<Fields<LsResult>>>(
          "files",
          await ask(it, nameIn(it, "ls"), [path], options),
          "entries",
        ),
      ),
    read: (filePath: string, offset?: number, limit?: number, options?: CallOptions) =>
      safely(async () => {
        if (!isSecond(it) && has(it, "readRaw"))
          return page(filePath, await readRaw(filePath), offset, limit);
        const rows = (count?: number) => ask(it, "read", [filePath, offset, count], options);
        const answer = await rows(limit);
        return typeof answer === "string" ? readV1(answer, rows, offset, limit) : pageOf(answer);
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
        const answer = only<"matches", BackendAnswer<Fields<GrepResult>>>(
          "matches",
          await (has(it, "grep") || !has(it, nameIn(it, "grep"))
            ? ask(it, "grep", [pattern, path, glob, maxCount], options)
            : literally(it, pattern, path, glob)),
        );
        const found = answer?.matches;
        if (!Array.isArray(found)) return answer;
        // An object that counts by itself may have counted files that are not shown.
        const matches = isOwn(path) ? found : found.filter((match) => !isOwn(match?.path));
        const most = typeof maxCount === "number" ? maxCount : Number.POSITIVE_INFINITY;
        const hides = matches.length < found.length;
        if (!hides && matches.length <= most) return answer;
        const truncated = answer.truncated === true || found.length > most - Number(hides);
        return { ...answer, matches: matches.slice(0, most), ...(truncated && { truncated }) };
      }),
    glob: (pattern: string, path?: string, options?: CallOptions) =>
      safely(async () =>
        only<"files", BackendAnswer<Fields<GlobResult>>>(
          "files",
          await ask(it, nameIn(it, "glob"), [pattern, path], options),
          "entries",
          "matches",
        ),
      ),
    write: (filePath: string, content: string, options?: CallOptions) =>
      safely(async () =>
        changed<BackendAnswer<Fields<WriteResult>>>(
          await ask(it, "write", [filePath, content], options),
        ),
      ),
    edit: (
      filePath: string,
      oldString: string,
      newString: string,
      replaceAll?: boolean,
      options?: CallOptions,
    ) =>
      safely(async () =>
        changed<BackendAnswer<Fields<EditResult>>>(
          await ask(it, "edit", [filePath, oldString, newString, replaceAll], options),
        ),
      ),
  };
  if (has(it, "delete")) {
    adapted.delete = (filePath: string, options?: CallOptions) =>
      safely<BackendAnswer<Fields<DeleteResult>>>(() => ask(it, "delete", [filePath], options));
  }
  for (const name of ["move", "copy", "append"] as const) {
    // A method of that name may mean something else in an object that knows nothing of kitbag.
    if (!has(it, name) || (it.capability === undefined && it[name].length < 2)) continue;
    adapted[name] = (first: string, second: never, options?: CallOptions) =>
      safely(async () =>
        changed<BackendAnswer<Fields<WriteResult>>>(await ask(it, name, [first, second], options)),
      );
  }
  for (const [name, other] of [
    ["uploadFiles", "upload_files"],
    ["downloadFiles", "download_files"],
  ] as const) {
    const known = has(it, name) ? name : other;
    if (has(it, known)) {
      adapted[name] = async (batch: never, options?: CallOptions) =>
        await ask(it, known, [batch], options);
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
 * Searches for a literal text with the first version's `grepRaw`. Some implementations take the
 * pattern literally and some as a regular expression. If that makes a difference, this calls it
 * both ways and keeps the lines that contain the text.
 */
async function literally(
  it: Loose,
  pattern: string,
  path?: string | null,
  glob?: string | null,
): Promise<GrepMatch[] | string> {
  const ask = (text: string) => it[nameIn(it, "grep")](text, path ?? "/", glob ?? null);
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

/** Upper limit of the rows that are requested. */
const MOST_ROWS = 1 << 24;

/**
 * Extracts a page from the numbered text of the first version. A long line takes several rows
 * there, and nothing says whether more lines follow. So more rows are requested until the page is
 * complete.
 */
async function readV1(
  answer: string,
  ask: (rows: number) => unknown,
  offset = 0,
  limit = 500,
): Promise<BackendAnswer<Fields<ReadResult>>> {
  if (/^Error\b/.test(answer)) return { error: answer };
  let page = unnumbered(answer, offset + 1);
  if (page === undefined) return { content: answer };
  for (let asked = limit; page.rows >= asked && page.lines.length <= limit && asked < MOST_ROWS; ) {
    asked = asked === limit ? limit + 1 : asked * 2;
    const wider = await ask(asked);
    const found = typeof wider === "string" ? unnumbered(wider, offset + 1) : undefined;
    if (found === undefined) break;
    page = found;
  }
  const lines = page.lines.slice(0, limit);
  if (lines.length === 0) return { content: "" };
  const endLine = offset + lines.length;
  const more = page.lines.length > limit;
  return {
    content: lines.join("\n"),
    startLine: offset + 1,
    endLine,
    ...(more ? { nextOffset: endLine } : { totalLines: endLine }),
  };
}

/** Lines of a stored file, as the second version returns them. */
function page(
  filePath: string,
  raw: BackendAnswer<Fields<ReadRawResult>>,
  offset?: number,
  limit?: number,
): BackendAnswer<Fields<ReadResult>> {
  if (failed(raw) || raw.data === undefined) return raw as BackendAnswer<Fields<ReadResult>>;
  return pageOfFile(filePath, raw.data, offset, limit);
}

/** Adapts a backend of either version that can run commands to the second. */
export function adaptSandboxProtocol(sandbox: AnyBackend): SandboxBackendProtocolV2 {
  return guarded(sandboxAdapted(sandbox), isOurs(sandbox));
}

/** The same, for who may reach the library's own files. */
export function sandboxAdapted(sandbox: AnyBackend): SandboxBackendProtocolV2 {
  const adapted = adaptedBy("adaptSandboxProtocol", sandbox) as SandboxBackendProtocolV2 & Loose;
  const it = sandbox as Loose;
  if (!has(it, "execute")) {
    throw new TypeError(
      "adaptSandboxProtocol: the backend has no execute(); adaptBackendProtocol adapts one without",
    );
  }
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

/** Throws, because the first version has no other way to report this error. */
function refuse(failure: BackendAnswer<{ cause: unknown }>): never {
  const error = new Error(failure.error, { cause: failure.cause });
  throw Object.assign(error, { code: failure.code });
}

/** The files of a listing. A wrong path or pattern has none; that nobody answered is an error. */
function listed(answer: { files?: FileInfo[]; error?: string; code?: string }): FileInfo[] {
  if (/^(timeout|unavailable|internal)$/.test(answer.code ?? "")) refuse(answer);
  return answer.files ?? [];
}

/** Adapts a backend to the protocol's first version. */
export function toV1(backend: AnyBackend): BackendProtocolV1 {
  const v2 = guarded(adaptedBy("toV1", backend), isOurs(backend)) as BackendProtocolV2 & Loose;
  const it = backend as Loose;
  const view: BackendProtocolV1 & Loose = {
    lsInfo: async (path) => listed(await v2.ls(path)),
    async read(filePath, offset = 0, limit = 2_000) {
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
      const how: GrepOptions = { regex: true };
      const answer: BackendAnswer<Fields<GrepResult>> = await (v2 as Loose).grep(
        pattern,
        path,
        glob,
        null,
        how,
      );
      return answer.matches ?? answer.error ?? [];
    },
    globInfo: async (pattern, path) => listed(await v2.glob(pattern, path)),
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
