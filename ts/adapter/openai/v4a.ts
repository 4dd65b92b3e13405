// V4A, the format of the differences that OpenAI's models write: sections of lines with a sign, found by
// their context and not by numbers. `@@ line` says behind which line a section is to be looked for. The
// work is done in steps, since a difference and a file may be large.

import { Lines } from "../../core/lines.js";
import type { Steps } from "../../core/pace.js";
import { AS_IT_IS, Places, TooFar, trimmed } from "./places.js";

/** A difference that cannot be applied; the message is for the model. */
export class DiffError extends Error {}

const END = "*** End Patch";
const END_OF_FILE = "*** End of File";
const HEADS = [END, "*** Update File:", "*** Delete File:", "*** Add File:"];

const isHead = (line: string) => HEADS.some((head) => line.startsWith(head));

/** Lines between two steps. */
const STEP = 256;

function* linesOf(diff: string): Steps<string[]> {
  const lines: string[] = [];
  let ends = true;
  yield* new Lines(diff).take(0, Number.POSITIVE_INFINITY, (line, feed) => {
    ends = feed;
    lines.push(line.endsWith("\r") ? line.replace(feed ? /\r{1,2}$/ : /\r$/, "") : line);
  });
  if (!ends && lines.at(-1) === "") lines.pop();
  return lines;
}

function* joined(lines: readonly string[], end: string): Steps<string> {
  const parts: string[] = [];
  for (let at = 0; at < lines.length; at += STEP) {
    parts.push(lines.slice(at, at + STEP).join(end));
    yield;
  }
  return parts.join(end);
}

/** The content of a new file: every line has a plus. */
export function* createdBy(diff: string): Steps<string> {
  const content: string[] = [];
  for (const line of yield* linesOf(diff)) {
    if (isHead(line)) break;
    if (!line.startsWith("+")) {
      throw new DiffError(`Each line of a new file must begin with "+": ${line}`);
    }
    content.push(line.slice(1));
    if (content.length % STEP === 0) yield;
  }
  return yield* joined(content, "\n");
}

/** Lines to replace, at a line of the section or of the file. */
interface Change {
  at: number;
  removed: number;
  added: string[];
}

interface Section {
  /** The lines that must be there: those that stay and those that go. */
  context: string[];
  changes: Change[];
  /** Whether it ends where the file ends. */
  last: boolean;
}

/** The sections of a difference, as they are read one after the other. */
class Diff {
  #at = 0;
  readonly #lines: string[];

  constructor(lines: string[]) {
    this.#lines = lines;
  }

  get #line(): string {
    return this.#lines[this.#at] ?? END;
  }

  get line(): string {
    return this.#line;
  }

  get done(): boolean {
    return isHead(this.#line) || this.#line.startsWith(END_OF_FILE);
  }

  /** The lines behind which the next section is; those without a text only separate. */
  *anchors(): Steps<{ count: number; texts: string[] }> {
    const found = { count: 0, texts: [] as string[] };
    for (; this.#line === "@@" || this.#line.startsWith("@@ "); this.#at++) {
      const text = this.#line.slice(3);
      found.count += 1;
      if (text.trim() !== "") found.texts.push(text);
      if (found.count % STEP === 0) yield;
    }
    return found;
  }

  #endsSection(): boolean {
    const line = this.#line;
    if (line.startsWith("@@") || this.done || line === "***") return true;
    if (line.startsWith("***")) throw new DiffError(`This line means nothing: ${line}`);
    return false;
  }

  *section(): Steps<Section> {
    const start = this.#at;
    const section: Section = { context: [], changes: [], last: false };
    let change: Change | undefined;
    let sign = " ";
    for (; this.#at < this.#lines.length && !this.#endsSection(); this.#at++) {
      // A model leaves out the space of an empty line.
      const line = this.#line === "" ? " " : this.#line;
      const before = sign;
      sign = line.charAt(0);
      if (!" +-".includes(sign)) {
        throw new DiffError(`A line must begin with a space, "+" or "-": ${line}`);
      }
      if (sign === " " && before !== " ") change = undefined;
      if (sign !== " " && !change) {
        change = { at: section.context.length, removed: 0, added: [] };
        section.changes.push(change);
      }
      if (sign === "+") change?.added.push(line.slice(1));
      else section.context.push(line.slice(1));
      if (sign === "-" && change) change.removed += 1;
      if (this.#at % STEP === 0) yield;
    }
    if (this.#line === END_OF_FILE) {
      this.#at += 1;
      section.last = true;
    } else if (this.#at === start) {
      throw new DiffError("There is a section without lines.");
    }
    return section;
  }
}

