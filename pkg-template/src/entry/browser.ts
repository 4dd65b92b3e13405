// Browsers and bundlers: the wasm stands in this file as base64, so that nothing needs to be
// configured and everything is ready when the import is.

import base64 from "#wasm-base64";
import { load } from "./load.js";

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

load(new WebAssembly.Module(decode(base64)));

export * from "../index.js";
