// The helpers of conformance cases: a backend whose calls throw readable errors, and comparisons
// that show both values. Results are awaited, so that synchronous and asynchronous backends are
// treated alike.

import type {
  BackendAnswer,
  BackendProtocolV2,
  Capability,
  EditResult,
  Fields,
  FileData,
  FileInfo,
  GlobResult,
  GrepOptions,
  GrepResult,
  MaybePromise,
  ReadRawResult,
  ReadResult,
  TransferOptions,
  WriteResult,
} from "../types.js";

/** What a backend guarantees, as cases need it. */
export interface Promised extends Capability {
  /** Whether it has the behaviour that kitbag adds to deepagents' protocol. */
  extras: boolean;
  /** Whether it has `delete`. */
  deletes: boolean;
  /** Whether it has `move`, `copy` and `append`. */
  moves: boolean;
  /** Whether it has `uploadFiles` and `downloadFiles`. */
  batches: boolean;
}

/** The guarantees of a backend without `capability`. */
export const PROMISES: Capability = {
  create: "instance",
  update: "instance",
  directories: "implied",
  keepsCreated: true,
  keepsMime: true,
  keepsFormat: true,
  keepsModes: false,
  keepsBinary: true,
  writable: true,
  overwrites: false,
  notes: [],
};

/** One test of a behaviour. */
export interface Case {
  /** The behaviour as a sentence. */
  name: string;
  /** Whether a backend with these guarantees must pass. Default: every backend. */
  needs?(promised: Promised): boolean;
  /** How the backend's `write` must behave. Default `"create"`. */
  writeMode?: "create" | "overwrite";
  /** Its time limit is `quickMs`: the input is small, and only a bad algorithm takes long. */
  quick?: boolean;
  /**
   * The files that the test reads. It changes nothing, so that tests which follow each other with the
   * same object here share one backend.
   */
  files?: Readonly<Record<string, string>>;
  /** Runs the test; throws an error that says what was seen instead. */
  run(it: Subject): Promise<void>;
}

export const writable = (promised: Promised) => promised.writable;
export const extras = (promised: Promised) => promised.writable && promised.extras;
export const deletes = (promised: Promised) => promised.writable && promised.deletes;
export const moves = (promised: Promised) => promised.moves && extras(promised);
export const uploads = (promised: Promised) => promised.writable && promised.batches;
export const keepsBytes = (promised: Promised) => uploads(promised) && promised.keepsBinary;

/** Something that others changed. */
export interface TurnConflictLike {
  /** The file. */
  path: string;
  /** What found something else. */
  operation: string;
}

/** What a commit and an undo return. */
export interface TurnOutcome {
  /** What was wrong. */
  error?: string;
  /** The kind of error. */
  code?: string;
  /** What `undo` takes. */
  receipt?: unknown;
  /** What others changed, if that is the error. */
  conflicts?: readonly TurnConflictLike[];
}

/** A part of a text that a turn changes. */
export interface TurnHunkLike {
  /** Its name. */
  id: string;
}

/** A file that a turn changes. */
export interface TurnChangeLike {
  /** The file. */
  path: string;
  /** What happens to it. */
  kind: string;
  /** Where its text differs. */
  hunks: readonly TurnHunkLike[];
}

/** What `diff` returns. */
export interface TurnDiffLike {
  /** What was wrong. */
  error?: string;
  /** The changed files. */
  changes?: readonly TurnChangeLike[];
}

/** What `accept` and `discard` return. */
export interface TurnDoneLike {
  /** What was wrong. */
  error?: string;
}

/** A file that could not be merged. */
export interface UnmergedLike {
  /** The file. */
  path: string;
}

/** What `rebase` returns. */
export interface TurnRebasedLike {
  /** What was wrong. */
  error?: string;
  /** Files that were merged. */
  merged?: readonly string[];
  /** Files that could not be merged. */
  conflicts?: readonly UnmergedLike[];
}

