// Names as a person has to see them before a decision. `src/core/visible.rs` knows the characters: those
// that show nothing, that reorder others, or that look like a space. Adapters import `visibleName` from the package:
// they have no WebAssembly of their own.

import { enter, glue } from "./instance.js";

/** What only a text with such a character has: nearly all names are plain ASCII. */
const SUSPECT = /[\0-\x08\x0b-\x1f\x7f-\uffff]/;

/** The same text with what `write` makes of each such character in its place. */
function shown(text: string, write: (one: string) => string): string {
  if (!SUSPECT.test(text)) return text;
  const marked = Array.from(enter(() => glue.names_marked(text)));
  return Array.from(text, (one, at) =>
    one === marked[at] && one !== "\0" ? one : write(one),
  ).join("");
}

/**
 * A text as a person has to see it before a decision: characters that show nothing, that reorder others or that
 * look like a space are in it by their codes, such as `\u{200b}`, so that no name looks like another one.
 */
export const visible = (text: string): string =>
  shown(text, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`);

/** Why no file may be created under a path; undefined if its name is what it seems to be. */
export const deception = (path: string): string | undefined =>
  SUSPECT.test(path) ? enter(() => glue.names_deception(path)) : undefined;

/** The same with the bytes of each in octal, as git writes them in quotes. */
export const octal = (text: string): string =>
  shown(text, (one) =>
    Array.from(
      new TextEncoder().encode(one),
      (byte) => `\\${byte.toString(8).padStart(3, "0")}`,
    ).join(""),
  );
