// The operations that HTTP has no word for: one table with what each is given, and how it is called. A
// field that an operation does not have is refused, because a misspelled one would do nothing.

import { begin, type Receipt, undo } from "kitbag";
import { instead } from "../../core/nearest.js";
import { asRows } from "./rows.js";
import type { Call, Served } from "./served.js";
import { BadRequest, bytesIn, type Given } from "./wire.js";

/** What a field of a request is. `?` behind it: it may be missing or null. */
type Kind = "text" | "flag" | "count" | "bytes" | "content" | "texts" | "files" | "changes";

/** An answer, or a failure with `error`. */
export type Outcome = Record<string, unknown>;

/** An operation of the wire. */
export interface Operation {
  readonly fields: Readonly<Record<string, Kind | `${Kind}?`>>;
  /** Whether it changes files. */
  readonly changes?: true;
  /** Of a search: the field of the answer that can be sent line by line. */
  readonly lines?: "matches" | "files";
  // biome-ignore lint/suspicious/noExplicitAny: the fields were checked by their kinds
  run(call: Call, given: any): Promise<Outcome>;
}

/** Files of a page of a listing, if the request does not say how many. */
const PAGE = 10_000;

/** These fields of an answer, and of a failure `error` and `code`: what is not named here never crosses. */
function only(answer: object, ...names: string[]): Outcome {
  const { error } = answer as Outcome;
  const wanted = error === undefined ? names : ["error", "code", "retryAfterMs", "conflicts"];
  const all = answer as Outcome;
  return Object.fromEntries(
    wanted.filter((name) => all[name] !== undefined).map((name) => [name, all[name]]),
  );
}

const changed = (answer: object) => only(answer, "path", "occurrences", "metadata");

/** A page of a listing: the entries behind `after`. */
async function listed({ backend, options }: Call, path: string, after?: string, limit = PAGE) {
  const answer = await backend.ls(path, options);
  if (answer.error !== undefined) return only(answer);
  const all = answer.files ?? [];
  const first = after === undefined ? 0 : all.findIndex((one) => one.path === after) + 1;
  // The entry may be gone: go on behind its place in the order.
  const from =
    first > 0 || after === undefined ? first : all.filter((one) => one.path < after).length;
  const files = all.slice(from, from + Math.max(1, limit));
  const next = from + files.length < all.length ? files.at(-1)?.path : undefined;
  return { files, ...(next === undefined ? {} : { next }) };
}

/** What a file or directory is, without its content. */
export async function statOf({ backend, options }: Call, path: string): Promise<Outcome> {
  const name = path.replace(/\/+$/, "");
  const answer = await backend.ls(name.slice(0, name.lastIndexOf("/")) || "/", options);
  if (answer.error !== undefined) return only(answer);
  const found = (answer.files ?? []).find((one) => one.path.replace(/\/$/, "") === name);
  return found ? { file: found } : { error: `File '${name}' not found`, code: "not_found" };
}

/** How several files of a backend are changed together. */
export const commitOf = (backend: Served): "transaction" | "journal" | "none" =>
  begin(backend).capability.commit;

/** What the backend guarantees; what does not cross is left out. */
async function capabilities({ backend }: Call): Promise<Outcome> {
  const commit = commitOf(backend);
  return { capability: { ...backend.capability, keepsModes: false, listsVersions: false }, commit };
}

/** Changes files together: the same as to take back a commit that made the opposite of each change. */
async function committed({ backend, options }: Call, { files }: { files: Receipt["files"] }) {
  const receipt = {
    ...{ id: "wire", by: "", at: new Date().toISOString() },
    files: files.map(({ path, before, after }) => ({ path, before: after, after: before })),
  };
  const answer = await undo(backend, receipt, options);
  if (answer.error === undefined) return {};
  const { conflicts } = answer as { conflicts?: Array<{ path: string }> };
  const paths = conflicts?.map(({ path }) => path);
  return only({ ...answer, ...(paths ? { conflicts: paths } : {}) });
}

/** The part of a file that was asked for, if it was not all. */
const part = (start?: number, end?: number) => ({
  ...(start === undefined ? {} : { start }),
  ...(end === undefined ? {} : { end }),
});