/** A turn, as far as the cases use it. */
export interface TurnLike extends BackendProtocolV2 {
  /** Returns what would change. */
  diff(): Promise<TurnDiffLike>;
  /** Keeps only some hunks. */
  accept(hunks: never): Promise<TurnDoneLike>;
  /** Drops changes. */
  discard(patterns: readonly string[]): Promise<TurnDoneLike>;
  /** Makes the changes. */
  commit(): Promise<TurnOutcome>;
  /** Merges what others changed. */
  rebase(): Promise<TurnRebasedLike>;
}

/** Options of `begin`, as far as the cases use them. */
export interface TurnOptionsLike {
  /** Who makes the changes. */
  by?: string;
}

/** kitbag's `begin` and `undo`, for the cases about turns. */
export interface Turns {
  /** Begins a turn. */
  begin(backend: never, options?: TurnOptionsLike): TurnLike;
  /** Takes a commit back. */
  undo(backend: never, receipt: never): Promise<TurnOutcome>;
}

/** Whether a value is a Uint8Array, also one of another realm, as under jsdom or in a `vm` context. */
export function isBytes(value: unknown): value is Uint8Array {
  return (
    ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]"
  );
}

/** A value as text; equal values give equal texts. */
export function shown(value: unknown): string {
  if (isBytes(value)) {
    const head = Array.from(value.subarray(0, 32), (byte) => byte.toString(16).padStart(2, "0"));
    return `${value.length} bytes ${head.join(" ")}${value.length > 32 ? " …" : ""}`;
  }
  const text = JSON.stringify(value, (_, inner) => (isBytes(inner) ? shown(inner) : inner));
  if (text === undefined) return String(value);
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}

/** Whether two values are equal; plain objects, arrays and bytes are compared by content. */
export function alike(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (isBytes(a) || isBytes(b)) {
    if (!(isBytes(a) && isBytes(b))) return false;
    return a.length === b.length && a.every((byte, at) => byte === b[at]);
  }
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [keys, others] = [defined(a), defined(b)];
  if (keys.length !== others.length) return false;
  return keys.every((key) => alike(Reflect.get(a, key), Reflect.get(b, key)));
}

/** The defined properties, so that an absent one and an undefined one are equal. */
function defined(value: object): string[] {
  return Object.keys(value).filter((key) => Reflect.get(value, key) !== undefined);
}

/** Throws if a value is not the wanted one. */
export function same(what: string, seen: unknown, wanted: unknown): void {
  if (!alike(seen, wanted)) {
    throw new Error(`${what} is ${shown(seen)}, wanted ${shown(wanted)}`);
  }
}

export function holds(what: string, truth: boolean, seen?: unknown): void {
  if (!truth) throw new Error(seen === undefined ? what : `${what}; seen: ${shown(seen)}`);
}

const encoder = new TextEncoder();

export const utf8 = (text: string): Uint8Array => encoder.encode(text);

/** A backend under test. */
export class Subject {
  /** Wraps a backend that guarantees this. */
  constructor(
    /** The backend itself. */
    readonly backend: BackendProtocolV2,
    /** What it guarantees. */
    readonly promised: Promised,
    /** kitbag's `begin` and `undo`, if turns are to be tested. */
    readonly turns?: Turns,
  ) {}

