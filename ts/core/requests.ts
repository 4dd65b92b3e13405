// Validates and encodes the arguments of each operation. Each function returns a refusal if an
// argument has the wrong type.

import type { Failure, FileParts } from "../types.js";
import * as check from "./checks.js";
import {
  AppendArguments,
  DeleteArguments,
  DownloadArguments,
  EditArguments,
  ExecuteArguments,
  FileArguments,
  GlobArguments,
  GrepArguments,
  LsArguments,
  ReadArguments,
  StreamArguments,
  TransferArguments,
  UploadArguments,
  WriteArguments,
} from "./descriptions.js";
import { type Fields, type Values, write } from "./given.js";
import { needStack, ROOM } from "./instance.js";
import type { Parts } from "./part-source.js";
import { isParts } from "./parts.js";

/** Packs the arguments that `look` has checked. */
function encoded<F extends Fields>(fields: F, look: () => Values<F>): Failure | undefined {
  return check.encoded(look, (seen) => write(fields, seen));
}

export function askLs(path: unknown): Failure | undefined {
  return encoded(LsArguments, () => ({ path: check.text("path", path) }));
}

export function askRead(filePath: unknown, offset: unknown, limit: unknown): Failure | undefined {
  return encoded(ReadArguments, () => ({
    path: check.text("filePath", filePath),
    offset: check.count("offset", offset),
    limit: check.count("limit", limit),
  }));
}

/** `readRaw`. */
export function askFile(filePath: unknown, options: unknown): Failure | undefined {
  return encoded(FileArguments, () => {
    const { start, end } = (options ?? {}) as { start?: unknown; end?: unknown };
    return {
      path: check.text("filePath", filePath),
      start: check.place("options.start", start),
      end: check.place("options.end", end),
    };
  });
}

/** `delete`; with `unchanged`, only if the file has exactly these bytes. */
export function askDelete(filePath: unknown, options: unknown): Failure | undefined {
  return encoded(DeleteArguments, () => {
    const { unchanged } = (options ?? {}) as { unchanged?: unknown };
    return {
      path: check.text("filePath", filePath),
      unchanged:
        unchanged === undefined ? undefined : check.bytesOf("options.unchanged", unchanged),
    };
  });
}

/** `move` and `copy`. */
export function askTransfer(from: unknown, to: unknown, options: unknown): Failure | undefined {
  return encoded(TransferArguments, () => {
    const { overwrite } = (options ?? {}) as { overwrite?: unknown };
    return {
      from: check.text("from", from),
      to: check.text("to", to),
      overwrite: check.flag("options.overwrite", overwrite),
    };
  });
}

export function askAppend(filePath: unknown, content: unknown): Failure | undefined {
  return encoded(AppendArguments, () => ({
    path: check.text("filePath", filePath),
    content: check.contentOf("content", content),
  }));
}

/** The options of `grep`, which may be in the place of `maxCount`. */
export function grepOptions<T, U>(maxCount: T, options: U): U | (T & object) | null {
  return options ?? (typeof maxCount === "object" ? maxCount : null);
}

export function askGrep(
  pattern: unknown,
  path: unknown,
  glob: unknown,
  maxCount: unknown,
  options: unknown,
): Failure | undefined {
  return encoded(GrepArguments, () => {
    const given = (options ?? {}) as Record<string, unknown>;
    const regex = check.flag("options.regex", given.regex);
    if (regex) needStack(ROOM.deep);
    return {
      pattern: check.text("pattern", pattern),
      path: check.optionalText("path", path) ?? "/",
      glob: check.optionalText("glob", glob),
      maxCount: check.count(
        "maxCount",
        (maxCount === given ? undefined : maxCount) ?? given.maxCount,
      ),
      maxPerFile: check.count("options.maxPerFile", given.maxPerFile),
      before: check.count("options.before", given.before),
      after: check.count("options.after", given.after),
      regex,
      ignoreCase: check.flag("options.ignoreCase", given.ignoreCase),
      stats: check.flag("options.stats", given.stats),
    };
  });
}

export function askGlob(pattern: unknown, path: unknown): Failure | undefined {
  return encoded(GlobArguments, () => ({
    pattern: check.text("pattern", pattern),
    path: check.optionalText("path", path) ?? "/",
  }));
}

