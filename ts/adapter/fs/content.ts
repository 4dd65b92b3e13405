// Contents: bytes as the caller gets them (a `Buffer` where the host has one), encodings, and what may be
// written.

import { decode, encode } from "../shell/encoding.js";
import { wrongArgument, wrongType } from "./errors.js";

interface BufferLike extends Uint8Array {
  toString(encoding?: string): string;
}

interface BufferClass {
  from(buffer: ArrayBufferLike, offset: number, length: number): BufferLike;
  from(text: string, encoding: string): BufferLike;
  isEncoding(name: string): boolean;
}

const hostBuffer = (globalThis as { Buffer?: BufferClass }).Buffer;

const PLAIN = /^(utf-?8|ascii|latin1|binary|base64|hex|utf-?16le|ucs-?2)$/i;

const isEncoding = (name: string) => (hostBuffer ? hostBuffer.isEncoding(name) : PLAIN.test(name));

/** Bytes as a caller gets them. */
export function buffer(bytes: Uint8Array): Uint8Array {
  return hostBuffer ? hostBuffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : bytes;
}

/** Checks the name of an encoding; null and `buffer` are none. */
export function encodingOf(given: unknown): string | undefined {
  if (given === undefined || given === null || given === "buffer") return undefined;
  if (typeof given === "string" && isEncoding(given)) return given;
  const value = typeof given === "string" ? `'${given}'` : String(given);
  throw wrongArgument(
    "ERR_INVALID_ARG_VALUE",
    `The argument 'encoding' is invalid encoding. Received ${value}`,
  );
}

const isWide = (encoding: string) => /^(utf-?16le|ucs-?2)$/i.test(encoding);

/** Bytes as text, or as they are without an encoding. */
export function decoded(bytes: Uint8Array, encoding: string | undefined): string | Uint8Array {
  if (encoding === undefined) return buffer(bytes);
  if (hostBuffer) return (buffer(bytes) as BufferLike).toString(encoding);
  if (isWide(encoding)) {
    return new TextDecoder("utf-16le", { ignoreBOM: true }).decode(bytes);
  }
  return decode(bytes, encoding.toLowerCase());
}

/** A text as bytes. */
export function encoded(text: string, encoding: string | undefined): Uint8Array {
  const name = encoding ?? "utf8";
  if (hostBuffer) {
    const made = hostBuffer.from(text, name);
    return new Uint8Array(made.buffer, made.byteOffset, made.byteLength);
  }
  if (isWide(name)) {
    const units = Uint8Array.from({ length: text.length * 2 }, (_, at) => {
      return (text.charCodeAt(at >> 1) >> ((at & 1) * 8)) & 255;
    });
    return units;
  }
  return encode(text, name.toLowerCase());
}

/** A view of any kind as bytes, without a copy. */
export const viewed = (view: ArrayBufferView): Uint8Array =>
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

/** A name as the caller wants it: text, or bytes for the encoding `buffer`. */
export function named(name: string, encoding: unknown): string | Uint8Array {
  if (encoding === "buffer") return buffer(new TextEncoder().encode(name));
  const wanted = encodingOf(encoding);
  if (wanted === undefined || /^utf-?8$/i.test(wanted)) return name;
  return decoded(new TextEncoder().encode(name), wanted);
}

/** What is written, as bytes; undefined if it is none. */
export function bytesOf(data: unknown, encoding: string | undefined): Uint8Array | undefined {
  if (typeof data === "string") return encoded(data, encoding);
  // The caller may change its bytes as soon as the call has returned.
  return ArrayBuffer.isView(data) ? viewed(data).slice() : undefined;
}

export const wrongData = (name: string, data: unknown): Error =>
  wrongType(name, "of type string or an instance of Buffer, TypedArray, or DataView", data);

/** Joins the pieces of a stream or an iterator. */
export async function gathered(
  pieces: AsyncIterable<unknown> | Iterable<unknown>,
  encoding: string | undefined,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) {
    const part = bytesOf(piece, encoding);
    if (!part) throw wrongData("data", piece);
    parts.push(part);
  }
  return joined(parts);
}

export const isPieces = (data: unknown): data is AsyncIterable<unknown> | Iterable<unknown> =>
  typeof data === "object" &&
  data !== null &&
  (Symbol.asyncIterator in data || Symbol.iterator in data);

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The content with other bytes at a position; what is between them and the end is zero. */
export function overlaid(old: Uint8Array, at: number, bytes: Uint8Array): Uint8Array {
  const whole = new Uint8Array(Math.max(old.length, at + bytes.length));
  whole.set(old);
  whole.set(bytes, at);
  return whole;
}

/** The content cut, or filled with zeros, to a length. */
export function resized(old: Uint8Array, length: number): Uint8Array {
  const whole = new Uint8Array(length);
  whole.set(old.subarray(0, length));
  return whole;
}

/** An argument that must be a whole number. */
export function whole(
  name: string,
  value: unknown,
  least = Number.MIN_SAFE_INTEGER,
  most = Number.MAX_SAFE_INTEGER,
): number {
  const number = typeof value === "bigint" ? Number(value) : value;
  if (typeof number !== "number") throw wrongType(name, "of type number", value);
  if (!Number.isInteger(number)) {
    throw wrongArgument(
      "ERR_OUT_OF_RANGE",
      `The value of "${name}" is out of range. It must be an integer. Received ${number}`,
    );
  }
  if (number < least || number > most) {
    throw wrongArgument(
      "ERR_OUT_OF_RANGE",
      `The value of "${name}" is out of range. It must be >= ${least} && <= ${most}. Received ${number}`,
    );
  }
  return number;
}

/** Permissions: a number, or a text of octal digits. Undefined: none were given. */
export function modeOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") return whole("mode", value, 0);
  if (/^[0-7]+$/.test(value)) return Number.parseInt(value, 8);
  throw wrongArgument(
    "ERR_INVALID_ARG_VALUE",
    `The argument 'mode' must be a 32-bit unsigned integer or an octal string. Received '${value}'`,
  );
}
