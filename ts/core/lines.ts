// The lines of texts, in steps.

import type { Steps } from "./pace.js";

/** Lines between two steps. */
const LINES = 256;

/** Reads lines of a text in their order. */
export class Lines {
  readonly #text: string;
  #line = 0;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /**
   * Reads `count` lines from line `first` on, as far as there are any; `add` gets each without its line
   * feed, and whether it has one. The first line is not above one that was read before.
   */
  *take(first: number, count: number, add: (line: string, feed: boolean) => void): Steps<number> {
    const text = this.#text;
    let taken = 0;
    while (this.#line < first + count && this.#at < text.length) {
      const feed = text.indexOf("\n", this.#at);
      const end = feed < 0 ? text.length : feed;
      if (this.#line >= first) {
        add(text.slice(this.#at, end), feed >= 0);
        taken += 1;
      }
      this.#at = end + 1;
      this.#line += 1;
      if (this.#line % LINES === 0) yield;
    }
    return taken;
  }
}

/** All lines of a text. */
export function* linesOf(text: string, withFeeds: boolean): Steps<string[]> {
  const lines: string[] = [];
  yield* new Lines(text).take(0, Number.POSITIVE_INFINITY, (line, feed) => {
    lines.push(feed && withFeeds ? `${line}\n` : line);
  });
  return lines;
}

/** Adds lines to a text, as few long parts. */
export function* joined(
  lines: readonly string[],
  from: number,
  to: number,
  out: string[],
): Steps<void> {
  for (let at = from; at < to; at += LINES) {
    out.push(lines.slice(at, Math.min(at + LINES, to)).join(""));
    yield;
  }
}