export function askWrite(
  filePath: unknown,
  content: unknown,
  options: unknown,
): Failure | undefined {
  return encoded(WriteArguments, () => {
    const path = check.text("filePath", filePath);
    const { ifAbsent } = (options ?? {}) as { ifAbsent?: unknown };
    const only = check.flag("options.ifAbsent", ifAbsent);
    const checked = only
      ? check.bytesOf(
          "content",
          content,
          "a Uint8Array with the option ifAbsent",
          "; pass new TextEncoder().encode(content)",
        )
      : check.contentOf("content", content);
    const bytes = only ? "new" : "raw";
    const what: "text" | "new" | "raw" = typeof checked === "string" ? "text" : bytes;
    return { path, what, content: checked };
  });
}

export function askEdit(
  filePath: unknown,
  oldString: unknown,
  newString: unknown,
  replaceAll: unknown,
): Failure | undefined {
  return encoded(EditArguments, () => {
    // Bytes mean the whole file, before and after.
    const whole = ArrayBuffer.isView(oldString);
    const body = whole ? check.bytesOf : check.text;
    return {
      path: check.text("filePath", filePath),
      whole,
      old: body("oldString", oldString),
      fresh: body("newString", newString),
      all: check.flag("replaceAll", replaceAll),
    };
  });
}

/** A file to store: its path, and its bytes or where they come from. */
export type Upload = [path: string, content: Uint8Array | FileParts];

/** A validated batch: valid inputs are sent, invalid ones already have their refusal. */
export interface Batch<T> {
  /** For each input, the path as given, and the refusal if it is invalid. */
  inputs: Array<{ path: string; refusal?: string }>;
  sound: T[];
}

function batch<T>(given: unknown, look: (item: unknown, input: { path: string }) => T): Batch<T> {
  const out: Batch<T> = { inputs: [], sound: [] };
  const add = (item: unknown) => {
    const input: { path: string; refusal?: string } = { path: "" };
    out.inputs.push(input);
    const bad = check.refused(() => {
      out.sound.push(look(item, input));
    });
    if (bad) input.refusal = bad.error;
  };
  const bad = check.refused(() => {
    if (!Array.isArray(given)) {
      throw new check.BadArgument(`An array was expected, not ${check.kindOf(given)}`);
    }
    for (let at = 0; at < given.length; at++) add(given[at]);
  });
  if (bad) out.inputs.push({ path: "", refusal: bad.error });
  return out;
}

export function lookAtUploads(files: unknown): Batch<Upload> {
  return batch(files, (item, input) => {
    if (!Array.isArray(item)) {
      throw new check.BadArgument(`An entry must be [path, content], not ${check.kindOf(item)}`);
    }
    input.path = check.text("path", item[0]);
    const content: unknown = item[1];
    if (!isParts(content)) return [input.path, check.bytesOf("content", content)];
    check.place("content.size", content.size);
    check.place("content.most", content.most);
    return [input.path, content];
  });
}

export function lookAtDownloads(paths: unknown): Batch<string> {
  return batch(paths, (item, input) => {
    input.path = check.text("path", item);
    return input.path;
  });
}

/** The refusal of a batch without a valid entry. */
function noneSound({ inputs, sound }: Batch<unknown>): Failure | undefined {
  if (sound.length > 0 || inputs.length === 0) return undefined;
  return { error: "No entry of the batch is valid", code: "invalid_argument" };
}

export function askUpload(batch: Batch<Upload>, options: unknown): Failure | undefined {
  const { onlyFiles } = (options ?? {}) as { onlyFiles?: unknown };
  const values = () => ({
    files: batch.sound.map(([path, content]) => ({
      path,
      // Bytes were looked at, and have been detached since if there are none any more.
      content:
        isParts(content) || content.byteLength === 0 ? check.bytesOf("content", content) : content,
    })),
    onlyFiles: check.flag("options.onlyFiles", onlyFiles),
  });
  return noneSound(batch) ?? encoded(UploadArguments, values);
}

/** `uploadFiles` of one file whose bytes come in parts. */
export function askStream(path: string, parts: Parts, options: unknown): Failure | undefined {
  const { onlyFiles } = (options ?? {}) as { onlyFiles?: unknown };
  return encoded(StreamArguments, () => ({
    path,
    onlyFiles: check.flag("options.onlyFiles", onlyFiles),
    size: parts.size,
    most: parts.most,
  }));
}

export function askDownload(batch: Batch<string>): Failure | undefined {
  return noneSound(batch) ?? encoded(DownloadArguments, () => ({ paths: batch.sound }));
}

export function askExecute(command: unknown, timeoutMs: unknown): Failure | undefined {
  return encoded(ExecuteArguments, () => ({
    command: check.text("command", command),
    timeoutMs: check.count("timeoutMs", timeoutMs),
  }));
}
