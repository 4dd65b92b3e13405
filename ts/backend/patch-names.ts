// Names of files in patches, in the form of git: a name with a quote, a backslash or a character that
// cannot be seen is in quotes, with escapes as in C.

import { octal } from "../core/visible.js";

/** A patch that cannot be read, or does not fit. */
export class BadPatch extends Error {}

const octet = (byte: number) => `\\${byte.toString(8).padStart(3, "0")}`;

/** A path in a patch. */
export function named(prefix: string, path: string): string {
  const name = `${prefix}${path}`;
  // As git does, which a person then sees.
  const escaped = name.replace(/["\\]/g, "\\$&");
  const quoted = octal(escaped.replace(/[\0-\x1f]/g, (one) => octet(one.charCodeAt(0))));
  return quoted === name ? name : `"${quoted}"`;
}

/** The longest path in a patch: 1,024 bytes, each in four characters, and what is around it. */
const NAME = 4_200;

const QUOTED = /^"(?:[^"\\]|\\[abtnvfr"\\]|\\[0-3][0-7]{2})*"/;
const CONTROLS: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };

/** The name in quotes at the beginning of a text, and what is behind it; undefined if there is none. */
function unquoted(text: string): { name: string; behind: string } | undefined {
  const quoted = QUOTED.exec(text)?.[0];
  if (quoted === undefined) return undefined;
  const bytes: number[] = [];
  for (const [, code, letter, plain = ""] of quoted
    .slice(1, -1)
    .matchAll(/\\(\d{3})|\\(.)|([^\\]+)/gs)) {
    const control = letter && CONTROLS[letter];
    if (code) bytes.push(Number.parseInt(code, 8));
    else if (control) bytes.push(control);
    else for (const byte of new TextEncoder().encode(letter ?? plain)) bytes.push(byte);
  }
  try {
    const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return { name: utf8.decode(Uint8Array.from(bytes)), behind: text.slice(quoted.length) };
  } catch {
    return undefined;
  }
}

function checkLength(text: string, most: number): void {
  if (text.length > most) throw new BadPatch("it has a path that is longer than any path can be");
}

/** A name of a patch: without its quotes and what is behind a tab. */
export function nameOf(text: string): string {
  const tab = text.indexOf("\t");
  const written = (tab < 0 ? text : text.slice(0, tab)).replace(/\r$/, "");
  checkLength(written, NAME);
  if (!written.startsWith('"')) return written;
  const read = unquoted(written);
  if (read?.behind !== "") throw new BadPatch(`this is no name in quotes: ${written}`);
  return read.name;
}

/** The path of a `---` or `+++` line; undefined for no file. */
export function pathOf(text: string, prefix: string): string | undefined {
  if (/^\/dev\/null\r?(\t|$)/.test(text)) return undefined;
  const name = nameOf(text);
  return `/${name.startsWith(prefix) ? name.slice(prefix.length) : name}`;
}

/** Both names of a `diff --git` line; undefined if it can be read in no way, or in several. */
function pairOf(names: string): [string, string] | undefined {
  if (names.startsWith('"')) {
    const first = unquoted(names);
    if (!first?.behind.startsWith(" ")) return undefined;
    const rest = first.behind.slice(1);
    if (!rest.startsWith('"')) return [first.name, rest];
    const second = unquoted(rest);
    return second?.behind === "" ? [first.name, second.name] : undefined;
  }
  if (names.endsWith('"')) {
    // A name without quotes around it has none inside.
    const at = names.indexOf(' "');
    const second = at < 0 ? undefined : unquoted(names.slice(at + 1));
    return second?.behind === "" ? [names.slice(0, at), second.name] : undefined;
  }
  // Only names of the same length can be the same.
  const half = (names.length - 1) / 2;
  return names[half] === " " ? [names.slice(0, half), names.slice(half + 1)] : undefined;
}

/** The path in a `diff --git` line, if both of its names are the same: `a/x b/x`, or `x x`. */
export function gitPath(line: string): string | undefined {
  const names = line.slice("diff --git ".length).replace(/\r$/, "");
  checkLength(names, 2 * NAME);
  const [first, second] = pairOf(names) ?? [];
  if (first === undefined || second === undefined) return undefined;
  const hasPrefix = first[1] === "/" && second[1] === "/";
  if (!hasPrefix) return first === second ? `/${first}` : undefined;
  // `a/x a/x` may be the file x or the file a/x.
  const [path, other] = [first.slice(2), second.slice(2)];
  return first !== second && path === other ? `/${path}` : undefined;
}
