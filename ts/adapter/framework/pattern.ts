// Patterns of Mastra and VS Code are those of JavaScript, and a backend has those of Rust, where `\w`, `\s` and
// `\b` mean more, and some texts mean something else. A pattern is written anew, with what its parts mean in
// JavaScript. What cannot be said is refused.

/** Why a pattern has no equal. */
export class Unsaid extends Error {}

const WORD = "A-Za-z0-9_";
const SPACE =
  "\\t\\n\\x0B\\x0C\\r \\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}\\x{FEFF}";
const CLASSES: Record<string, string> = { d: "0-9", w: WORD, s: SPACE };
const CONTROLS: Record<string, number> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 };

/** One character as itself. */
function literal(code: number): string {
  if (code >= 0xd800 && code <= 0xdfff) throw new Unsaid("half of a character");
  const text = String.fromCodePoint(code);
  return /[A-Za-z0-9_]/.test(text) ? text : `\\x{${code.toString(16)}}`;
}

/** Reads a pattern that JavaScript accepts. */
class Reader {
  #at = 0;
  constructor(
    readonly pattern: string,
    readonly caseSensitive: boolean,
  ) {}

  #rest(form: RegExp): string | undefined {
    form.lastIndex = this.#at;
    const found = form.exec(this.pattern)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #next(): string {
    const code = this.pattern.codePointAt(this.#at);
    if (code === undefined) throw new Unsaid("it ends too early");
    const text = String.fromCodePoint(code);
    this.#at += text.length;
    this.#plain(code);
    return text;
  }

  #plain(code: number): number {
    // JavaScript ignores case in all scripts, in its own way.
    if (code > 127 && !this.caseSensitive) throw new Unsaid("letters beyond ASCII without case");
    return code;
  }

  /** Behind a backslash: a class by its letter, or the code of a character. */
  #escaped(): string | number {
    const hex = this.#rest(/x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}/y);
    if (hex !== undefined) return this.#plain(Number.parseInt(hex.slice(1), 16));
    const letter = this.#next();
    if (/[DWSdws]/.test(letter)) return letter;
    const octal = letter === "0" && this.#rest(/\d/y) !== undefined;
    if (octal || /[1-9kBcpPxu]/.test(letter)) throw new Unsaid(`\\${letter}`);
    return CONTROLS[letter] ?? (letter.codePointAt(0) as number);
  }

  #negated(): void {
    // Where case is ignored, some letters beyond ASCII are those of ASCII in one of the two only.
    if (!this.caseSensitive) throw new Unsaid("what is left out, without case");
  }

  /** One character of a class, or a class in it by its letter. */
  #member(): string | number {
    const letter = this.#next();
    const one =
      letter !== "\\" ? (letter.codePointAt(0) as number) : this.#rest(/b/y) ? 8 : this.#escaped();
    if (typeof one === "number" && one > 0xffff)
      throw new Unsaid("a class with halves of a character");
    if (typeof one === "string" && !(one in CLASSES)) throw new Unsaid(`[\\${one}]`);
    return one;
  }

  /** Behind `[`. */
  #class(): string {
    let said = "[";
    if (this.#rest(/\^/y)) {
      this.#negated();
      said += "^";
    }
    if (this.#rest(/\]/y)) throw new Unsaid("a class of nothing");
    while (!this.#rest(/\]/y)) {
      const first = this.#member();
      const last = this.#rest(/-(?!\])/y) ? this.#member() : undefined;
      if (last === undefined) {
        said += typeof first === "string" ? CLASSES[first] : literal(first);
      } else {
        if (typeof first === "string" || typeof last === "string") throw new Unsaid("a range");
        said += `${literal(first)}-${literal(last)}`;
      }
    }
    return `${said}]`;
  }

  #group(): string {
    if (this.#rest(/\?:/y)) return "(?:";
    if (this.#rest(/\?<(?![=!])[^>]*>/y)) return "(";
    if (this.#rest(/\?/y)) throw new Unsaid("(?");
    return "(";
  }

  #atom(): string {
    const letter = this.#next();
    if (letter === "[") return this.#class();
    if (letter === "(") return this.#group();
    if (/[.|^$)*+?]/.test(letter)) return letter;
    if (letter === "{") {
      const count = this.#rest(/\d+(?:,\d*)?\}/y);
      return count === undefined ? literal(123) : `{${count}`;
    }
    if (letter !== "\\") return literal(letter.codePointAt(0) as number);
    if (this.#rest(/b/y)) return "(?-u:\\b)";
    const one = this.#escaped();
    if (typeof one === "number") return literal(one);
    const name = one.toLowerCase();
    if (name === one) return `[${CLASSES[name]}]`;
    this.#negated();
    return `[^${CLASSES[name]}]`;
  }

  all(): string {
    let said = "";
    while (this.#at < this.pattern.length) said += this.#atom();
    return said;
  }
}

/**
 * The pattern for a backend: it finds at least the lines in which JavaScript finds the pattern, but for
 * lines that only match between the two halves of a character.
 */
export const backendPattern = (pattern: string, caseSensitive: boolean): string =>
  new Reader(pattern, caseSensitive).all();
