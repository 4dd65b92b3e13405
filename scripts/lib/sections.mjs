// The sections of a module or component of WebAssembly.

/** The magic number and the version of a component. */
export const HEAD = Buffer.from("\0asm\x0d\0\x01\0", "latin1");

/** Reads a number at a place: its value, and where it ends. */
export function numberAt(bytes, at) {
  let [value, factor, next] = [0, 1, at];
  for (;;) {
    const byte = bytes[next++];
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return [value, next];
    factor *= 128;
  }
}

/** A number as `numberAt` reads it. */
export function numberOf(value) {
  const bytes = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return [...bytes, rest];
}

/** All sections: what kind each is, its name if it has one, its bytes and its content. */
export function* sectionsOf(wasm) {
  // A module has as many bytes before them.
  for (let at = HEAD.length; at < wasm.length; ) {
    const kind = wasm[at];
    const [size, start] = numberAt(wasm, at + 1);
    const end = start + size;
    const [length, text] = kind === 0 ? numberAt(wasm, start) : [0, start];
    const name = wasm.subarray(text, text + length).toString();
    const [bytes, content] = [wasm.subarray(at, end), wasm.subarray(start, end)];
    yield { kind, name, bytes, content };
    at = end;
  }
}
