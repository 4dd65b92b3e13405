// Pages and bundlers: the compressed WebAssembly is a string in the module of each class, so that
// no configuration is needed and a bundler drops it together with the class.

import unpacker from "#unpacker";

/** Base64 of the unpacked size (four bytes) and LZMA data. */
export type Source = string;

interface Unpacker {
  memory: WebAssembly.Memory;
  room(bytes: number): number;
  unpack(from: number, bytes: number, to: number, size: number): number;
}

/** Unpacks and compiles the WebAssembly in a string. */
export function compile(_name: string, source: Source): WebAssembly.Module {
  const bytes = decode(source);
  const size = new DataView(bytes.buffer).getUint32(0, true);
  // A new instance each time, so that its memory is freed.
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(decode(unpacker)));
  const { memory, room, unpack } = exports as unknown as Unpacker;
  const packed = bytes.length - 4;
  const from = room(packed);
  const to = room(size);
  new Uint8Array(memory.buffer, from, packed).set(bytes.subarray(4));
  if (!unpack(from, packed, to, size)) {
    throw new Error("kitbag: its WebAssembly cannot be unpacked; the file is damaged");
  }
  return new WebAssembly.Module(new Uint8Array(memory.buffer, to, size));
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
