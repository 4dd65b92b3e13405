// Parses files that callers pass in: text, bytes, or `FileData` in any of its three forms.

import { BadArgument, bytesOf, kindOf } from "./checks.js";

/** A parsed file. */
export interface Incoming {
  content: string | Uint8Array;
  v1: boolean;
  /** A text of FileData that does not say how it is encoded: base64 if the file is binary. */
  stored: boolean;
  mimeType?: string;
  created?: string;
  modified?: string;
}

function time(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function fromBase64(text: string): Uint8Array {
  let binary: string;
  try {
    binary = atob(text.replace(/\s+/g, ""));
  } catch {
    throw new BadArgument("content is said to be base64, but is not");
  }
  const out = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) out[at] = binary.charCodeAt(at);
  return out;
}

/** Bytes that were serialised as JSON: `{"0":1,"1":2}` was a `Uint8Array`, `{ type, data }` a `Buffer`. */
function fromJson(content: unknown): Uint8Array | undefined {
  if (typeof content !== "object" || content === null) return undefined;
  if (Object.prototype.toString.call(content) !== "[object Object]") return undefined;
  const { type, data } = content as { type?: unknown; data?: unknown };
  const values = type === "Buffer" && Array.isArray(data) ? data : content;
  const count = Object.keys(values).length;
  const bytes = new Uint8Array(count);
  for (let at = 0; at < count; at++) {
    const byte = (values as Record<number, unknown>)[at];
    if (typeof byte !== "number" || (byte & 255) !== byte) {
      throw new BadArgument("content is neither lines of text nor bytes");
    }
    bytes[at] = byte;
  }
  return bytes;
}

/** Parses one file; throws `BadArgument` if it has none of the forms. */
export function incoming(value: unknown): Incoming {
  if (typeof value === "string") return { content: value, v1: false, stored: false };
  if (typeof value !== "object" || value === null) {
    throw new BadArgument(`a file must be text, bytes or FileData, not ${kindOf(value)}`);
  }
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    return { content: bytesOf("content", value), v1: false, stored: false };
  }
  const data = value as Record<string, unknown>;
  const { content, encoding, mimeType } = data;
  const out: Incoming = { content: "", v1: false, stored: false };
  const created = time(data.created_at);
  const modified = time(data.modified_at);
  if (created !== undefined) out.created = created;
  if (modified !== undefined) out.modified = modified;
  if (typeof mimeType === "string" && mimeType !== "") out.mimeType = mimeType;
  if (Array.isArray(content)) {
    if (!content.every((line) => typeof line === "string")) {
      throw new BadArgument("content is an array, but not one of lines of text");
    }
    out.content = content.join("\n");
    out.v1 = true;
    out.stored = true;
  } else if (typeof content === "string") {
    if (encoding === "base64") out.content = fromBase64(content);
    else if (encoding === undefined || encoding === null || encoding === "utf-8") {
      out.content = content;
      out.stored = encoding !== "utf-8";
    } else throw new BadArgument(`encoding must be "utf-8" or "base64", not ${kindOf(encoding)}`);
  } else if (content !== undefined) {
    out.content = fromJson(content) ?? bytesOf("content", content);
  } else {
    throw new BadArgument("FileData must have content");
  }
  return out;
}