/** The table of operations. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  capability: { fields: {}, run: capabilities },
  stat: { fields: { path: "text" }, run: (call, { path }) => statOf(call, path) },
  ls: {
    fields: { path: "text", after: "text?", limit: "count?" },
    run: (call, { path, after, limit }) => listed(call, path, after, limit),
  },
  read: {
    fields: { path: "text", offset: "count?", limit: "count?" },
    run: async ({ backend, options }, { path, offset, limit }) => {
      const answer = await backend.read(path, offset, limit, options);
      const place = ["totalLines", "startLine", "endLine", "nextOffset"];
      return only(answer, "content", "mimeType", ...place);
    },
  },
  readRaw: {
    fields: { path: "text", start: "count?", end: "count?" },
    run: async ({ backend, options }, { path, start, end }) =>
      only(await backend.readRaw(path, { ...part(start, end), ...options }), "data", "part"),
  },
  grep: {
    fields: {
      ...{ pattern: "text", path: "text?", glob: "text?", maxCount: "count?" },
      ...{ regex: "flag?", ignoreCase: "flag?", before: "count?", after: "count?" },
      ...{ maxPerFile: "count?", stats: "flag?" },
    },
    lines: "matches",
    run: async ({ backend, options, asLines }, { pattern, path, glob, maxCount, ...more }) => {
      const isPlain = asLines && !more.before && !more.after;
      const asked = { ...more, ...options, ...(isPlain ? asRows(backend.grep) : {}) };
      const answer = await backend.grep(pattern, path, glob, maxCount, asked);
      return only(answer, "matches", "truncated", "ignored", "stats");
    },
  },
  glob: {
    fields: { pattern: "text", path: "text?" },
    lines: "files",
    run: async ({ backend, options }, { pattern, path }) =>
      only(await backend.glob(pattern, path, options), "files", "truncated", "ignored"),
  },
  write: {
    fields: { path: "text", content: "content", ifAbsent: "flag?" },
    changes: true,
    run: async ({ backend, options }, { path, content, ifAbsent }) =>
      changed(
        await backend.write(path, content, { ...(ifAbsent ? { ifAbsent } : {}), ...options }),
      ),
  },
  edit: {
    fields: { path: "text", oldString: "content", newString: "content", replaceAll: "flag?" },
    changes: true,
    run: async ({ backend, options }, { path, oldString, newString, replaceAll }) =>
      changed(await backend.edit(path, oldString, newString, replaceAll, options)),
  },
  append: {
    fields: { path: "text", content: "content" },
    changes: true,
    run: async ({ backend, options }, { path, content }) =>
      changed(await backend.append(path, content, options)),
  },
  delete: {
    fields: { path: "text", unchanged: "bytes?" },
    changes: true,
    run: async ({ backend, options }, { path, unchanged }) =>
      changed(await backend.delete(path, { ...(unchanged ? { unchanged } : {}), ...options })),
  },
  ...transfers("move", "copy"),
  uploadFiles: {
    fields: { files: "files" },
    changes: true,
    run: async ({ backend, options }, { files }) => {
      const answers = await backend.uploadFiles(files, options);
      return { files: answers.map((one) => batched(one)) };
    },
  },
  downloadFiles: {
    fields: { paths: "texts" },
    run: async ({ backend, options }, { paths }) => {
      const answers = await backend.downloadFiles(paths, options);
      return { files: answers.map((one) => batched(one, one.content)) };
    },
  },
  commit: { fields: { files: "changes" }, changes: true, run: committed },
};

function transfers(...names: Array<"move" | "copy">): Record<string, Operation> {
  const one = (name: "move" | "copy"): Operation => ({
    fields: { from: "text", to: "text", overwrite: "flag?" },
    changes: true,
    run: async ({ backend, options }, { from, to, overwrite }) =>
      changed(await backend[name](from, to, { overwrite: overwrite === true, ...options })),
  });
  return Object.fromEntries(names.map((name) => [name, one(name)]));
}

/** The answer about one file of a batch. */
function batched(one: object, content?: Uint8Array | null): Outcome {
  const { path, error, code, message } = one as Record<string, unknown>;
  if (error !== null && error !== undefined) {
    return { path, error: message ?? error, code: code ?? codeOf(String(error)), word: error };
  }
  return content ? { path, content } : { path };
}

/** The code of a word of `uploadFiles` and `downloadFiles`. */
const codeOf = (word: string): string => (word === "file_not_found" ? "not_found" : word);

/** Reads the fields of a request. */
export function argumentsOf(name: string, operation: Operation, given: Given): Outcome {
  const { fields } = operation;
  for (const field of Object.keys(given.fields)) {
    if (field === "op" || Object.hasOwn(fields, field)) continue;
    const shown = /^[\w$.-]{0,64}$/.test(field) ? ` "${field}"` : "";
    const known = Object.keys(fields);
    throw new BadRequest(`${name} has no field${shown}; ${instead(field, known, "fields")}`);
  }
  const values: Outcome = {};
  for (const [field, kind] of Object.entries(fields)) {
    const value = Object.hasOwn(given.fields, field) ? given.fields[field] : undefined;
    const isOptional = kind.endsWith("?");
    if (isOptional && (value === undefined || value === null)) continue;
    const of = (isOptional ? kind.slice(0, -1) : kind) as Kind;
    values[field] = checked(field, of, value, given.tail);
  }
  return values;
}

function checked(field: string, kind: Kind, value: unknown, tail: Uint8Array): unknown {
  const wrong = (wanted: string): never => {
    throw new BadRequest(`"${field}" must be ${wanted}`);
  };
  const list = (wanted: string) => (Array.isArray(value) ? (value as unknown[]) : wrong(wanted));
  switch (kind) {
    case "text":
      return typeof value === "string" ? value : wrong("a string");
    case "flag":
      return typeof value === "boolean" ? value : wrong("true or false");
    case "count":
      return Number.isSafeInteger(value) && (value as number) >= 0
        ? value
        : wrong("a whole number, zero or more");
    case "bytes":
      return bytesIn(field, value, tail);
    case "content":
      return typeof value === "string" ? value : bytesIn(field, value, tail);
    case "texts":
      return list("an array of strings").map((one, at) =>
        checked(`${field}[${at}]`, "text", one, tail),
      );
    case "files":
      return list("an array of {path, content}").map((one, at) => {
        const { path, content } = (one ?? {}) as Outcome;
        return [
          checked(`${field}[${at}].path`, "text", path, tail),
          bytesIn(`${field}[${at}].content`, content, tail),
        ];
      });
    case "changes":
      return list("an array of {path, before, after}").map((one, at) => {
        const { path, before, after } = (one ?? {}) as Outcome;
        const bytes = (name: string, given: unknown) =>
          given === null ? null : bytesIn(`${field}[${at}].${name}`, given, tail);
        return {
          path: checked(`${field}[${at}].path`, "text", path, tail),
          before: bytes("before", before),
          after: bytes("after", after),
        };
      });
  }
}
