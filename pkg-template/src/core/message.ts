// Arguments on their way in. A message is written straight into wasm's memory: numbers as they
// are, short texts by `encodeInto`, long texts and bytes as buffers of their own that the call
// takes over without a copy.

import { enter, glue, memory, numbers } from "./instance.js";

const encoder = new TextEncoder();

/** Longer than any path: what stands beyond it is refused whatever it says. */
const SHORT = 8192;

let start = 0;
let at = 0;
let end = 0;
let pending: number[] = [];

/** Not enough memory for an argument. */
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

/** Begins a message; buffers of one that was given up are let go. */
export function begin(): void {
  if (pending.length > 0) dropPending();
  // The scratch memory may have moved since; asking is cheap.
  const size = Math.max(4096, end - start);
  start = enter(() => glue.scratch(size));
  at = start;
  end = start + size;
}

/** Ends a message and tells its length. */
export function finish(): number {
  return at - start;
}

/** Lets go of buffers that no call took. */
export function dropPending(): void {
  for (const id of pending) glue.buffer_drop(id);
  pending = [];
}

/** The buffers of this message now belong to the call. */
export function sent(): void {
  if (pending.length > 0) pending = [];
}

export function putBool(value: boolean): void {
  room(1);
  numbers().setUint8(at, value ? 1 : 0);
  at += 1;
}

export function putU32(value: number): void {
  room(4);
  numbers().setUint32(at, value, true);
  at += 4;
}

export function putF64(value: number): void {
  room(8);
  numbers().setFloat64(at, value, true);
  at += 8;
}

/** A short text, such as a path. One that is far too long for its purpose is cut, and refused inside. */
export function putText(text: string): void {
  const short = text.length > SHORT ? text.slice(0, SHORT) : text;
  room(4 + short.length * 3);
  const { written } = encoder.encodeInto(short, memory().subarray(at + 4, end));
  numbers().setUint32(at, written, true);
  at += 4 + written;
}

export function putOptionalText(text: string | undefined): void {
  putBool(text !== undefined);
  if (text !== undefined) putText(text);
}

function putBuffer(id: number, length: number): void {
  putU32(id);
  putU32(length);
}

function newBuffer(length: number): number {
  const id = enter(() => glue.buffer_new(length));
  if (id === 0) throw new NoRoom();
  pending.push(id);
  return id;
}

/** A text of any length. Plain ASCII fits at once; the rest is given room for the worst case. */
export function putLongText(text: string): void {
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
  const id = newBuffer(bytes.length);
  const from = enter(() => glue.buffer_ptr(id));
  memory().set(bytes, from);
  putBuffer(id, bytes.length);
}
