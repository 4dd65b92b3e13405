// Matches as lines of JSON, made of the bytes in which a search has left them: no text and no object is made for
// any, which takes longer than to find them.

/** The option of a `grep` of kitbag's own that says how its matches are read (`core/results.ts`). */
const MATCHES = Symbol.for("kitbag.matches");

/** What is given to a `grep` so that it leaves rows; nothing if it would not know what that is. */
export const asRows = (grep: object): object => (MATCHES in grep ? { [MATCHES]: AS_ROWS } : {});

/** Texts, one behind the other. */
interface Column {
  bytes: Uint8Array;
  /** Where each ends, in UTF-16 units of its chunk. */
  ends: Uint32Array;
  /** Of each chunk: where it ends in the bytes, and the number of texts up to there. */
  chunks: Uint32Array;
}

/** What an answer of WebAssembly offers. */
interface Reply {
  by<T>(read: (bytes: Uint8Array, view: DataView, at: number) => [T, number]): T;
}

/** How many of the texts' bytes may become how many: `\u0000`. */
const LONGEST = 6;
/** Room for the number of a line, and for what stands around the path, the number and the text. */
const AROUND = 64;

/** What stands behind the backslash of each byte that has one; 0 for the others, `u` for those with a number. */
const ESCAPES = new Uint8Array(256);
ESCAPES.fill(0x75, 0, 0x20);
for (const pair of ["\bb", "\tt", "\nn", "\ff", "\rr", '""', "\\\\"]) {
  ESCAPES[pair.charCodeAt(0)] = pair.charCodeAt(1);
}
const BACKSLASH = "\\".charCodeAt(0);

const encoder = new TextEncoder();

/** Matches of which each is written when it is sent. */
export class MatchRows {
  /** Matches that were written. */
  written = 0;
  #chunk = 0;
  /** Where the next text begins in the bytes. */
  #from = 0;
  /** Where it begins in its chunk, in UTF-16 units. */
  #units = 0;
  #file = -1;
  #head = new Uint8Array(0);

  constructor(
    readonly length: number,
    private readonly paths: string[],
    private readonly texts: Column,
    private readonly files: Uint32Array,
    private readonly lines: Uint32Array,
  ) {}

  /** Writes matches until they have this many bytes, or a little more. */
  piece(wanted: number): Uint8Array<ArrayBuffer> {
    let out = new Uint8Array(Math.min(wanted, this.texts.bytes.length * 2) + 4096);
    let at = 0;
    while (this.written < this.length && at < wanted) {
      const end = this.#endOfText();
      this.#nextFile();
      const most = at + this.#head.length + AROUND + (end - this.#from) * LONGEST;
      if (most > out.length) {
        const larger = new Uint8Array(most * 2);
        larger.set(out.subarray(0, at));
        out = larger;
      }
      at = this.#row(out, at, end);
      this.written += 1;
    }
    return out.subarray(0, at);
  }

  /** Where the next text ends in the bytes. */
  #endOfText(): number {
    const { bytes, ends, chunks } = this.texts;
    while ((chunks[this.#chunk * 2 + 1] as number) <= this.written) {
      this.#chunk += 1;
      this.#units = 0;
    }
    const last = (chunks[this.#chunk * 2 + 1] as number) - 1;
    const before = this.#chunk === 0 ? 0 : (chunks[this.#chunk * 2 - 2] as number);
    const size = (chunks[this.#chunk * 2] as number) - before;
    const units = (ends[this.written] as number) - this.#units;
    this.#units = ends[this.written] as number;
    // A chunk with as many units as bytes is ASCII.
    if (size === ends[last]) return this.#from + units;
    let end = this.#from;
    for (let left = units; left > 0; ) {
      const byte = bytes[end] as number;
      left -= byte < 0xf0 ? 1 : 2;
      end += byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    }
    return end;
  }

  /** What stands before the number of the next line. */
  #nextFile(): void {
    const file = this.files[this.written] as number;
    if (file === this.#file) return;
    this.#file = file;
    this.#head = encoder.encode(`{"path":${JSON.stringify(this.paths[file])},"line":`);
  }

  /** Writes the next match, whose text ends here, and returns where the next one begins. */
  #row(out: Uint8Array, from: number, end: number): number {
    out.set(this.#head, from);
    let at = number(out, from + this.#head.length, this.lines[this.written] as number);
    at = ascii(out, at, ',"text":"');
    const { bytes } = this.texts;
    for (let byte = this.#from; byte < end; byte += 1) {
      const value = bytes[byte] as number;
      const code = ESCAPES[value] as number;
      if (code === 0) {
        out[at++] = value;
        continue;
      }
      out[at++] = BACKSLASH;
      out[at++] = code;
      if (code === 0x75) at = ascii(out, at, value.toString(16).padStart(4, "0"));
    }
    this.#from = end;
    return ascii(out, at, '"}\n');
  }
}

function ascii(out: Uint8Array, from: number, text: string): number {
  for (let at = 0; at < text.length; at += 1) out[from + at] = text.charCodeAt(at);
  return from + text.length;
}

function number(out: Uint8Array, from: number, value: number): number {
  let digits = 1;
  for (let least = 10; least <= value; least *= 10) digits += 1;
  let rest = value;
  for (let at = from + digits - 1; at >= from; at -= 1) {
    out[at] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
  return from + digits;
}

type Numbers = (row: number) => number;

/** How a `grep` is read. All is copied, since the next call writes over that memory. */
const AS_ROWS = {
  texts: (reply: Reply): Column =>
    reply.by((memory, view, at) => {
      const numbers = (from: number, count: number) =>
        new Uint32Array(memory.slice(from, from + count * 4).buffer);
      const [rows = 0, many = 0] = numbers(at, 2);
      const ends = at + 8 + many * 8;
      const body = ends + rows * 4;
      const from = view.getUint32(body, true);
      const bytes = memory.slice(from, from + view.getUint32(body + 4, true));
      const column = { bytes, chunks: numbers(at + 8, many * 2), ends: numbers(ends, rows) };
      return [column, body + 8];
    }),
  matches: (rows: number, paths: string[], texts: Column, files: Numbers, lines: Numbers) => {
    const copied = (column: Numbers) => {
      const numbers = new Uint32Array(rows);
      for (let row = 0; row < rows; row += 1) numbers[row] = column(row);
      return numbers;
    };
    return new MatchRows(rows, paths, texts, copied(files), copied(lines));
  },
};
