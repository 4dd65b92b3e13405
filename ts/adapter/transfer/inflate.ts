// Unpacks deflated bytes at once (RFC 1951). The platform does so only as a stream, and a stream for each
// of many small files costs a hundred times what unpacking them does.

/** How a code's length is found: by its first bits, or bit by bit if it is longer. */
interface Codes {
  /** Of the codes of each length, how many there are. */
  counts: Uint16Array;
  /** The symbols, in order of their codes. */
  symbols: Uint16Array;
  /** By the next `FAST` bits: the symbol and, in the lower four bits, its length; 0 for a longer code. */
  fast: Uint16Array;
}

/** The longest code. */
const LONGEST = 15;
/** Bits by which most symbols are looked up. */
const FAST = 9;

/** The order in which the lengths of the codes for lengths come. */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** For each symbol of a length or distance: its extra bits, and the first value. */
function ranges(first: number, extra: (at: number) => number, count: number) {
  const bits = new Uint8Array(count);
  const base = new Uint16Array(count);
  let next = first;
  for (let at = 0; at < count; at++) {
    bits[at] = extra(at);
    base[at] = next;
    next += 1 << (bits[at] as number);
  }
  return { bits, base };
}

const LENGTHS = ranges(3, (at) => (at < 8 ? 0 : (at >> 2) - 1), 29);
// The last one is a length of its own, which 284 has not.
LENGTHS.bits[28] = 0;
LENGTHS.base[28] = 258;
const DISTANCES = ranges(1, (at) => (at < 4 ? 0 : (at >> 1) - 1), 30);

function broken(): never {
  throw new Error("The compressed data of an entry is damaged");
}

/** Codes from their lengths. A set with too many, or too few, is refused. */
function codesOf(lengths: Uint8Array): Codes {
  const counts = new Uint16Array(LONGEST + 1);
  for (const length of lengths) counts[length] = (counts[length] as number) + 1;
  counts[0] = 0;
  let left = 1;
  let used = 0;
  const starts = new Uint16Array(LONGEST + 2);
  for (let length = 1; length <= LONGEST; length++) {
    const count = counts[length] as number;
    left = left * 2 - count;
    if (left < 0) broken();
    used += count;
    starts[length + 1] = (starts[length] as number) + count;
  }
  // One code of one bit, or none, is what encoders write where there are no distances.
  if (left > 0 && used > 0 && (used > 1 || counts[1] === 0)) broken();
  const symbols = new Uint16Array(used);
  const places = starts.slice();
  for (const [symbol, length] of lengths.entries()) {
    if (length === 0) continue;
    const place = places[length] as number;
    symbols[place] = symbol;
    places[length] = place + 1;
  }
  const fast = new Uint16Array(1 << FAST);
  let code = 0;
  for (let length = 1, at = 0; length <= FAST; length++, code <<= 1) {
    for (let left = counts[length] as number; left > 0; left--, code++, at++) {
      // Bits of codes come the other way round.
      let reversed = 0;
      for (let bit = 0; bit < length; bit++) reversed |= ((code >> bit) & 1) << (length - 1 - bit);
      for (let place = reversed; place < fast.length; place += 1 << length) {
        fast[place] = ((symbols[at] as number) << 4) | length;
      }
    }
  }
  return { counts, symbols, fast };
}

function fixed(): { symbols: Codes; distances: Codes } {
  const lengths = new Uint8Array(288).fill(8);
  lengths.fill(9, 144, 256).fill(7, 256, 280);
  return { symbols: codesOf(lengths), distances: codesOf(new Uint8Array(32).fill(5)) };
}

let known: ReturnType<typeof fixed> | undefined;

function fixedCodes(): ReturnType<typeof fixed> {
  known ??= fixed();
  return known;
}

class Inflater {
  readonly #from: Uint8Array;
  readonly #out: Uint8Array;
  #at = 0;
  #bits = 0;
  #held = 0;
  #size = 0;

  constructor(from: Uint8Array, size: number) {
    this.#from = from;
    this.#out = new Uint8Array(size);
  }

  #take(count: number): number {
    while (this.#held < count) {
      if (this.#at >= this.#from.length) broken();
      this.#bits |= (this.#from[this.#at++] as number) << this.#held;
      this.#held += 8;
    }
    const value = this.#bits & ((1 << count) - 1);
    this.#bits >>>= count;
    this.#held -= count;
    return value;
  }

