// An order of a module's functions in which each is behind one that is like it. What compresses a module refers to
// earlier bytes, and near ones cost less: 2 % of the primary module (2026-11-29).

import { numberAt, numberOf, sectionsOf } from "./sections.mjs";

/** Functions are alike by pieces of so many bytes that both have, of which so many bits are kept. */
const PIECE = 6;
const BITS = 20;
/**
 * The next function is like those that were put last, of `window` bytes in all. A long one has more pieces; to what
 * `power` its length counts against it. For what is packed, where a piece is found at any distance:
 */
const PACKED = { window: 2 << 10, power: 0.9 };
/** For gzip, which looks back 32 KB: a hundredth less of the component than with those (2026-11-30). */
export const GZIP = { window: 16 << 10, power: 0.7 };
/** The kind of the section with the code. */
const CODE = 10;

/** The code of each function. */
function functionsOf(wasm) {
  const code = [...sectionsOf(wasm)].find(({ kind }) => kind === CODE)?.content;
  if (!code) return [];
  let [count, at] = numberAt(code, 0);
  return Array.from({ length: count }, () => {
    const [size, start] = numberAt(code, at);
    at = start + size;
    return code.subarray(start, at);
  });
}

/** The pieces of a function, as numbers. */
function piecesOf(bytes) {
  const pieces = new Set();
  for (let at = 0; at + PIECE <= bytes.length; at++) {
    let piece = 0;
    for (const byte of bytes.subarray(at, at + PIECE)) piece = Math.imul(piece, 0x01000193) ^ byte;
    pieces.add(piece & ((1 << BITS) - 1));
  }
  return pieces;
}

/** The numbers of the functions in that order: the largest first, then always the one most like the last ones. */
function orderOf(functions, { window, power }) {
  const pieces = functions.map(piecesOf);
  const owners = [];
  for (const [at, own] of pieces.entries()) {
    for (const piece of own) {
      if (owners[piece]) owners[piece].push(at);
      else owners[piece] = [at];
    }
  }
  // How many of the last functions have a piece, and how many of such pieces each function has.
  const near = new Uint16Array(1 << BITS);
  const shared = new Int32Array(functions.length);
  const share = (piece, by) => {
    for (const owner of owners[piece]) shared[owner] += by;
  };
  const rest = new Set(functions.keys());
  const order = [];
  let [first, bytes] = [0, 0];
  const put = (at) => {
    rest.delete(at);
    order.push(at);
    bytes += functions[at].length;
    for (const piece of pieces[at]) if (near[piece]++ === 0) share(piece, 1);
    for (; bytes > window && first < order.length - 1; first++) {
      const gone = order[first];
      bytes -= functions[gone].length;
      for (const piece of pieces[gone]) if (--near[piece] === 0) share(piece, -1);
    }
  };
  const most = (score) => {
    let [best, least] = [undefined, -1];
    for (const at of rest) {
      const value = score(at);
      if (value > least) [best, least] = [at, value];
    }
    return best;
  };
  const likeness = (at) => shared[at] / (functions[at].length ** power + 8);
  for (let next = most((at) => functions[at].length); next !== undefined; next = most(likeness)) {
    put(next);
  }
  return order;
}

/** The module with a name for each function, by which they are sorted in that order; `how` as `GZIP`. */
export function namedInOrder(wasm, how = PACKED) {
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(wasm));
  const before = imports.filter(({ kind }) => kind === "function").length;
  const order = orderOf(functionsOf(wasm), how);
  const text = (name) => [...numberOf(name.length), ...Buffer.from(name)];
  const names = order
    .map((number, place) => [number, `${place}`.padStart(6, "0")])
    .sort(([a], [b]) => a - b)
    .flatMap(([number, name]) => [...numberOf(before + number), ...text(name)]);
  const list = [...numberOf(order.length), ...names];
  // The names of functions are list 1 of this section.
  const content = [...text("name"), 1, ...numberOf(list.length), ...list];
  return Buffer.concat([wasm, Buffer.from([0, ...numberOf(content.length), ...content])]);
}
