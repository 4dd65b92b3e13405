// The XML of WebDAV: a reader with bounds, and escapes for what is written. A document type is refused, so
// there are no entities but the five of XML and numbers, and nothing outside of the body is ever read. A
// property is kept as it was written, with the namespaces that it needs.

import { BadRequest } from "../wire.js";

/** The namespace of WebDAV. */
export const DAV = "DAV:";
const XML = "http://www.w3.org/XML/1998/namespace";
const XMLNS = "http://www.w3.org/2000/xmlns/";

/** Nested elements of a body. */
const DEEPEST = 32;
/** Letters of the namespaces that an element has from those around it. */
const INHERITED = 4096;
/** Bytes of a body. */
const BYTES = 256 << 10;

/** An element. */
export interface Element {
  ns: string;
  name: string;
  children: Element[];
  text: string;
  /** The element as a document of its own. */
  source: () => string;
}

/** Namespaces by prefix, and `lang` under a name that is no prefix. */
type Scope = Record<string, string>;
const LANG = "xml:lang";

interface Open extends Element {
  tag: string;
  scope: Scope;
  /** Its first tag without the end, with what it has from those around it. */
  opened: () => string;
  /** Where its content begins. */
  from: number;
}

const START =
  "A-Z_a-z\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\u{10000}-\\u{EFFFF}";
const PART = `[${START}][${START}0-9.\\-\\u00B7\\u0300-\\u036F\\u203F\\u2040]*`;
const NAME = `(?:(${PART}):)?(${PART})`;
const OPEN = new RegExp(`<(${NAME})`, "uy");
const ATTRIBUTE = new RegExp(`\\s+(${NAME})\\s*=\\s*("[^"<]*"|'[^'<]*')`, "uy");
const END = /\s*(\/?)>/y;
const CLOSE = new RegExp(`</(${NAME})\\s*>`, "uy");
const HEAD = /^\uFEFF?(?:<\?xml\s[^?<>]*\?>)?/;
const ILLEGAL = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const ILLEGALS = new RegExp(ILLEGAL, "gu");
const REFERENCE = /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([0-9a-fA-F]{1,6}));|&/g;
const NAMED: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

const bad = (why: string) => new BadRequest(`The body must be XML in UTF-8 ${why}`);
const broken = () => bad("whose elements are closed and well formed");

