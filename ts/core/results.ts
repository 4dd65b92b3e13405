// Decodes the reply of each operation into the objects that callers get.

import type {
  Capability,
  DeleteResult,
  EditResult,
  ExecuteResponse,
  Failure,
  Fields,
  FileData,
  FileDownloadResponse,
  FileInfo,
  FileUploadResponse,
  GlobResult,
  GrepMatch,
  GrepResult,
  LsResult,
  Reach,
  ReadRawResult,
  ReadResult,
  WriteResult,
} from "../types.js";
import { type Reply, timeText } from "./reply.js";
import type { Batch } from "./requests.js";

function infos(reply: Reply): FileInfo[] {
  const paths = reply.texts();
  const sizes = reply.f64s(paths.length);
  const times = reply.f64s(paths.length);
  const out = new Array<FileInfo>(paths.length);
  for (let row = 0; row < paths.length; row++) {
    const size = sizes(row);
    out[row] =
      size < 0
        ? { path: paths[row] as string, is_dir: true, size: 0, modified_at: "" }
        : { path: paths[row] as string, is_dir: false, size, modified_at: timeText(times(row)) };
    // A foreign backend may not report the size.
    if (Number.isNaN(size)) delete (out[row] as FileInfo).size;
  }
  return out;
}

export function unpackLs(reply: Reply): LsResult {
  return { files: infos(reply) };
}

export function unpackRead(reply: Reply): ReadResult {
  const isText = reply.bool();
  const mimeType = reply.optionalText();
  const result: ReadResult = { content: "" };
  if (mimeType !== undefined) result.mimeType = mimeType;
  if (reply.bool()) {
    const total = reply.f64();
    if (total >= 0) result.totalLines = total;
    result.startLine = reply.f64();
    result.endLine = reply.f64();
    const next = reply.f64();
    if (next >= 0) result.nextOffset = next;
  }
  result.content = isText ? reply.bodyText() : reply.bodyBytes();
  return result;
}

/** A stored file in the form it is stored in. */
export function fileData(reply: Reply): FileData {
  const isText = reply.bool();
  const v1 = reply.bool();
  const mimeType = reply.text();
  const created_at = timeText(reply.f64());
  const modified_at = timeText(reply.f64());
  if (!isText) return { content: reply.bodyBytes(), mimeType, created_at, modified_at };
  const content = reply.bodyText();
  if (v1) return { content: content.split("\n"), created_at, modified_at };
  return { content, mimeType, created_at, modified_at };
}

export function unpackReadRaw(reply: Reply): ReadRawResult {
  if (!reply.bool()) return { data: fileData(reply) };
  const start = reply.f64();
  const size = reply.f64();
  const version = reply.optionalText();
  const isText = reply.bool();
  const part = { start, size, isText, ...(version === undefined ? {} : { version }) };
  return { data: fileData(reply), part };
}

type Column = (row: number) => number;

/**
 * An option of `grep` for kitbag's own server: how matches without context are read, if not as objects. Methods that
 * take it have it as a property, since whoever has put another method in their place expects objects.
 */
export const MATCHES = Symbol.for("kitbag.matches");

/** Reads the texts as it likes, and makes what there is in the place of the objects. */
interface MatchesAs<T> {
  texts(reply: Reply): T;
  matches(rows: number, paths: string[], texts: T, files: Column, lines: Column): GrepMatch[];
}

const OBJECTS: MatchesAs<string[]> = {
  texts: (reply) => reply.texts(),
  matches: (rows, paths, texts, files, lines) => {
    const matches = new Array<GrepMatch>(rows);
    for (let row = 0; row < rows; row++) {
      matches[row] = {
        path: paths[files(row)] as string,
        line: lines(row),
        text: texts[row] as string,
      };
    }
    return matches;
  },
};

export function unpackGrep(reply: Reply, options: unknown): GrepResult {
  const as = (options as { [MATCHES]?: typeof OBJECTS } | null | undefined)?.[MATCHES] ?? OBJECTS;
  const truncated = reply.bool();
  const ignored = reply.u32();
  const paths = reply.texts();
  const texts = as.texts(reply);
  const rows = reply.u32();
  const files = reply.u32s(rows);
  const lines = reply.u32s(rows);
  const matches = reply.bool()
    ? withContext(rows, paths, texts, files, lines, reply.u32s(rows), reply.u32s(rows))
    : as.matches(rows, paths, texts, files, lines);
  const found: Fields<GrepResult> = truncated ? { matches, truncated } : { matches };
  if (ignored > 0) found.ignored = ignored;
  if (reply.bool()) {
    const number = reply.f64s(6);
    found.stats = {
      requests: number(0),
      candidates: number(1),
      unindexed: number(2),
      indexed: number(3),
      bytes: number(4),
    };
    if (number(5) > 0) found.stats.freshness = "writers";
  }
  return found;
}

/** Rows share texts: a line in the context of several matches is sent once. */
function withContext(
  rows: number,
  paths: string[],
  texts: string[],
  files: Column,
  lines: Column,
  which: Column,
  kinds: Column,
): GrepMatch[] {
  const matches: GrepMatch[] = [];
  let before: string[] = [];
  for (let row = 0; row < rows; row++) {
    const text = texts[which(row)] as string;
    const kind = kinds(row);
    if (kind === 1) before.push(text);
    else if (kind === 2) matches.at(-1)?.after?.push(text);
    else {
      matches.push({
        path: paths[files(row)] as string,
        line: lines(row),
        text,
        before,
        after: [],
      });
      before = [];
    }
  }
  return matches;
}

