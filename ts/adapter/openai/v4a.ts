// V4A, the format of the differences that OpenAI's models write: sections of lines with a sign, found by
// their context and not by numbers. `@@ line` says behind which line a section is to be looked for.

/** A difference that cannot be applied; the message is for the model. */
export class DiffError extends Error {}

const END = "*** End Patch";
const END_OF_FILE = "*** End of File";
const HEADS = [END, "*** Update File:", "*** Delete File:", "*** Add File:"];

const isHead = (line: string) => HEADS.some((head) => line.startsWith(head));

function linesOf(diff: string): string[] {
  const lines = diff.split(/\r?\n/).map((line) => line.replace(/\r$/, ""));
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** The content of a new file: every line has a plus. */
export function createdBy(diff: string): string {
  const content: string[] = [];
  for (const line of linesOf(diff)) {
    if (isHead(line)) break;
    if (!line.startsWith("+")) {
      throw new DiffError(`Each line of a new file must begin with "+": ${line}`);
    }
    content.push(line.slice(1));
  }
  return content.join("\n");
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

  constructor(diff: string) {
    this.#lines = [...linesOf(diff), END];
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
  anchors(): { count: number; texts: string[] } {
    const found = { count: 0, texts: [] as string[] };
    for (; this.#line === "@@" || this.#line.startsWith("@@ "); this.#at++) {
      const text = this.#line.slice(3);
      found.count += 1;
      if (text.trim() !== "") found.texts.push(text);
    }
    return found;
  }

  #endsSection(): boolean {
    const line = this.#line;
    if (line.startsWith("@@") || this.done || line === "***") return true;
    if (line.startsWith("***")) throw new DiffError(`This line means nothing: ${line}`);
    return false;
  }

  section(): Section {
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

type Reading = (line: string) => string;

const AS_IT_IS: Reading = (line) => line;
const trimmed: Reading = (line) => line.trim();
/** How much of white space counts, from all to none at either end. */
const READINGS: Reading[] = [AS_IT_IS, (line) => line.trimEnd(), trimmed];

/** The first place at or behind `from` with these lines; undefined if there is none. */
function placeOf(lines: readonly string[], wanted: readonly string[], from: number) {
  if (wanted.length === 0) return from;
  for (const reading of READINGS) {
    const read = wanted.map(reading);
    for (let at = from; at + read.length <= lines.length; at++) {
      if (read.every((line, behind) => reading(lines[at + behind] as string) === line)) return at;
    }
  }
  return undefined;
}

/** Moves behind the line of an anchor. Of several anchors each is behind the one before. */
function behind(
  lines: readonly string[],
  anchor: string,
  from: number,
  { onward, needed }: { onward: boolean; needed: boolean },
): number {
  for (const reading of [AS_IT_IS, trimmed]) {
    const wanted = reading(anchor);
    const has = (line: string) => reading(line) === wanted;
    // A section may begin behind a line that the one before it has passed.
    if (!onward && lines.slice(0, from).some(has)) return from;
    const at = lines.findIndex((line, place) => place >= from && has(line));
    if (at >= 0) return at + 1;
  }
  if (needed) throw new DiffError(`The line of an anchor is not in the file: @@ ${anchor}`);
  return from;
}

function place(lines: readonly string[], section: Section, from: number): number {
  const { context, last } = section;
  let found: number | undefined;
  if (last) {
    const whole = lines.length > 1 && lines.at(-1) === "" ? lines.slice(0, -1) : lines;
    found =
      placeOf(whole, context, Math.max(0, whole.length - context.length)) ??
      placeOf(whole, context, Math.min(from, whole.length));
  } else found = placeOf(lines, context, from);
  if (found !== undefined) return found;
  const what = last ? "at the end of the file" : `behind line ${from}`;
  throw new DiffError(`These lines are not ${what}:\n${context.join("\n")}`);
}

/** The changes of all sections, at lines of the file. */
function changesOf(diff: Diff, lines: readonly string[]): Change[] {
  const changes: Change[] = [];
  let cursor = 0;
  while (!diff.done) {
    const { count, texts } = diff.anchors();
    if (count === 0 && cursor > 0) throw new DiffError(`A section begins with @@: ${diff.line}`);
    for (const [at, text] of texts.entries()) {
      cursor = behind(lines, text, cursor, { onward: at > 0, needed: count > 1 });
    }
    const section = diff.section();
    const start = place(lines, section, cursor);
    changes.push(...section.changes.map((one) => ({ ...one, at: one.at + start })));
    cursor = start + section.context.length;
  }
  return changes;
}

/** The content of a file after a difference. Line endings stay as they are. */
export function appliedTo(content: string, diff: string): string {
  const crlf = content.includes("\n") && !/(?<!\r)\n/.test(content);
  const lines = (crlf ? content.replaceAll("\r\n", "\n") : content).split("\n");
  const result: string[] = [];
  let done = 0;
  for (const { at, removed, added } of changesOf(new Diff(diff), lines)) {
    if (at < done || at > lines.length) throw new DiffError("Two sections change the same lines.");
    result.push(...lines.slice(done, at), ...added);
    done = at + removed;
  }
  return [...result, ...lines.slice(done)].join(crlf ? "\r\n" : "\n");
}