/** Moves behind the line of an anchor. Of several anchors each is behind the one before. */
function* behind(
  places: Places,
  anchor: string,
  from: number,
  { onward, needed }: { onward: boolean; needed: boolean },
): Steps<number> {
  for (const reading of [AS_IT_IS, trimmed]) {
    // A section may begin behind a line that the one before it has passed.
    const at = yield* places.line(anchor, reading, onward ? from : 0);
    if (at >= from) return at + 1;
    if (at >= 0) return from;
  }
  if (needed) throw new DiffError(`The line of an anchor is not in the file: @@ ${anchor}`);
  return from;
}

function* place(places: Places, section: Section, from: number): Steps<number> {
  const { context, last } = section;
  const { lines } = places;
  let found: number | undefined;
  if (last) {
    const end = lines.length > 1 && lines.at(-1) === "" ? lines.length - 1 : lines.length;
    found =
      (yield* places.all(context, Math.max(0, end - context.length), end)) ??
      (yield* places.all(context, Math.min(from, end), end));
  } else found = yield* places.all(context, from, lines.length);
  if (found !== undefined) return found;
  const what = last ? "at the end of the file" : `behind line ${from}`;
  throw new DiffError(`These lines are not ${what}:\n${yield* joined(context, "\n")}`);
}

/** The changes of all sections, at lines of the file. */
function* changesOf(diff: Diff, places: Places): Steps<Change[]> {
  const changes: Change[] = [];
  let cursor = 0;
  while (!diff.done) {
    const { count, texts } = yield* diff.anchors();
    if (count === 0 && cursor > 0) throw new DiffError(`A section begins with @@: ${diff.line}`);
    for (const [at, text] of texts.entries()) {
      cursor = yield* behind(places, text, cursor, { onward: at > 0, needed: count > 1 });
      if (at % STEP === 0) yield;
    }
    const section = yield* diff.section();
    const start = yield* place(places, section, cursor);
    for (const one of section.changes) {
      one.at += start;
      changes.push(one);
    }
    cursor = start + section.context.length;
    yield;
  }
  return changes;
}

/** The lines of a content, and whether all of them end as Windows' do. */
function* read(content: string): Steps<{ lines: string[]; crlf: boolean }> {
  const lines: string[] = [];
  let [feeds, returns] = [0, 0];
  yield* new Lines(content).take(0, Number.POSITIVE_INFINITY, (line, feed) => {
    lines.push(line);
    if (feed) feeds += 1;
    if (feed && line.endsWith("\r")) returns += 1;
  });
  if (feeds === lines.length) lines.push("");
  const crlf = feeds > 0 && feeds === returns;
  for (let at = 0; crlf && at < feeds; at++) {
    lines[at] = (lines[at] as string).slice(0, -1);
    if (at % STEP === 0) yield;
  }
  return { lines, crlf };
}

/** The content of a file after a difference. Line endings stay as they are. */
export function* appliedTo(content: string, text: string): Steps<string> {
  const { lines, crlf } = yield* read(content);
  const diff = yield* linesOf(text);
  diff.push(END);
  let changes: Change[];
  try {
    changes = yield* changesOf(new Diff(diff), new Places(lines));
  } catch (error) {
    if (!(error instanceof TooFar)) throw error;
    throw new DiffError(
      "It would take too long to find the lines of all sections. Use fewer sections.",
    );
  }
  const result: string[] = [];
  let done = 0;
  function* copy(from: readonly string[], start: number, end: number): Steps<void> {
    for (let at = start; at < end; at++) {
      result.push(from[at] as string);
      if (at % STEP === 0) yield;
    }
  }
  for (const { at, removed, added } of changes) {
    if (at < done || at > lines.length) throw new DiffError("Two sections change the same lines.");
    yield* copy(lines, done, at);
    yield* copy(added, 0, added.length);
    done = at + removed;
  }
  yield* copy(lines, done, lines.length);
  return yield* joined(result, crlf ? "\r\n" : "\n");
}