export function unpackGlob(reply: Reply): GlobResult {
  const truncated = reply.bool();
  const ignored = reply.u32();
  const found: Fields<GlobResult> = { files: infos(reply) };
  if (truncated) found.truncated = truncated;
  if (ignored > 0) found.ignored = ignored;
  return found;
}

/** Reads changes for a caller's state into a result. */
export function update<T>(reply: Reply, result: { filesUpdate?: T }): void {
  if (!reply.bool()) return;
  const changed: Record<string, FileData | null> = {};
  const count = reply.u32();
  for (let at = 0; at < count; at++) {
    const path = reply.text();
    changed[path] = reply.bool() ? fileData(reply) : null;
  }
  result.filesUpdate = changed as T;
}

export function unpackWrite(asked: string): (reply: Reply) => WriteResult {
  return (reply) => {
    const result: WriteResult = { path: reply.path(asked) };
    update(reply, result);
    return result;
  };
}

export function unpackEdit(asked: string): (reply: Reply) => EditResult {
  return (reply) => {
    const result: EditResult = { path: reply.path(asked), occurrences: reply.u32() };
    if (reply.bool()) result.metadata = { lineEndings: "crlf" };
    update(reply, result);
    return result;
  };
}

export function unpackDelete(asked: string): (reply: Reply) => DeleteResult {
  return (reply) => {
    const result: DeleteResult = { path: reply.path(asked) };
    update(reply, result);
    return result;
  };
}

export function unpackExecute(reply: Reply): ExecuteResponse {
  const output = reply.bodyText();
  const known = reply.bool();
  const exitCode = reply.f64();
  return { output, exitCode: known ? exitCode : null, truncated: reply.bool() };
}

/** A failed command still has the fields that callers read. */
export function executeFailure(failed: Partial<Failure>): ExecuteResponse {
  return { output: failed.error ?? "", exitCode: null, truncated: false, ...failed };
}

function each<T>(
  batch: Batch<unknown>,
  one: (path: string) => T,
  bad: (path: string, why: string) => T,
): T[] {
  return batch.inputs.map(({ path, refusal }) =>
    refusal === undefined ? one(path) : bad(path, refusal),
  );
}

/** Decodes the results of an upload, with those of invalid inputs in their places. */
export function unpackUpload(batch: Batch<unknown>): (reply: Reply) => FileUploadResponse[] {
  return (reply) => {
    reply.u32();
    return each<FileUploadResponse>(
      batch,
      (path) => {
        if (reply.bool()) return { path, error: null };
        const { file, code, message } = reply.refusal();
        return { path, error: file, code, message };
      },
      badInput,
    );
  };
}

/** Decodes the results of a download, with those of invalid inputs in their places. */
export function unpackDownload(batch: Batch<unknown>): (reply: Reply) => FileDownloadResponse[] {
  return (reply) => {
    reply.u32();
    return each<FileDownloadResponse>(
      batch,
      (path) => {
        if (reply.bool()) return { path, content: reply.bodyBytes(), error: null };
        const { file, code, message } = reply.refusal();
        return { path, content: null, error: file, code, message };
      },
      (path, why) => ({ ...badInput(path, why), content: null }),
    );
  };
}

/** The result of a file of a batch that was refused before its call. */
export function badInput(path: string, message: string): FileUploadResponse {
  return { path, error: "invalid_path", code: "invalid_argument", message };
}

/** The refusal of a whole batch, for each of its inputs. */
export function refusedBatch(batch: Batch<unknown>, failed: Failure): FileUploadResponse[] {
  return each<FileUploadResponse>(
    batch,
    (path) => ({
      path,
      error: "permission_denied",
      code: failed.code ?? "internal",
      message: failed.error ?? "",
    }),
    badInput,
  );
}

export function unpackCapability(reply: Reply): Capability {
  const reach = (): Reach => (["storage", "instance", "never"] as const)[reply.u8()] ?? "never";
  const create = reach();
  const updates = reach();
  const out: Capability = {
    create,
    update: updates,
    directories: reply.bool() ? "real" : "implied",
    keepsCreated: reply.bool(),
    keepsMime: reply.bool(),
    keepsFormat: reply.bool(),
    keepsModes: reply.bool(),
    keepsBinary: reply.bool(),
    writable: reply.bool(),
    overwrites: reply.bool(),
    notes: [],
  };
  if (reply.bool()) out.listsVersions = true;
  if (reply.bool()) out.indexed = true;
  if (reply.bool()) out.perCaller = true;
  const folds = [reply.bool() && "case", reply.bool() && "composition"].filter((one) => one);
  if (folds.length > 0) out.names = folds.join(" and ") as NonNullable<Capability["names"]>;
  const limit = reply.f64();
  if (limit >= 0) out.maxFileBytes = limit;
  const notes = reply.u32();
  for (let at = 0; at < notes; at++) out.notes.push(reply.text());
  return out;
}
