// Names as a person has to see them before a decision. `src/core/visible.rs` does the same.

/**
 * Characters that show nothing or reorder others: DEL and C1 controls, the soft hyphen, zero-width and
 * directional characters, the byte order mark, tags.
 */
export const UNSEEN =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** The same text with the code of each such character in its place, such as `\u{200b}`. */
export const visible = (text: string): string =>
  text.replace(UNSEEN, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`);

/** A character of a script that needs joiners between its letters, from Arabic to Mongolian. */
const LETTER = "[\u0600-\u109f\u1780-\u18af]";

/** What emoji are made of. */
const PART = "[\u2190-\u2bff\ufe0f\u{1f000}-\u{1faff}]";

/** Joiners where spelling needs them. */
const NEEDED = new RegExp(
  `(?<=${LETTER})[\u200c\u200d](?=${LETTER})|(?<=${PART})\u200d(?=${PART})`,
  "gu",
);

/**
 * The first character of a name that deceives who reads it, and how many are before it; `core/names.rs` has
 * the same rule.
 */
export function deceptive(text: string): { one: string; before: number } | undefined {
  if (text.search(UNSEEN) < 0) return undefined;
  const needed = new Set(Array.from(text.matchAll(NEEDED), ({ index }) => index));
  for (const { 0: one, index } of text.matchAll(UNSEEN)) {
    if (!needed.has(index)) return { one, before: Array.from(text.slice(0, index)).length };
  }
  return undefined;
}

/** The same with the bytes of each in octal, as git writes them in quotes. */
export const octal = (text: string): string =>
  text.replace(UNSEEN, (one) =>
    Array.from(
      new TextEncoder().encode(one),
      (byte) => `\\${byte.toString(8).padStart(3, "0")}`,
    ).join(""),
  );