  /** Returns a result; throws if it is a refusal. */
  async #granted<T extends { error?: string | null }>(
    what: string,
    answer: T | Promise<T>,
  ): Promise<T> {
    const result = await answer;
    holds(`${what} gives an object`, typeof result === "object" && result !== null, result);
    if (result.error !== undefined && result.error !== null) {
      throw new Error(`${what} was refused: ${result.error}`);
    }
    return result;
  }

  /** Checks that a result is a refusal, and returns its message. */
  async refused(what: string, answer: unknown, code?: string | string[]): Promise<string> {
    const result = (await answer) as BackendAnswer<object>;
    holds(`${what} must be refused`, typeof result?.error === "string", result);
    if (code !== undefined && this.promised.extras) {
      const codes = Array.isArray(code) ? code : [code];
      holds(`${what} must have the code ${codes.join(" or ")}`, codes.includes(`${result.code}`), {
        code: result.code,
        error: result.error,
      });
    }
    return result.error as string;
  }

  /** Writes a file; throws if it is refused. */
  async write(path: string, content: string): Promise<BackendAnswer<Fields<WriteResult>>> {
    return this.#granted(`write ${path}`, this.backend.write(path, content));
  }

  /** Writes several files, one after another. */
  async fill(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, content] of Object.entries(files)) await this.write(path, content);
  }

  /** Replaces a text, or with `all` each occurrence; throws if it is refused. */
  async edit(
    path: string,
    before: string,
    after: string,
    all?: boolean,
  ): Promise<BackendAnswer<Fields<EditResult>>> {
    const answer =
      all === undefined
        ? this.backend.edit(path, before, after)
        : this.backend.edit(path, before, after, all);
    return this.#granted(`edit ${path}`, answer);
  }

  /** Reads lines, `offset` counted from 0; throws if it is refused. */
  async read(
    path: string,
    offset?: number,
    limit?: number,
  ): Promise<BackendAnswer<Fields<ReadResult>>> {
    return this.#granted(`read ${path}`, this.backend.read(path, offset, limit));
  }

  /** The whole text of a file. */
  async text(path: string): Promise<string> {
    const { content } = await this.read(path, 0, 1_000_000_000);
    if (typeof content !== "string") throw new Error(`read ${path} gave ${shown(content)}`);
    return content;
  }

  /** The file as it is stored. */
  async raw(path: string): Promise<FileData> {
    const { data } = await this.#granted(`readRaw ${path}`, this.backend.readRaw(path));
    if (typeof data !== "object" || data === null) throw new Error(`readRaw ${path} gave no data`);
    return data;
  }

  /** `readRaw` with options, which only backends of kitbag have. */
  readPart(path: string, options: object): MaybePromise<BackendAnswer<Fields<ReadRawResult>>> {
    const backend = this.backend as BackendProtocolV2 & {
      readRaw(path: string, options: object): MaybePromise<BackendAnswer<Fields<ReadRawResult>>>;
    };
    return backend.readRaw(path, options);
  }

  /** A part of a file. */
  async part(path: string, options: object): Promise<Fields<ReadRawResult>> {
    const answer = await this.#granted(`readRaw ${path}`, this.readPart(path, options));
    return answer as Fields<ReadRawResult>;
  }

  /** The entries of one level. */
  async infos(path: string): Promise<FileInfo[]> {
    const { files } = await this.#granted(`ls ${path}`, this.backend.ls(path));
    if (!Array.isArray(files)) throw new Error(`ls ${path} gave no list of files`);
    return files;
  }

  /** The paths of one level, in the order of the result. */
  async ls(path: string): Promise<string[]> {
    return (await this.infos(path)).map((info) => info.path);
  }

  /** The result of a glob; throws if it is refused. */
  async globbed(
    pattern: string,
    path?: string,
  ): Promise<Fields<GlobResult> & BackendAnswer<Fields<GlobResult>>> {
    const answer =
      path === undefined ? this.backend.glob(pattern) : this.backend.glob(pattern, path);
    const result = await this.#granted(`glob ${pattern}`, answer);
    if (!Array.isArray(result.files)) throw new Error(`glob ${pattern} gave no list of files`);
    return result as Fields<GlobResult> & BackendAnswer<Fields<GlobResult>>;
  }

  /** The paths of a glob in byte order, because files written together may have equal times. */
  async glob(pattern: string, path?: string): Promise<string[]> {
    return sorted((await this.globbed(pattern, path)).files.map((info) => info.path));
  }

  /** The result of a search; throws if it is refused. */
  async grepped(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: GrepOptions,
  ): Promise<Fields<GrepResult> & BackendAnswer<Fields<GrepResult>>> {
    const grep = this.backend.grep as (
      ...args: unknown[]
    ) => BackendAnswer<Fields<GrepResult>> | Promise<BackendAnswer<Fields<GrepResult>>>;
    const args = [pattern, path, glob, maxCount, ...(options ? [options] : [])];
    const result = await this.#granted(`grep ${pattern}`, grep.apply(this.backend, args));
    if (!Array.isArray(result.matches)) throw new Error(`grep ${pattern} gave no list of matches`);
    return result as Fields<GrepResult> & BackendAnswer<Fields<GrepResult>>;
  }

  /** Matches as `path:line:text`, in the order of the result. */
  async grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
    options?: GrepOptions,
  ): Promise<string[]> {
    const { matches } = await this.grepped(pattern, path, glob, maxCount, options);
    return matches.map((match) => `${match.path}:${match.line}:${match.text}`);
  }

  /** Deletes a file or a directory; throws if it is refused. */
  async delete(path: string): Promise<void> {
    if (!this.backend.delete) throw new Error("there is no delete()");
    await this.#granted(`delete ${path}`, this.backend.delete(path));
  }

  /** A delete whose result may be a refusal. */
  tryDelete(path: string): unknown {
    return this.backend.delete?.(path);
  }

  /** Moves a file or directory; throws if it is refused. */
  async move(
    from: string,
    to: string,
    options?: TransferOptions,
  ): Promise<BackendAnswer<Fields<WriteResult>>> {
    return this.#granted(
      `move ${from}`,
      this.tryMove(from, to, options) as BackendAnswer<Fields<WriteResult>>,
    );
  }

  /** Copies a file or directory; throws if it is refused. */
  async copy(
    from: string,
    to: string,
    options?: TransferOptions,
  ): Promise<BackendAnswer<Fields<WriteResult>>> {
    return this.#granted(
      `copy ${from}`,
      this.tryCopy(from, to, options) as BackendAnswer<Fields<WriteResult>>,
    );
  }

  /** Adds to a file; throws if it is refused. */
  async append(
    path: string,
    content: string | Uint8Array,
  ): Promise<BackendAnswer<Fields<WriteResult>>> {
    return this.#granted(
      `append ${path}`,
      this.tryAppend(path, content) as BackendAnswer<Fields<WriteResult>>,
    );
  }

  /** A move whose result may be a refusal. */
  tryMove(from: string, to: string, options?: TransferOptions): unknown {
    const { backend } = this;
    return options ? backend.move?.(from, to, options) : backend.move?.(from, to);
  }

  /** A copy whose result may be a refusal. */
  tryCopy(from: string, to: string, options?: TransferOptions): unknown {
    const { backend } = this;
    return options ? backend.copy?.(from, to, options) : backend.copy?.(from, to);
  }

  /** An append whose result may be a refusal. */
  tryAppend(path: string, content: string | Uint8Array): unknown {
    return this.backend.append?.(path, content);
  }

  /** Uploads files; throws if one is refused. */
  async upload(files: Record<string, Uint8Array>): Promise<void> {
    const answers = await this.backend.uploadFiles?.(Object.entries(files));
    for (const answer of answers ?? []) same(`upload ${answer.path}`, answer.error, null);
    same("the number of answers", answers?.length, Object.keys(files).length);
  }

  /** The bytes of a file, from `downloadFiles`. */
  async bytes(path: string): Promise<Uint8Array> {
    const [answer] = (await this.backend.downloadFiles?.([path])) ?? [];
    if (!isBytes(answer?.content)) {
      throw new Error(`download ${path} gave ${shown(answer)}`);
    }
    return answer.content;
  }
}

/** Sorts texts by their UTF-8 bytes. */
export function sorted(texts: readonly string[]): string[] {
  return [...texts].sort((a, b) => {
    const [left, right] = [utf8(a), utf8(b)];
    for (let at = 0; at < Math.min(left.length, right.length); at++) {
      const difference = (left[at] as number) - (right[at] as number);
      if (difference !== 0) return difference;
    }
    return left.length - right.length;
  });
}
