// Where lines are in a file, in time that is linear for each search: lines are numbers, equal ones the
// same, and a sequence of them is found as Knuth, Morris and Pratt find a text.

import type { Steps } from "../../core/pace.js";

/** Lines between two steps. */
const STEP = 256;
/** Lines of the file that all searches of one difference compare. */
const COMPARED = 20_000_000;

/** The searches compared too many lines. */
export class TooFar extends Error {}

export type Reading = (line: string) => string;

export const AS_IT_IS: Reading = (line) => line;
export const trimmed: Reading = (line) => line.trim();
/** How much of white space counts, from all to none at either end. */
const READINGS: Reading[] = [AS_IT_IS, (line) => line.trimEnd(), trimmed];

/** The lines of a file under one reading. */
class Numbered {
  readonly #numbers = new Map<string, number>();
  readonly numbers: Int32Array;
  /** The places of all lines, those of equal lines together and in order. */
  readonly #places: Int32Array;
  /** Where the places of each number begin. */
  #begins = new Int32Array();

  constructor(
    readonly lines: readonly string[],
    readonly reading: Reading,
  ) {
    this.numbers = new Int32Array(lines.length);
    this.#places = new Int32Array(lines.length);
  }

  *read(): Steps<this> {
    const { lines, reading, numbers } = this;
    for (let at = 0; at < lines.length; at++) {
      const line = reading(lines[at] as string);
      const known = this.#numbers.get(line) ?? this.#numbers.size;
      if (known === this.#numbers.size) this.#numbers.set(line, known);
      numbers[at] = known;
      if (at % STEP === 0) yield;
    }
    const begins = new Int32Array(this.#numbers.size + 1);
    const add = (to: Int32Array, at: number, more: number) => {
      const before = to[at] as number;
      to[at] = before + more;
      return before;
    };
    for (let at = 0; at < lines.length; at++) add(begins, (numbers[at] as number) + 1, 1);
    yield;
    for (let one = 1; one < begins.length; one++) add(begins, one, begins[one - 1] as number);
    yield;
    const next = begins.slice();
    for (let at = 0; at < lines.length; at++) {
      this.#places[add(next, numbers[at] as number, 1)] = at;
      if (at % STEP === 0) yield;
    }
    this.#begins = begins;
    return this;
  }

  /** The number of a line; -1 if the file does not have it. */
  numberOf(line: string): number {
    return this.#numbers.get(this.reading(line)) ?? -1;
  }

  /** The first place of a number at or behind `from`; -1 if there is none. */
  next(number: number, from: number): number {
    if (number < 0) return -1;
    let low = this.#begins[number] as number;
    const end = this.#begins[number + 1] as number;
    for (let high = end; low < high; ) {
      const middle = (low + high) >> 1;
      if ((this.#places[middle] as number) < from) low = middle + 1;
      else high = middle;
    }
    return low < end ? (this.#places[low] as number) : -1;
  }
}

/** How far to go back in `wanted` where a line behind `n` lines that fit does not. */
function* fallbacks(wanted: Int32Array): Steps<Int32Array> {
  const back = new Int32Array(wanted.length);
  let fits = 0;
  for (let at = 1; at < wanted.length; at++) {
    while (fits > 0 && wanted[at] !== wanted[fits]) fits = back[fits - 1] as number;
    if (wanted[at] === wanted[fits]) fits += 1;
    back[at] = fits;
    if (at % STEP === 0) yield;
  }
  return back;
}

/** The lines of a file, to be searched. */
export class Places {
  readonly #read = new Map<Reading, Numbered>();
  #left = COMPARED;

  constructor(readonly lines: readonly string[]) {}

  *#by(reading: Reading): Steps<Numbered> {
    let known = this.#read.get(reading);
    if (!known) {
      known = yield* new Numbered(this.lines, reading).read();
      this.#read.set(reading, known);
    }
    return known;
  }

  /** The first place of a line at or behind `from`; -1 if there is none. */
  *line(line: string, reading: Reading, from: number): Steps<number> {
    const file = yield* this.#by(reading);
    return file.next(file.numberOf(line), from);
  }

  /** The first place of lines at or behind `from` and before `end`; undefined if there is none. */
  *all(wanted: readonly string[], from: number, end: number): Steps<number | undefined> {
    if (wanted.length === 0) return from;
    for (const reading of READINGS) {
      const at = yield* this.#first(yield* this.#by(reading), wanted, from, end);
      if (at !== undefined) return at;
    }
    return undefined;
  }

  *#first(
    file: Numbered,
    lines: readonly string[],
    from: number,
    end: number,
  ): Steps<number | undefined> {
    if (from + lines.length > end) return undefined;
    const wanted = new Int32Array(lines.length);
    for (let n = 0; n < lines.length; n++) {
      wanted[n] = file.numberOf(lines[n] as string);
      if (file.next(wanted[n] as number, from + n) < 0) return undefined;
      if (n % STEP === 0) yield;
    }
    const back = yield* fallbacks(wanted);
    let fits = 0;
    for (let at = file.next(wanted[0] as number, from); at < end; at++) {
      const number = file.numbers[at];
      while (fits > 0 && number !== wanted[fits]) fits = back[fits - 1] as number;
      if (number === wanted[fits]) fits += 1;
      if (fits === wanted.length) return at + 1 - fits;
      if (at % STEP !== 0) continue;
      this.#left -= STEP;
      if (this.#left < 0) throw new TooFar();
      yield;
    }
    return undefined;
  }
}
