// Where in a line a pattern is first found, in time that is linear in the line: `RegExp` may take
// exponential time for a pattern of a model. What is read is not the pattern itself but what
// `backendPattern` made of it, which has few forms. All states that the pattern can be in are followed at
// once, each with the place where it began. Characters are halves of UTF-16, as for `RegExp`.

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
  | { kind: "loop"; of: Node; least: number; most: number };

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
      // Whether it takes few or many changes nothing of where it begins.
      if (this.#tokens[this.#at]?.[0] === "?") this.#at += 1;
      const of = parts.pop() as Node;
      parts.push({ kind: "loop", of, least: count[0], most: count[1] });
    }
  }

  read(): Node {
    return this.#choices();
  }
}

/** A state: it waits for a character, or for a place, or goes on in one or two ways. */
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

  constructor(said: string, caseSensitive: boolean) {
    this.first = this.#from(new Reader(said, caseSensitive).read(), end);
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

  #loop({ of, least, most }: Node & { kind: "loop" }, next: number): number {
    let first = next;
    if (most === Number.POSITIVE_INFINITY) {
      first = this.#add({ out: end, other: next });
      (this.states[first] as State).out = this.#from(of, first);
    } else {
      for (let n = least; n < most; n++) {
        first = this.#add({ out: this.#from(of, first), other: next });
      }
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

/** The states at one place of a line, those that began first in front. */
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

/** Finds where a pattern begins in lines. */
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

  /** Adds a state and all that it goes on in. Whether the pattern may end here. */
  #reach(into: States, state: number, begin: number, text: string, at: number): boolean {
    const { states } = this.#machine as Machine;
    const waiting = [state];
    let ends = false;
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
      this.#left -= 1;
      if (!into.add(one, begin)) continue;
      if (one === end) {
        ends = true;
        continue;
      }
      const { test, sign, out, other } = states[one] as State;
      if (test || (sign !== undefined && !isAt(sign, text, at))) continue;
      waiting.push(out);
      if (sign === undefined) waiting.push(other);
    }
    return ends;
  }

  /** The place in a line; -1 if there is none, and 0 if it would take too long to find it. */
  *find(text: string): Steps<number> {
    if (!this.#machine) return 0;
    const { first, states } = this.#machine;
    let found = -1;
    let pause = this.#left - STEP;
    this.#now.clear();
    for (let at = 0; at <= text.length; at++) {
      const [now, next] = [this.#now, this.#next];
      if (found < 0 && this.#reach(now, first, at, text, at)) found = at;
      const unit = text.charCodeAt(at);
      for (let n = 0; n < now.size; n++) {
        const begin = now.begins[n] as number;
        // What began later is of no use.
        if (found >= 0 && begin >= found) break;
        this.#left -= 1;
        const { test, out } = states[now.list[n] as number] as State;
        if (at < text.length && test?.(unit) && this.#reach(next, out, begin, text, at + 1)) {
          found = begin;
        }
      }
      if (found >= 0 && next.size === 0) return found;
      now.clear();
      [this.#now, this.#next] = [next, now];
      if (this.#left < 0) return 0;
      if (this.#left > pause) continue;
      yield;
      pause = this.#left - STEP;
    }
    return found;
  }
}
