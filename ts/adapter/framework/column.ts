// Where in a line a pattern is found, in time that is linear in the line: `RegExp` may take
// exponential time for a pattern of a model. What is read is not the pattern itself but what
// `backendPattern` made of it, which has few forms. All states that the pattern can be in are followed at
// once, each with the place where it began, and in the order in which `RegExp` would try them. Characters
// are halves of UTF-16, as for `RegExp`.

import type { Steps } from "../../core/pace.js";

/** Steps of all lines of one search. */
const WORK = 10_000_000;
/** Steps between two pauses. */
const STEP = 20_000;
/** States of a pattern. */
const STATES = 20_000;

type Test = (unit: number) => boolean;

type Node =
  | { kind: "unit"; test: Test }
  | { kind: "at"; sign: string }
  | { kind: "all" | "any"; of: Node[] }
  | { kind: "loop"; of: Node; least: number; most: number; lazy: boolean };

const MEMBER = String.raw`\\x\{[0-9A-Fa-f]+\}|\\x[0-9A-Fa-f]{2}|\\[tnr]|[\w ]`;
const MEMBERS = new RegExp(`(${MEMBER})(?:-(${MEMBER}))?`, "g");
const TOKEN =
  /\\x\{([0-9a-f]+)\}|\[(\^?)([^\]]*)\]|\{(\d+)(,?)(\d*)\}|\(\?-u:\\b\)|\(\?:|[(|)^$.*+?]|\w/g;

const CONTROLS: Record<string, number> = { "\\t": 9, "\\n": 10, "\\r": 13 };

const codeOf = (text: string): number =>
  CONTROLS[text] ??
  (text.startsWith("\\x") ? Number.parseInt(text.replace(/[\\x{}]/g, ""), 16) : text.charCodeAt(0));

const isUpper = (unit: number) => unit >= 65 && unit <= 90;
const isLower = (unit: number) => unit >= 97 && unit <= 122;
const isWord = (unit: number) =>
  isUpper(unit) || isLower(unit) || (unit >= 48 && unit <= 57) || unit === 95;
const isAny: Test = (unit) => unit !== 10 && unit !== 13 && unit !== 0x2028 && unit !== 0x2029;

/** Reads what `backendPattern` made of a pattern. */
class Reader {
  readonly #tokens: RegExpMatchArray[];
  #at = 0;

  constructor(
    said: string,
    readonly caseSensitive: boolean,
  ) {
    this.#tokens = Array.from(said.matchAll(TOKEN));
  }

  #test(ranges: readonly (readonly [number, number])[], negated = false): Test {
    const has: Test = (unit) => ranges.some(([first, last]) => unit >= first && unit <= last);
    const folded: Test = (unit) =>
      has(unit) || (isUpper(unit) && has(unit + 32)) || (isLower(unit) && has(unit - 32));
    const is: Test = (unit) => (this.caseSensitive ? has(unit) : folded(unit)) !== negated;
    const ascii = Array.from({ length: 128 }, (_, unit) => is(unit));
    return (unit) => ascii[unit] ?? is(unit);
  }

  #unit(code: number): Node {
    return { kind: "unit", test: this.#test([[code, code]]) };
  }

  /** The parts of one atom: a character beyond the first plane has two, and a count is for the last. */
  #atom([text, hex, negated, members]: RegExpMatchArray): Node[] {
    if (members !== undefined) {
      const ranges = Array.from(members.matchAll(MEMBERS), ([, first = "", last = first]) => {
        return [codeOf(first), codeOf(last)] as const;
      });
      return [{ kind: "unit", test: this.#test(ranges, negated === "^") }];
    }
    if (text === ".") return [{ kind: "unit", test: isAny }];
    if (text === "(" || text === "(?:") return [this.#choices()];
    if (hex === undefined && !/^\w$/.test(text)) return [{ kind: "at", sign: text }];
    const letter = String.fromCodePoint(codeOf(text));
    return Array.from({ length: letter.length }, (_, at) => this.#unit(letter.charCodeAt(at)));
  }

  #count([text, , , , least, comma, most]: RegExpMatchArray): [number, number] | undefined {
    if (least !== undefined) {
      const last = comma ? Number.POSITIVE_INFINITY : Number(least);
      return [Number(least), most ? Number(most) : last];
    }
    if (text === "*") return [0, Number.POSITIVE_INFINITY];
    if (text === "+") return [1, Number.POSITIVE_INFINITY];
    return text === "?" ? [0, 1] : undefined;
  }

  /** Up to the end of the group. */
  #choices(): Node {
    const choices: Node[] = [];
    let parts: Node[] = [];
    for (;;) {
      const token = this.#tokens[this.#at++];
      if (!token || token[0] === "|" || token[0] === ")") {
        choices.push({ kind: "all", of: parts });
        if (token?.[0] !== "|") return { kind: "any", of: choices };
        parts = [];
        continue;
      }
      parts.push(...this.#atom(token));
      const next = this.#tokens[this.#at];
      const count = next && this.#count(next);
      if (!count) continue;
      this.#at += 1;
      const lazy = this.#tokens[this.#at]?.[0] === "?";
      if (lazy) this.#at += 1;
      const of = parts.pop() as Node;
      parts.push({ kind: "loop", of, least: count[0], most: count[1], lazy });
    }
  }

  read(): Node {
    return this.#choices();
  }
}

/** Whether some loop may have an empty round. `RegExp` makes none, but looks for another one. */
function loopsOverNothing(node: Node): boolean {
  if (node.kind === "loop") return isEmpty(node.of) || loopsOverNothing(node.of);
  return "of" in node && node.of.some(loopsOverNothing);
}

function isEmpty(node: Node): boolean {
  if (node.kind === "all") return node.of.every(isEmpty);
  if (node.kind === "any") return node.of.some(isEmpty);
  return node.kind === "at" || (node.kind === "loop" && (node.least === 0 || isEmpty(node.of)));
}

/** A state: it waits for a character, or for a place, or goes on in one or two ways, `out` first. */
interface State {
  test?: Test;
  sign?: string;
  out: number;
  other: number;
}

const end = 0;

class TooMany extends Error {}

class Machine {
  readonly states: State[] = [{ out: end, other: end }];
  readonly first: number;
  readonly exact: boolean;

  constructor(said: string, caseSensitive: boolean) {
    const node = new Reader(said, caseSensitive).read();
    this.first = this.#from(node, end);
    this.exact = !loopsOverNothing(node);
  }

  #add(state: State): number {
    if (this.states.length > STATES) throw new TooMany();
    return this.states.push(state) - 1;
  }

  /** The state in which a part begins that is followed by `next`. */
  #from(node: Node, next: number): number {
    switch (node.kind) {
      case "unit":
        return this.#add({ test: node.test, out: next, other: end });
      case "at":
        return this.#add({ sign: node.sign, out: next, other: end });
      case "all":
        return node.of.reduceRight((behind, one) => this.#from(one, behind), next);
      case "any":
        return node.of
          .map((one) => this.#from(one, next))
          .reduceRight((other, out) => this.#add({ out, other }));
      case "loop":
        return this.#loop(node, next);
    }
  }

  #loop({ of, least, most, lazy }: Node & { kind: "loop" }, next: number): number {
    const either = (again: number): State =>
      lazy ? { out: next, other: again } : { out: again, other: next };
    let first = next;
    if (most === Number.POSITIVE_INFINITY) {
      first = this.#add(either(end));
      Object.assign(this.states[first] as State, either(this.#from(of, first)));
    } else {
      for (let n = least; n < most; n++) first = this.#add(either(this.#from(of, first)));
    }
    for (let n = 0; n < least; n++) {
      const behind = first;
      first = this.#from(of, behind);
      // It has no states.
      if (first === behind) break;
    }
    return first;
  }
}

/** The states at one place of a line, in the order in which they are tried: those that began first in front. */
class States {
  readonly list: Int32Array;
  readonly begins: Int32Array;
  readonly #seen: Uint8Array;
  size = 0;

  constructor(count: number) {
    this.list = new Int32Array(count);
    this.begins = new Int32Array(count);
    this.#seen = new Uint8Array(count);
  }

  /** Whether it is new. */
  add(state: number, begin: number): boolean {
    if (this.#seen[state]) return false;
    this.#seen[state] = 1;
    this.list[this.size] = state;
    this.begins[this.size] = begin;
    this.size += 1;
    return true;
  }

  clear(): void {
    for (let at = 0; at < this.size; at++) this.#seen[this.list[at] as number] = 0;
    this.size = 0;
  }
}

function isAt(sign: string, text: string, at: number): boolean {
  if (sign === "^") return at === 0;
  if (sign === "$") return at === text.length;
  return isWord(text.charCodeAt(at - 1)) !== isWord(text.charCodeAt(at));
}

/** Where a pattern begins and ends in a line. */
export interface Span {
  start: number;
  end: number;
}

/** Finds where a pattern is in lines. */
export class Columns {
  readonly #machine: Machine | undefined;
  #now: States;
  #next: States;
  #left = WORK;

  constructor(said: string, caseSensitive: boolean) {
    try {
      this.#machine = new Machine(said, caseSensitive);
    } catch (error) {
      if (!(error instanceof TooMany)) throw error;
    }
    const count = this.#machine?.states.length ?? 0;
    [this.#now, this.#next] = [new States(count), new States(count)];
  }

  /** Whether the ends of what is found are those of `RegExp`, and not only where it begins. */
  get exact(): boolean {
    return this.#machine?.exact ?? true;
  }

  /** Whether the work has ended before the lines had: what `find` says since then is of no use. */
  get late(): boolean {
    return !this.#machine || this.#left < 0;
  }

  /** Adds a state and all that it goes on in. */
  #reach(into: States, state: number, begin: number, text: string, at: number): void {
    const { states } = this.#machine as Machine;
    const waiting = [state];
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
      this.#left -= 1;
      if (!into.add(one, begin) || one === end) continue;
      const { test, sign, out, other } = states[one] as State;
      if (test || (sign !== undefined && !isAt(sign, text, at))) continue;
      if (sign === undefined) waiting.push(other);
      waiting.push(out);
    }
  }

  /** One character further. The place of what ends here, before which all that is tried later is of no use. */
  #step(text: string, at: number): Span | undefined {
    const [now, next] = [this.#now, this.#next];
    const { states } = this.#machine as Machine;
    const unit = text.charCodeAt(at);
    for (let n = 0; n < now.size; n++) {
      this.#left -= 1;
      const [one, start] = [now.list[n] as number, now.begins[n] as number];
      if (one === end) return { start, end: at };
      const { test, out } = states[one] as State;
      if (at < text.length && test?.(unit)) this.#reach(next, out, start, text, at + 1);
    }
    return undefined;
  }

  /** The first place in a line, from one on. */
  *find(text: string, from = 0): Steps<Span | undefined> {
    if (!this.#machine) return undefined;
    let found: Span | undefined;
    let pause = this.#left - STEP;
    this.#now.clear();
    for (let at = from; at <= text.length && !this.late; at++) {
      if (!found) this.#reach(this.#now, this.#machine.first, at, text, at);
      found = this.#step(text, at) ?? found;
      this.#now.clear();
      [this.#now, this.#next] = [this.#next, this.#now];
      if (found && this.#now.size === 0) return found;
      if (this.#left > pause) continue;
      yield;
      pause = this.#left - STEP;
    }
    return found;
  }
}
