// Files as they are stored. The version of a file, its ETag, is a digest of its content, so that a condition
// means the same on every backend. A large file of a backend that reads parts is never in memory as a whole:
// its version is a digest of the one that the storage has.

import type { Call } from "./served.js";
import { utf8 } from "./wire.js";

/** Files with more bytes are read in parts of this size. */
export const PIECE = 1 << 20;

/** What is known of a file. */
export interface Seen {
  size: number;
  mime: string;
  created: Date | undefined;
  modified: Date | undefined;
  tag: string;
}

/** A file with its bytes. */
export interface Stored extends Seen {
  bytes: Uint8Array<ArrayBuffer>;
}

/** A large file, of which a part was read. */
export interface Large extends Seen {
  /** The storage's version of what was read. */
  version: string;
  start: number;
  bytes: Uint8Array<ArrayBuffer>;
}

export type Failure = { error: string; code?: string };

const hex = (bytes: ArrayBuffer) =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Node's own digests: for a short text, one that is made at once takes less than to wait for another. */
const own = (
  globalThis as { process?: { getBuiltinModule?(name: string): typeof import("node:crypto") } }
).process?.getBuiltinModule?.("node:crypto");
const SHORT = 64 << 10;
/** Newer ones have it as one call, in half the time. */
type OneCall = { hash?(name: string, bytes: Uint8Array, form: "hex"): string };

/** A digest as text. */
export const digestOf = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  own && bytes.length <= SHORT
    ? ((own as OneCall).hash?.("sha256", bytes, "hex") ??
      own.createHash("sha256").update(bytes).digest("hex"))
    : hex(await crypto.subtle.digest("SHA-256", bytes));

/** The version of a file with these bytes. */
export const tagOf = async (bytes: Uint8Array<ArrayBuffer>) =>
  `"${(await digestOf(bytes)).slice(0, 32)}"`;

function timeOf(text: string | undefined): Date | undefined {
  if (!text) return undefined;
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? undefined : at;
}

/** The type as a header has it. */
function typeOf(type: string | undefined, isText: boolean): string {
  const given = type ?? (isText ? "text/plain" : "application/octet-stream");
  const safe = /^[\w.+-]+\/[\w.+-]+(;[\w .=+"-]*)?$/.test(given)
    ? given
    : "application/octet-stream";
  return isText && !safe.includes(";") ? `${safe};charset=utf-8` : safe;
}

interface Data {
  content: unknown;
  mimeType?: string;
  created_at?: string;
  modified_at?: string;
}

const known = ({ mimeType, created_at, modified_at }: Data, isText: boolean) => ({
  mime: typeOf(mimeType, isText),
  created: timeOf(created_at),
  modified: timeOf(modified_at),
});

/** Reads a file at once. */
async function whole({ backend, options }: Call, path: string): Promise<Stored | Failure> {
  const answer = await backend.readRaw(path, options);
  if (answer.error !== undefined) return answer as Failure;
  const data = answer.data as Data;
  const { content } = data;
  const text = Array.isArray(content) ? content.join("\n") : content;
  const isText = typeof text === "string";
  const bytes = isText ? utf8(text) : new Uint8Array(text as Uint8Array<ArrayBuffer>);
  return { ...known(data, isText), bytes, size: bytes.length, tag: await tagOf(bytes) };
}

/**
 * Reads a file: all of it, or if it is large and the backend reads parts, the bytes from `start` up to
 * `end`.
 */
export async function opened(
  call: Call,
  path: string,
  start = 0,
  end = PIECE,
): Promise<Stored | Large | Failure> {
  const { backend, options } = call;
  const answer = await backend.readRaw(path, { start, end, ...options });
  if (answer.error !== undefined) return answer as Failure;
  const data = answer.data as Data;
  const { part } = answer;
  const bytes = data.content as Uint8Array<ArrayBuffer>;
  if (part?.version !== undefined && part.size > PIECE) {
    const { size, version } = part;
    const tag = await tagOf(utf8(`${size} ${version}`));
    return { ...known(data, part.isText), size, version, tag, start: part.start, bytes };
  }
  if (part?.start === 0 && part.size === bytes.length) {
    return { ...known(data, part.isText), size: part.size, tag: await tagOf(bytes), bytes };
  }
  // A short file of which a part was asked for, or a backend that has only whole files.
  return whole(call, path);
}

/** What is known of a file, without the bytes of a large one. */
export const seen = (call: Call, path: string): Promise<Seen | Failure> => opened(call, path);

/** Reads a file with all its bytes. */
export async function stored(call: Call, path: string): Promise<Stored | Failure> {
  const first = await opened(call, path);
  if ("error" in first || !("version" in first)) return first;
  const all = await opened(call, path, 0, first.size);
  if ("error" in all || !("version" in all) || all.bytes.length === all.size) return all;
  // It has grown meanwhile.
  return { error: "The file was changed while it was read", code: "conflict" };
}
