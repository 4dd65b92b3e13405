// `dryRun` of `edit_file`: what an edit would change, as a unified diff. The edit is made in memory. The rules
// are asked by an edit of the same file with the same result, under a condition that no file meets.

import {
  type BackendProtocolV2,
  type ToolResult,
  type TurnHunk,
  toPatch,
  visibleName,
} from "kitbag";
import { extended } from "../extended.js";
import { same } from "../transfer/tree.js";
import {
  bytesOf,
  changed,
  changedSince,
  type Input,
  pathIn,
  told,
  versionOf,
  wrong,
} from "./structured.js";

/** The property of the tool's input. */
export const DRY_RUN = {
  type: "boolean",
  description: "Change nothing; answer the diff that the edit would make",
} as const;

/** Characters of a diff that are shown. */
const SHOWN = 20_000;

/** Whether a call asks for a dry run, or why it cannot have one: it must not be a change then. */
export function dryRunOf(name: string, input: Input): boolean | string {
  const given = input.dryRun ?? input.dry_run;
  const text = String(given ?? false).toLowerCase();
  if (text !== "true" && text !== "false") {
    return "dryRun must be true or false; nothing was done";
  }
  if (text === "false" || name === "edit_file") return text === "true";
  return `${visibleName(name)} has no dryRun; nothing was done`;
}

/** What an edit would change; its `version` is that of the file as it is. */
export async function dryRun(
  backend: BackendProtocolV2,
  input: Input,
): Promise<ToolResult & { version?: string }> {
  const path = pathIn(input);
  if (path === undefined) return wrong("file_path is missing");
  const before = await bytesOf(backend, path);
  if (before === undefined) {
    const { error } = await backend.readRaw(path);
    return wrong(error ?? `${visibleName(path)} could not be read`);
  }
  const version = await versionOf(before);
  if (input.ifMatch !== undefined && input.ifMatch !== version) return wrong(changedSince(path));
  const after = await changed("edit_file", path, input, before);
  if (typeof after === "string") return wrong(after);
  if (same(before, after)) return wrong("old_string and new_string are the same");
  const refusal = await refusalOf(backend, path, before, after);
  if (refusal !== undefined) return wrong(refusal);
  const texts = [before, after].map((bytes) => new TextDecoder().decode(bytes));
  const hunks = hunksOf(path, texts as [string, string], input);
  const { patch, error } = toPatch([{ path, kind: "changed", before, after, hunks }]);
  return error === undefined ? { ...told(cut(patch)), version } : wrong(error);
}

/** Why the rules refuse an edit. Who is asked by a rule sees that it is a dry run. */
async function refusalOf(
  backend: BackendProtocolV2,
  path: string,
  before: Uint8Array,
  after: Uint8Array,
): Promise<string | undefined> {
  const mark = new TextEncoder().encode(`\n[dry run ${crypto.randomUUID()}]`);
  const never = new Uint8Array(before.length + mark.length);
  never.set(before);
  never.set(mark, before.length);
  const { error, code } = await extended(backend).edit(path, never, after);
  // Backends that are not kitbag's have no condition, and answer so behind all rules.
  return code === "conflict" || code === "unsupported" ? undefined : error;
}

/** What was replaced by what, with the line endings that were used, and the texts around. */
function spansOf([before, after]: [string, string], input: Input) {
  const [old, fresh] = [input.old_string, input.new_string].map((text) => String(text ?? ""));
  const lf = (text = "") => text.replaceAll("\r\n", "\n");
  const crlf = (text = "") => lf(text).replaceAll("\n", "\r\n");
  for (const ends of [(text = "") => text, crlf, lf]) {
    const [from, to] = [ends(old), ends(fresh)];
    const around = from === "" ? [] : before.split(from);
    if (around.length > 1 && around.join(to) === after) return { from, to, around };
  }
  // Another way of line endings: all from the first difference to the last.
  let first = 0;
  const shorter = Math.min(before.length, after.length);
  while (first < shorter && before[first] === after[first]) first += 1;
  let rest = 0;
  while (rest < shorter - first && before.at(-1 - rest) === after.at(-1 - rest)) rest += 1;
  const middle = (text: string) => text.slice(first, text.length - rest);
  const around = [before.slice(0, first), before.slice(before.length - rest)];
  return { from: middle(before), to: middle(after), around };
}

/** Counts the lines of a text up to places in it, which come in their order. */
class Counter {
  readonly lines: number;
  #at = 0;
  #line = 0;

  constructor(readonly text: string) {
    this.lines = text.split("\n").length - (text === "" || text.endsWith("\n") ? 1 : 0);
  }

  lineAt(place: number): number {
    for (;;) {
      const feed = this.text.indexOf("\n", this.#at);
      if (feed < 0 || feed >= place) return this.#line;
      this.#at = feed + 1;
      this.#line += 1;
    }
  }

  begins(place: number): boolean {
    return place === 0 || this.text[place - 1] === "\n";
  }
}

/** The lines that an edit replaces. */
function hunksOf(path: string, texts: [string, string], input: Input): TurnHunk[] {
  const { from, to, around } = spansOf(texts, input);
  const [old, fresh] = [new Counter(texts[0]), new Counter(texts[1])];
  const ranges: Array<{ old: [number, number]; fresh: [number, number] }> = [];
  let [at, now] = [0, 0];
  for (const part of around.slice(0, -1)) {
    at += part.length;
    now += part.length;
    const starts = [old.lineAt(at), fresh.lineAt(now)] as const;
    at += from.length;
    now += to.length;
    // Unless lines begin on both sides behind it, the rest of the last line belongs to it.
    const rest = old.begins(at) && fresh.begins(now) ? 0 : 1;
    const oldEnd = Math.min(old.lineAt(at) + rest, old.lines);
    const freshEnd = Math.min(fresh.lineAt(now) + rest, fresh.lines);
    const last = ranges.at(-1);
    if (last && starts[0] < last.old[1]) {
      last.old[1] = oldEnd;
      last.fresh[1] = freshEnd;
    } else ranges.push({ old: [starts[0], oldEnd], fresh: [starts[1], freshEnd] });
  }
  const start = ([first, end]: [number, number]) => (end > first ? first + 1 : first);
  return ranges.map((range) => ({
    id: "",
    path,
    lines: [],
    oldStart: start(range.old),
    oldLines: range.old[1] - range.old[0],
    newStart: start(range.fresh),
    newLines: range.fresh[1] - range.fresh[0],
  }));
}

/** The first lines of a long diff. */
function cut(patch: string): string {
  if (patch.length <= SHOWN) return patch;
  const end = patch.lastIndexOf("\n", SHOWN) + 1;
  return `${patch.slice(0, end || SHOWN)}\n[The diff goes on; ${patch.length - (end || SHOWN)} characters are not shown]`;
}
