// readText: a whole file as text, from the file as it is stored.

import type { ReadRawResult, ReadTextResult } from "../types.js";

/** The text of a file; a failure if it is none. */
export function textOf(path: string, raw: ReadRawResult): ReadTextResult {
  if (raw.error !== undefined) return raw;
  const { content } = raw.data;
  if (Array.isArray(content)) return { content: content.join("\n") };
  if (typeof content === "string") return { content };
  const type = "mimeType" in raw.data ? ` (${raw.data.mimeType})` : "";
  return {
    error: `'${path}' is a binary file${type}, not a text; read it with downloadFiles`,
    code: "unsupported",
  };
}
