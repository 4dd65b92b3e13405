// Validates and encodes the arguments of each operation. Each function returns a refusal if an
// argument has the wrong type. Long texts come first and paths after them, in the order in which
// `wasm/call.rs` reads them.

import type { Failure } from "../types.js";
import * as check from "./checks.js";
import { FRAMES, needStack } from "./instance.js";
import {
  putBool,
  putBytes,
  putF64,
  putLongText,
  putOptionalText,
  putText,
  putU8,
  putU32,
} from "./message.js";

const { encoded } = check;

export function askLs(path: unknown): Failure | undefined {
  return encoded(() => check.text("path", path), putText);
}

export function askRead(filePath: unknown, offset: unknown, limit: unknown): Failure | undefined {
  return encoded(
    () => ({
      path: check.text("filePath", filePath),
      offset: check.count("offset", offset),
      limit: check.count("limit", limit),
    }),
    (seen) => {
      putText(seen.path);
      putF64(seen.offset);
      putF64(seen.limit);
    },
  );
}

/** `readRaw`. */
export function askFile(filePath: unknown): Failure | undefined {
  return encoded(() => check.text("filePath", filePath), putText);
}

/** `delete`; with `unchanged`, only if the file has exactly these bytes. */
export function askDelete(filePath: unknown, options: unknown): Failure | undefined {
  return encoded(
    () => {
      const { unchanged } = (options ?? {}) as { unchanged?: unknown };
      return {
        path: check.text("filePath", filePath),
        unchanged:
          unchanged === undefined ? undefined : check.bytesOf("options.unchanged", unchanged),
      };
    },
    (seen) => {
      putBool(seen.unchanged !== undefined);
      if (seen.unchanged) putBytes(seen.unchanged);
      putText(seen.path);
    },
  );
}

/** `move` and `copy`. */
export function askTransfer(from: unknown, to: unknown, options: unknown): Failure | undefined {
  return encoded(
    () => {
      const { overwrite } = (options ?? {}) as { overwrite?: unknown };
      return {
        from: check.text("from", from),
        to: check.text("to", to),
        overwrite: check.flag("options.overwrite", overwrite),
      };
    },
    (seen) => {
      putBool(seen.overwrite);
      putText(seen.from);
      putText(seen.to);
    },
  );
}

export function askAppend(filePath: unknown, content: unknown): Failure | undefined {
  return encoded(
    () => ({
      path: check.text("filePath", filePath),
      content: check.contentOf("content", content),
    }),
    (seen) => {
      if (typeof seen.content === "string") putLongText(seen.content);
      else putBytes(seen.content);
      putText(seen.path);
    },
  );
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
  return encoded(
    () => {
      const given = (options ?? {}) as Record<string, unknown>;
      const regex = check.flag("options.regex", given.regex);
      if (regex) needStack(FRAMES.deep);
      return {
        pattern: check.text("pattern", pattern),
        path: check.optionalText("path", path) ?? "/",
        glob: check.optionalText("glob", glob),
        counts: [
          check.count("maxCount", (maxCount === given ? undefined : maxCount) ?? given.maxCount),
          check.count("options.maxPerFile", given.maxPerFile),
          check.count("options.before", given.before),
          check.count("options.after", given.after),
        ],
        regex,
        ignoreCase: check.flag("options.ignoreCase", given.ignoreCase),
        stats: check.flag("options.stats", given.stats),
      };
    },
    (seen) => {
      putLongText(seen.pattern);
      putText(seen.path);
      putOptionalText(seen.glob);
      for (const count of seen.counts) putF64(count);
      putBool(seen.regex);
      putBool(seen.ignoreCase);
      putBool(seen.stats);
    },
  );
}

export function askGlob(pattern: unknown, path: unknown): Failure | undefined {
  return encoded(
    () => ({
      pattern: check.text("pattern", pattern),
      path: check.optionalText("path", path) ?? "/",
    }),
    (seen) => {
      putLongText(seen.pattern);
      putText(seen.path);
    },
  );
}

export function askWrite(
  filePath: unknown,
  content: unknown,
  options: unknown,
): Failure | undefined {
  return encoded(
    () => {
      const path = check.text("filePath", filePath);
      const { ifAbsent } = (options ?? {}) as { ifAbsent?: unknown };
      const only = check.flag("options.ifAbsent", ifAbsent);
      return {
        path,
        content: only
          ? check.bytesOf("content", content, "a Uint8Array with the option ifAbsent")
          : check.contentOf("content", content),
        only,
      };
    },
    (seen) => {
      putContent(seen.content, seen.only);
      putText(seen.path);
    },
  );
}

function putContent(content: string | Uint8Array, only = false): void {
  const isText = typeof content === "string";
  putU8(isText ? 0 : only ? 2 : 1);
  if (isText) putLongText(content);
  else putBytes(content);
}

export function askEdit(
  filePath: unknown,
  oldString: unknown,
  newString: unknown,
  replaceAll: unknown,
): Failure | undefined {
  return encoded(
    () => {
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
    },
    (seen) => {
      putBool(seen.whole);
      for (const one of [seen.old, seen.fresh]) {
        if (typeof one === "string") putLongText(one);
        else putBytes(one);
      }
      putBool(seen.all);
      putText(seen.path);
    },
  );
}

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

export function lookAtUploads(files: unknown): Batch<[string, Uint8Array]> {
  return batch(files, (item, input) => {
    if (!Array.isArray(item)) {
      throw new check.BadArgument(`An entry must be [path, content], not ${check.kindOf(item)}`);
    }
    input.path = check.text("path", item[0]);
    return [input.path, check.bytesOf("content", item[1])];
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

export function askUpload(batch: Batch<[string, Uint8Array]>): Failure | undefined {
  const refusal = noneSound(batch);
  if (refusal) return refusal;
  const files = batch.sound;
  return encoded(
    () => files,
    () => {
      putU32(files.length);
      for (const [path, content] of files) {
        putText(path);
        putBytes(content);
      }
    },
  );
}

export function askDownload(batch: Batch<string>): Failure | undefined {
  const refusal = noneSound(batch);
  if (refusal) return refusal;
  const paths = batch.sound;
  return encoded(
    () => paths,
    () => {
      putU32(paths.length);
      for (const path of paths) putText(path);
    },
  );
}

export function askExecute(command: unknown, timeoutMs: unknown): Failure | undefined {
  return encoded(
    () => ({
      command: check.text("command", command),
      timeoutMs: check.count("timeoutMs", timeoutMs),
    }),
    (seen) => {
      putLongText(seen.command);
      putF64(seen.timeoutMs);
    },
  );
}