  #symbol({ counts, symbols, fast }: Codes): number {
    while (this.#held < LONGEST && this.#at < this.#from.length) {
      this.#bits |= (this.#from[this.#at++] as number) << this.#held;
      this.#held += 8;
    }
    const found = fast[this.#bits & ((1 << FAST) - 1)] as number;
    const quick = found & 15;
    if (quick > 0 && quick <= this.#held) {
      this.#bits >>>= quick;
      this.#held -= quick;
      return found >> 4;
    }
    let code = 0;
    let first = 0;
    let index = 0;
    for (let length = 1; length <= LONGEST; length++) {
      code |= this.#take(1);
      const count = counts[length] as number;
      if (code - first < count) return symbols[index + code - first] as number;
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    return broken();
  }

  #room(more: number): void {
    if (this.#size + more > this.#out.length) {
      throw new Error("An entry has more bytes than the archive says");
    }
  }

  #stored(): void {
    // What is left of the byte is not used; whole bytes that were taken ahead are given back.
    this.#at -= this.#held >> 3;
    this.#bits = this.#held = 0;
    const [a = 0, b = 0, c = 0, d = 0] = this.#from.subarray(this.#at, this.#at + 4);
    const length = a | (b << 8);
    this.#at += 4;
    if ((length ^ 0xffff) !== (c | (d << 8)) || this.#at + length > this.#from.length) broken();
    this.#room(length);
    this.#out.set(this.#from.subarray(this.#at, this.#at + length), this.#size);
    this.#at += length;
    this.#size += length;
  }

  #codes(): { symbols: Codes; distances: Codes } {
    const count = this.#take(5) + 257;
    const distances = this.#take(5) + 1;
    const used = this.#take(4) + 4;
    if (count > 286 || distances > 30) broken();
    const own = new Uint8Array(19);
    for (const symbol of ORDER.slice(0, used)) own[symbol] = this.#take(3);
    const codes = codesOf(own);
    const lengths = new Uint8Array(count + distances);
    for (let at = 0; at < lengths.length; ) {
      const symbol = this.#symbol(codes);
      if (symbol < 16) {
        lengths[at++] = symbol;
        continue;
      }
      if (symbol === 16 && at === 0) broken();
      const value = symbol === 16 ? (lengths[at - 1] as number) : 0;
      const times =
        symbol === 16 ? 3 + this.#take(2) : symbol === 17 ? 3 + this.#take(3) : 11 + this.#take(7);
      if (at + times > lengths.length) broken();
      lengths.fill(value, at, at + times);
      at += times;
    }
    // Without a code for its end, a block would have none.
    if (lengths[256] === 0) broken();
    return {
      symbols: codesOf(lengths.subarray(0, count)),
      distances: codesOf(lengths.subarray(count)),
    };
  }

  #compressed({ symbols, distances }: { symbols: Codes; distances: Codes }): void {
    const out = this.#out;
    for (;;) {
      const symbol = this.#symbol(symbols);
      if (symbol === 256) return;
      if (symbol < 256) {
        this.#room(1);
        out[this.#size++] = symbol;
        continue;
      }
      if (symbol > 285) broken();
      const length =
        (LENGTHS.base[symbol - 257] as number) + this.#take(LENGTHS.bits[symbol - 257] as number);
      const back = this.#symbol(distances);
      if (back > 29) broken();
      const distance =
        (DISTANCES.base[back] as number) + this.#take(DISTANCES.bits[back] as number);
      if (distance > this.#size) broken();
      this.#room(length);
      // The two parts may overlap, and then a text repeats.
      for (let end = this.#size + length; this.#size < end; this.#size++) {
        out[this.#size] = out[this.#size - distance] as number;
      }
    }
  }

  run(): Uint8Array {
    for (let last = 0; last === 0; ) {
      last = this.#take(1);
      const kind = this.#take(2);
      if (kind === 3) broken();
      if (kind === 0) this.#stored();
      else if (kind === 2) this.#compressed(this.#codes());
      else this.#compressed(fixedCodes());
    }
    if (this.#size < this.#out.length) {
      throw new Error("An entry has fewer bytes than the archive says");
    }
    if (this.#at - (this.#held >> 3) < this.#from.length) broken();
    return this.#out;
  }
}

/** What deflated bytes are, if that is exactly `size` bytes; throws if it is not. */
export function inflated(from: Uint8Array, size: number): Uint8Array {
  return new Inflater(from, size).run();
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

/** The CRC-32 of some bytes, as archives have it. */
export function crc32(bytes: Uint8Array): number {
  let value = -1;
  for (const byte of bytes) value = (TABLE[(value ^ byte) & 255] as number) ^ (value >>> 8);
  return ~value >>> 0;
}
