// Encodes arguments. A message is written directly into WebAssembly's memory: numbers as they are,
// short texts with `encodeInto`, long texts and bytes as separate buffers, which the call takes
// over without a copy.

import { enter, glue, memory, numbers } from "./instance.js";

const encoder = new TextEncoder();

/** Longer than any valid path; a text of this length is refused in any case. */
const SHORT = 8192;

/** Whether this is the build for tests, which notes the fields of messages. */
declare const KITBAG_TESTING: boolean;

/** In a build for tests: the fields of the last message, as `tests/wasm/fields.json` names them. */
export let fields: string[] = [];

let start = 0;
let at = 0;
let end = 0;
let pending: number[] = [];

/** There is not enough memory for an argument. */
export class NoRoom extends Error {
  override name = "NoRoom";
}

function room(bytes: number): void {
  if (at + bytes <= end) return;
  const used = at - start;
  const size = Math.max(4096, (used + bytes) * 2);
  const moved = enter(() => glue.scratch(size));
  if (moved === 0) throw new NoRoom();
  start = moved;
  at = start + used;
  end = start + size;
}

/** Begins a message; drops the buffers of an abandoned one. */
export function begin(): void {
  if (pending.length > 0) dropPending();
  // Scratch memory moves only when `room` asks for more of it.
  at = start;
  if (KITBAG_TESTING) fields = [];
}

/** Ends a message and returns its length. */
export function finish(): number {
  return at - start;
}

/** Drops buffers that no call took over. */
export function dropPending(): void {
  for (let id = pending.at(-1); id !== undefined; id = pending.at(-1)) {
    const last = id;
    enter(() => glue.buffer_drop(last));
    pending.pop();
  }
}

/** The call has taken over the buffers of this message. */
export function sent(): void {
  if (pending.length > 0) pending = [];
}

function putByte(value: number): void {
  room(1);
  numbers().setUint8(at, value);
  at += 1;
}

export function putU8(value: number): void {
  if (KITBAG_TESTING) fields.push("u8");
  putByte(value);
}

export function putBool(value: boolean): void {
  if (KITBAG_TESTING) fields.push("bool");
  putByte(value ? 1 : 0);
}

function putNumber(value: number): void {
  room(4);
  numbers().setUint32(at, value, true);
  at += 4;
}

export function putU32(value: number): void {
  if (KITBAG_TESTING) fields.push("u32");
  putNumber(value);
}

export function putF64(value: number): void {
  if (KITBAG_TESTING) fields.push("f64");
  room(8);
  numbers().setFloat64(at, value, true);
  at += 8;
}

/** A short text, such as a path. One that is far too long is cut here and refused in Rust. */
export function putText(text: string): void {
  if (KITBAG_TESTING) fields.push("text");
  putWhole(text.length > SHORT ? text.slice(0, SHORT) : text);
}

/** Up to this length a loop over the characters is faster than the encoder. */
const TINY = 48;

function putWhole(text: string): void {
  room(4 + text.length * 3);
  if (text.length <= TINY && putAscii(text)) return;
  const { written } = encoder.encodeInto(text, memory().subarray(at + 4, end));
  numbers().setUint32(at, written, true);
  at += 4 + written;
}

/** Writes a text if it is all ASCII; returns whether it was. */
function putAscii(text: string): boolean {
  const bytes = memory();
  const from = at + 4;
  for (let n = 0; n < text.length; n++) {
    const unit = text.charCodeAt(n);
    if (unit > 127) return false;
    bytes[from + n] = unit;
  }
  numbers().setUint32(at, text.length, true);
  at = from + text.length;
  return true;
}

export function putOptionalText(text: string | undefined): void {
  putBool(text !== undefined);
  if (text !== undefined) putText(text);
}

function putBuffer(id: number, length: number): void {
  putByte(1);
  putNumber(id);
  putNumber(length);
}

function newBuffer(length: number): number {
  // A larger number would wrap around on its way into WebAssembly.
  const id = length > 0xffffffff ? 0 : enter(() => glue.buffer_new(length));
  if (id === 0) throw new NoRoom();
  pending.push(id);
  return id;
}

/** Texts and bytes up to this length go inside the message; a separate buffer costs more. */
const INLINE = 4096;

/** A text of any length. The buffer fits ASCII; other text gets room for the worst case. */
export function putLongText(text: string): void {
  if (KITBAG_TESTING) fields.push("blob");
  if (text.length <= INLINE) {
    putByte(0);
    putWhole(text);
    return;
  }
  const id = newBuffer(text.length);
  let from = enter(() => glue.buffer_ptr(id));
  let { read, written } = encoder.encodeInto(text, memory().subarray(from, from + text.length));
  if (read < text.length) {
    const rest = text.slice(read);
    const size = written + rest.length * 3;
    if (!enter(() => glue.buffer_resize(id, size))) throw new NoRoom();
    from = enter(() => glue.buffer_ptr(id));
    written += encoder.encodeInto(rest, memory().subarray(from + written, from + size)).written;
    read = text.length;
  }
  putBuffer(id, written);
}

/** Bytes of any length. */
export function putBytes(bytes: Uint8Array): void {
  if (KITBAG_TESTING) fields.push("blob");
  if (bytes.length <= INLINE) {
    putByte(0);
    room(4 + bytes.length);
    numbers().setUint32(at, bytes.length, true);
    memory().set(bytes, at + 4);
    at += 4 + bytes.length;
    return;
  }
  const id = newBuffer(bytes.length);
  const from = enter(() => glue.buffer_ptr(id));
  memory().set(bytes, from);
  putBuffer(id, bytes.length);
}
