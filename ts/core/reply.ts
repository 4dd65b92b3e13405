// Decodes replies that WebAssembly packed in its memory. A column of texts is decoded in chunks and
// sliced, which is several times faster than decoding each string.

import type { ErrorCode, FileOperationError } from "../types.js";
import { enter, glue, memory, numbers } from "./instance.js";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The error of a reply. */
export interface Refusal {
  code: ErrorCode;
  message: string;
  file: FileOperationError;
  retryAfterMs: number;
  thrown: boolean;
}

/** Stands for "the path as it was passed"; no text has this length. */
const AS_ASKED = 0xffffffff;

/** The last reply. It must be read completely before the next call into WebAssembly. */
export class Reply {
  #at: number;
  #bytes: Uint8Array;
  #view: DataView;

  /** `at` is its address, if the caller knows it already. */
  constructor(at: number = enter(() => glue.reply_ptr())) {
    this.#at = at;
    this.#bytes = memory();
    this.#view = numbers();
  }

  u8(): number {
    return this.#view.getUint8(this.#at++);
  }

  bool(): boolean {
    return this.u8() !== 0;
  }

  u32(): number {
    const value = this.#view.getUint32(this.#at, true);
    this.#at += 4;
    return value;
  }

  f64(): number {
    const value = this.#view.getFloat64(this.#at, true);
    this.#at += 8;
    return value;
  }

  text(): string {
    const length = this.u32();
    const from = this.#at;
    this.#at += length;
    if (length <= 32) {
      const short = asciiOf(this.#bytes, from, length);
      if (short !== undefined) return short;
    }
    return decoder.decode(this.#bytes.subarray(from, from + length));
  }

  /** A path. Usually it is the text that was passed, and the reply has only a marker for that. */
  path(asked: string): string {
    if (this.#view.getUint32(this.#at, true) !== AS_ASKED) return this.text();
    this.#at += 4;
    return asked;
  }

  optionalText(): string | undefined {
    return this.bool() ? this.text() : undefined;
  }

  /** A body as text. */
  bodyText(): string {
    const from = this.u32();
    const length = this.u32();
    return decoder.decode(this.#bytes.subarray(from, from + length));
  }

  /** A body as a copy of its bytes. */
  bodyBytes(): Uint8Array {
    const from = this.u32();
    const length = this.u32();
    return this.#bytes.slice(from, from + length);
  }

  /** A column of texts. */
  texts(): string[] {
    const rows = this.u32();
    const chunks = this.u32();
    let table = this.#at;
    let ends = table + chunks * 8;
    this.#at = ends + rows * 4;
    const from = this.u32();
    this.u32();
    const out = new Array<string>(rows);
    let row = 0;
    let chunkStart = from;
    for (let chunk = 0; chunk < chunks; chunk++) {
      const chunkEnd = from + this.#view.getUint32(table, true);
      const lastRow = this.#view.getUint32(table + 4, true);
      table += 8;
      const text = decoder.decode(this.#bytes.subarray(chunkStart, chunkEnd));
      let start = 0;
      for (; row < lastRow; row++) {
        const stop = this.#view.getUint32(ends, true);
        ends += 4;
        out[row] = text.slice(start, stop);
        start = stop;
      }
      chunkStart = chunkEnd;
    }
    return out;
  }

  /** What `read` reads of the memory from this place on; it returns that, and where it ends. */
  by<T>(read: (bytes: Uint8Array, view: DataView, at: number) => [T, number]): T {
    const [value, end] = read(this.#bytes, this.#view, this.#at);
    this.#at = end;
    return value;
  }

  /** A column of whole numbers, decoded on access. */
  u32s(count: number): (row: number) => number {
    const from = this.#at;
    const view = this.#view;
    this.#at += count * 4;
    return (row) => view.getUint32(from + row * 4, true);
  }

  /** A column of floating-point numbers, decoded on access. */
  f64s(count: number): (row: number) => number {
    const from = this.#at;
    const view = this.#view;
    this.#at += count * 8;
    return (row) => view.getFloat64(from + row * 8, true);
  }

  refusal(): Refusal {
    return {
      code: this.text() as ErrorCode,
      message: this.text(),
      file: this.text() as FileOperationError,
      retryAfterMs: this.f64(),
      thrown: this.bool(),
    };
  }
}

function asciiOf(bytes: Uint8Array, from: number, length: number): string | undefined {
  let text = "";
  for (let at = from; at < from + length; at++) {
    const byte = bytes[at] as number;
    if (byte > 127) return undefined;
    text += String.fromCharCode(byte);
  }
  return text;
}

let lastMicros = Number.NaN;
let lastText = "";

/** A time as ISO 8601 text; empty for NaN. Files with equal times share one string. */
export function timeText(micros: number): string {
  if (micros === lastMicros) return lastText;
  if (Number.isNaN(micros)) return "";
  const millis = Math.floor(micros / 1000);
  const rest = micros - millis * 1000;
  let text = new Date(millis).toISOString();
  if (rest !== 0) text = `${text.slice(0, -1)}${String(rest).padStart(3, "0")}Z`;
  lastMicros = micros;
  lastText = text;
  return text;
}
