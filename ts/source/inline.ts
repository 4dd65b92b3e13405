// Pages and bundlers: the compressed WebAssembly is a string in the module of each class, so that
// no configuration is needed and a bundler drops it together with the class.

import build from "#build";
import unpacker from "#unpacker";
import { mixed } from "./mixed.js";

/** Base64 of the build (four bytes), the unpacked size (four bytes) and LZMA data. */
export type Source = string;

interface Unpacker {
  memory: WebAssembly.Memory;
  room(bytes: number): number;
  unpack(from: number, bytes: number, to: number, size: number, known: number): number;
}

/** Bytes in front of the LZMA data. */
const HEAD = 8;

/** The bytes of the primary module: chunks are compressed with them as their dictionary. */
let primary = new Uint8Array();

/** Unpacks and compiles the WebAssembly in a string; the primary module comes first. */
export function compile(
  name: string,
  source: Source,
  _missing?: readonly string[],
): WebAssembly.Module {
  const bytes = decode(source);
  const head = new DataView(bytes.buffer);
  const of = head.getUint32(0).toString(16).padStart(8, "0");
  if (!build.startsWith(of)) throw mixed(name, of, name);
  const dictionary = name === "kitbag" ? new Uint8Array() : primary;
  const known = dictionary.length;
  const size = known + head.getUint32(4, true);
  // A new instance each time, so that its memory is freed.
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(decode(unpacker)));
  const { memory, room, unpack } = exports as typeof exports & Unpacker;
  const packed = bytes.length - HEAD;
  const from = room(packed);
  const to = room(size);
  new Uint8Array(memory.buffer, from, packed).set(bytes.subarray(HEAD));
  const out = new Uint8Array(memory.buffer, to, size);
  out.set(dictionary);
  if (!unpack(from, packed, to, size, known)) {
    throw new Error("kitbag: its WebAssembly cannot be unpacked; the file is damaged");
  }
  const wasm = out.subarray(known);
  const module = new WebAssembly.Module(wasm);
  if (name === "kitbag") primary = wasm.slice();
  return module;
}

function decode(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> })
    .fromBase64;
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  // A plain loop: `Uint8Array.from` with a callback is fifty times slower.
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** No URL is needed: the modules are inline. */
export function addressOf(_name: string): URL | undefined {
  return undefined;
}
