// A module out of base64 text.

export function moduleOf(text: string): WebAssembly.Module {
  return new WebAssembly.Module(decode(text));
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