/** A text inside an element or an attribute. */
export function escaped(text: string): string {
  const letters: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text
    .replace(/[&<>"]/g, (letter) => letters[letter] as string)
    .replace(/[\t\n\r]/g, (letter) => `&#${letter.charCodeAt(0)};`)
    .replace(ILLEGALS, "\uFFFD");
}

function plain(text: string): string {
  return text.replace(REFERENCE, (_, name?: string, decimal?: string, hex?: string) => {
    if (name) return NAMED[name] as string;
    const number = decimal ? Number(decimal) : Number.parseInt(hex ?? "", 16);
    if (!(number <= 0x10ffff)) throw bad("with the entities of XML alone");
    const letter = String.fromCodePoint(number);
    if (ILLEGAL.test(letter)) throw bad("without characters that XML does not allow");
    return letter;
  });
}

function decoded(bytes: Uint8Array): string {
  if (bytes.length > BYTES) {
    throw new BadRequest(`The body must be at most ${BYTES} bytes of XML`, "too_large");
  }
  const [first, second] = bytes;
  const wide = first === 0xff && second === 0xfe ? "utf-16le" : undefined;
  const other = first === 0xfe && second === 0xff ? "utf-16be" : undefined;
  try {
    return new TextDecoder(wide ?? other ?? "utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw broken();
  }
}

/** Reads a document. */
export function parseXml(bytes: Uint8Array): Element {
  return new Reader(decoded(bytes)).read();
}

class Reader {
  readonly #text: string;
  readonly #open: Open[] = [];
  #root: Element | undefined;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): Element {
    const text = this.#text;
    if (ILLEGAL.test(text)) throw bad("without characters that XML does not allow");
    this.#at = HEAD.exec(text)?.[0].length ?? 0;
    while (this.#at < text.length) {
      const next = text.indexOf("<", this.#at);
      this.#characters(text.slice(this.#at, next < 0 ? text.length : next), plain);
      if (next < 0) break;
      this.#at = next;
      if (text.startsWith("<!--", next)) this.#comment();
      else if (text.startsWith("<![CDATA[", next)) this.#literal();
      else if (text.startsWith("</", next)) this.#close();
      else if (/^<[!?]/.test(text.slice(next, next + 2))) {
        throw bad("without a document type and processing instructions");
      } else this.#element();
    }
    if (!this.#root || this.#open.length > 0) throw broken();
    return this.#root;
  }

  #characters(text: string, read: (text: string) => string): void {
    const inside = this.#open.at(-1);
    if (!inside && text.trim() !== "") throw broken();
    if (text.includes("]]>")) throw broken();
    if (inside) inside.text += read(text);
  }

  #until(end: string, from: number): string {
    const at = this.#text.indexOf(end, from);
    if (at < 0) throw broken();
    this.#at = at + end.length;
    return this.#text.slice(from, at);
  }

  #comment(): void {
    const text = this.#until("-->", this.#at + 4);
    if (text.includes("--") || text.endsWith("-")) throw broken();
  }

  #literal(): void {
    const text = this.#until("]]>", this.#at + 9);
    if (this.#open.length === 0) throw broken();
    this.#characters(text, (same) => same);
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found) this.#at = pattern.lastIndex;
    return found;
  }

  #element(): void {
    const start = this.#at;
    const [, tag = "", prefix = "", name = ""] = this.#match(OPEN) ?? [];
    const parent = this.#open.at(-1);
    if (name === "" || (!parent && this.#root)) throw broken();
    if (this.#open.length >= DEEPEST) throw bad(`with at most ${DEEPEST} nested elements`);
    const outer: Scope = parent?.scope ?? Object.assign(Object.create(null), { xml: XML });
    const scope: Scope = Object.create(outer);
    const given = this.#attributes(scope);
    const head = this.#text.slice(start, this.#at);
    const isEmpty = this.#match(END)?.[1];
    if (isEmpty === undefined) throw broken();
    const ns = prefix === "" ? scope[""] : scope[prefix];
    if (prefix !== "" && ns === undefined) throw bad("whose prefixes have a namespace");
    const opened = () => head + inherited(scope, given);
    const element: Open = {
      ...{ tag, scope, opened, from: this.#at },
      ...{ ns: ns ?? "", name, children: [], text: "", source: () => `${opened()}/>` },
    };
    if (parent) parent.children.push(element);
    else this.#root = element;
    if (isEmpty === "") this.#open.push(element);
  }

  #close(): void {
    const end = this.#at;
    const tag = this.#match(CLOSE)?.[1];
    const element = this.#open.pop();
    if (!element || element.tag !== tag) throw broken();
    const { opened, from } = element;
    element.source = () => `${opened()}>${this.#text.slice(from, end)}</${tag}>`;
  }

  /** Reads the attributes; returns their names as they are written. */
  #attributes(scope: Scope): Set<string> {
    const given = new Set<string>();
    const named: Array<[prefix: string, name: string]> = [];
    for (;;) {
      const [, full = "", prefix = "", name = "", quoted = ""] = this.#match(ATTRIBUTE) ?? [];
      if (name === "") break;
      if (given.has(full)) throw broken();
      given.add(full);
      const value = plain(quoted.slice(1, -1));
      if (full === "xmlns") scope[""] = value;
      else if (prefix === "xmlns") bind(scope, name, value);
      else if (full === LANG) scope[LANG] = value;
      else if (prefix !== "") named.push([prefix, name]);
    }
    const expanded = named.map(([prefix, name]) => {
      if (scope[prefix] === undefined) throw bad("whose prefixes have a namespace");
      return `${name} ${scope[prefix]}`;
    });
    if (new Set(expanded).size < expanded.length) throw broken();
    return given;
  }
}

function bind(scope: Scope, prefix: string, value: string): void {
  const isFixed = prefix === "xmlns" || value === XMLNS || (prefix === "xml") !== (value === XML);
  if (isFixed || value === "") throw bad("whose prefixes have a namespace");
  scope[prefix] = value;
}

/** What an element has from those around it, as attributes. */
function inherited(scope: Scope, given: Set<string>): string {
  let text = "";
  for (const name in scope) {
    const full = name === LANG ? LANG : name === "" ? "xmlns" : `xmlns:${name}`;
    if (name === "xml" || given.has(full)) continue;
    text += ` ${full}="${escaped(scope[name] as string)}"`;
    if (text.length > INHERITED) throw bad("with fewer namespaces around a property");
  }
  return text;
}
