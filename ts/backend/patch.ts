// toPatch and applyPatch: the changes of a turn as a unified patch, in the form of git.

import { NOT_BEGUN } from "../core/call.js";
import { callOptions, optionNames, refused } from "../core/checks.js";
import { joined, Lines, linesOf } from "../core/lines.js";
import { atOnce, Pace, type Steps, unlessGivenUp } from "../core/pace.js";
import type { AnyBackend } from "../foreign/adapt.js";
import type { CallOptions, ErrorText, Failure, Result } from "../types.js";
import { BadPatch, gitPath, named, nameOf, pathOf } from "./patch-names.js";
import {
  begin,
  type CommitResult,
  type Turn,
  type TurnChange,
  type TurnHunk,
  type TurnOptions,
} from "./turn.js";

/** The result of `toPatch`. */
export type PatchResult = Result<{
  /** The patch; empty if there are no changes. */
  patch: string;
}>;

/** Lines around a hunk that are shown, as git does. */
const CONTEXT = 3;

const NO_END = "\\ No newline at end of file";

function failed(error: string, code: Failure["code"]): Failure {
  return { error: error as ErrorText, code };
}

/** The path behind `---` and `+++`, where a tab ends one with spaces. */
function header(prefix: string, path: string | undefined): string {
  if (path === undefined) return "/dev/null";
  const name = named(prefix, path);
  return name.includes(" ") ? `${name}\t` : name;
}

/** The text of a file; `undefined` if it is not UTF-8. */
function textOf(bytes: Uint8Array | null): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      bytes ?? new Uint8Array(),
    );
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Where a hunk begins, from 0. */
const from = (start: number, count: number) => (count > 0 ? start - 1 : start);

/** Hunks that are so close that their context meets. */
function grouped(hunks: readonly TurnHunk[]): TurnHunk[][] {
  const groups: TurnHunk[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const hunk of hunks) {
    const start = from(hunk.oldStart, hunk.oldLines);
    if (start - end <= 2 * CONTEXT) groups.at(-1)?.push(hunk);
    else groups.push([hunk]);
    end = start + hunk.oldLines;
  }
  return groups;
}

function range(start: number, count: number): string {
  return `${count > 0 ? start + 1 : start},${count}`;
}

/** The hunks of a change, with the lines around them. */
function* body({ hunks }: TurnChange, before: string, after: string, out: string[]): Steps<void> {
  const [old, fresh] = [new Lines(before), new Lines(after)];
  for (const group of grouped(hunks)) {
    const [first] = group as [TurnHunk];
    const last = group.at(-1) as TurnHunk;
    const begins = from(first.oldStart, first.oldLines);
    const ends = from(last.oldStart, last.oldLines) + last.oldLines;
    const above = Math.min(CONTEXT, begins);
    const parts: string[] = [];
    const adding = (mark: string) => (line: string, feed: boolean) => {
      parts.push(`${mark}${line}\n`);
      if (!feed) parts.push(`${NO_END}\n`);
    };
    let at = begins - above;
    for (const hunk of group) {
      const start = from(hunk.oldStart, hunk.oldLines);
      yield* old.take(at, start - at, adding(" "));
      yield* old.take(start, hunk.oldLines, adding("-"));
      yield* fresh.take(from(hunk.newStart, hunk.newLines), hunk.newLines, adding("+"));
      at = start + hunk.oldLines;
      yield;
    }
    const below = yield* old.take(ends, CONTEXT, adding(" "));
    const freshBegins = from(first.newStart, first.newLines) - above;
    const freshEnds = from(last.newStart, last.newLines) + last.newLines + below;
    const count = ends + below - begins + above;
    out.push(
      `@@ -${range(begins - above, count)} +${range(freshBegins, freshEnds - freshBegins)} @@\n`,
    );
    yield* joined(parts, 0, parts.length, out);
  }
}

/** The work of `toPatch`. */
export function* patchOf(changes: readonly TurnChange[]): Steps<PatchResult> {
  const out: string[] = [];
  for (const change of changes) {
    const { path, kind } = change;
    const source = change.from ?? path;
    out.push(`diff --git ${named("a", source)} ${named("b", path)}\n`);
    yield;
    if (kind === "moved") {
      const bare = (full: string) => named("", full.slice(1));
      out.push(`similarity index 100%\nrename from ${bare(source)}\nrename to ${bare(path)}\n`);
      continue;
    }
    const old = textOf(change.before);
    const fresh = textOf(change.after);
    if (old === undefined || fresh === undefined) {
      return failed(
        `'${path}' is binary, and a patch has text only. Leave it out of the changes, and copy its bytes.`,
        "unsupported",
      );
    }
    if (kind === "created") out.push("new file mode 100644\n");
    if (kind === "deleted") out.push("deleted file mode 100644\n");
    if (change.hunks.length === 0) continue;
    out.push(`--- ${header("a", kind === "created" ? undefined : path)}\n`);
    out.push(`+++ ${header("b", kind === "deleted" ? undefined : path)}\n`);
    yield* body(change, old, fresh, out);
  }
  return { patch: out.join("") };
}

/**
 * Returns the changes of a turn as a patch that `git apply` takes, with the tree's root as the
 * folder. Binary files fail with `unsupported`, unless they were only moved.
 */
export function toPatch(changes: readonly TurnChange[]): PatchResult {
  return atOnce(patchOf(changes));
}

/** A hunk of a patch: its lines before and after, with their line feeds. */
interface PatchHunk {
  at: number;
  old: string[];
  kept: string[];
}

/** One file of a patch, from a line on. */
interface PatchFile {
  line: number;
  from?: string;
  to?: string;
  hunks: PatchHunk[];
}

const FROM = "rename from ";
const TO = "rename to ";

function* parsed(patch: string): Steps<PatchFile[]> {
  const lines = yield* linesOf(patch, false);
  if (patch === "" || patch.endsWith("\n")) lines.push("");
  const files: PatchFile[] = [];
  let file: PatchFile | undefined;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string;
    const next = lines[at + 1];
    yield;
    if (line.startsWith("diff --git ")) {
      const path = gitPath(line);
      file = { line: at + 1, hunks: [], ...(path !== undefined && { from: path, to: path }) };
      files.push(file);
    } else if (line.startsWith("--- ") && next?.startsWith("+++ ")) {
      if (!file || file.hunks.length > 0) {
        file = { line: at + 1, hunks: [] };
        files.push(file);
      }
      file.from = pathOf(line.slice(4), "a/");
      file.to = pathOf(next.slice(4), "b/");
      at += 1;
    } else if (file?.hunks.length === 0 && line.startsWith(FROM) && next?.startsWith(TO)) {
      file.from = `/${nameOf(line.slice(FROM.length))}`;
      file.to = `/${nameOf(next.slice(TO.length))}`;
      at += 1;
    } else if (line.startsWith("@@ ")) {
      const [, start, count, fresh] = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line) ?? [];
      if (!file || start === undefined) throw new BadPatch(`line ${at + 1} is no hunk: ${line}`);
      let [left, right] = [Number(count ?? 1), Number(fresh ?? 1)];
      const hunk: PatchHunk = {
        at: left > 0 ? Number(start) - 1 : Number(start),
        old: [],
        kept: [],
      };
      while (left > 0 || right > 0) {
        at += 1;
        const one = lines[at];
        const mark = one === "" ? " " : one?.[0];
        if (one === undefined || !mark || !" +-\\".includes(mark)) {
          throw new BadPatch(`line ${at + 1} is not part of the hunk that it is in`);
        }
        if (mark === "\\") continue;
        if (mark !== "+") left -= 1;
        if (mark !== "-") right -= 1;
        const ends = lines[at + 1]?.startsWith("\\") ? "" : "\n";
        const text = `${one.slice(1)}${ends}`;
        if (mark !== "+") hunk.old.push(text);
        if (mark !== "-") hunk.kept.push(text);
        if (at % STEP === 0) yield;
      }
      file.hunks.push(hunk);
    } else if (file) {
      // What is behind the hunks may be the text of a letter.
      if (file.hunks.length === 0) {
        if (line.startsWith("new file mode")) file.from = undefined;
        if (line.startsWith("deleted file mode")) file.to = undefined;
        if (line.startsWith(FROM) || line.startsWith(TO)) {
          throw new BadPatch(`line ${at + 1} is half of a rename`);
        }
      }
      if (/^(GIT binary patch|Binary files )/.test(line)) {
        throw new BadPatch(`line ${at + 1} is a binary patch, which applyPatch does not read`);
      }
      if (line.startsWith("copy from ")) {
        throw new BadPatch(`line ${at + 1} is a copy, which applyPatch does not read`);
      }
    }
  }
  const vague = files.find(({ from, to }) => from === undefined && to === undefined);
  if (vague) {
    const why = "is about a file whose name cannot be told from it";
    throw new BadPatch(`line ${vague.line} ${why}: ${lines[vague.line - 1]?.slice(0, 200)}`);
  }
  return files;
}

/** Lines that are compared to find the places of all hunks of one file. */
const COMPARED = 10_000_000;
/** Lines between two steps. */
const STEP = 256;

/** Finds where the hunks of one file fit. */
class Places {
  readonly #lines: readonly string[];
  /** Whether a line is changed by a hunk already. */
  readonly #taken: Uint8Array;
  #left = COMPARED;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
    this.#taken = new Uint8Array(lines.length);
  }

  #same(at: number, line: string): boolean {
    this.#left -= 1 + (line.length >> 6);
    return !this.#taken[at] && this.#lines[at] === line;
  }

  *#fits(at: number, old: readonly string[]): Steps<boolean> {
    if (at < 0 || at + old.length > this.#lines.length) return false;
    for (let n = 0; n < old.length; n++) {
      if (!this.#same(at + n, old[n] as string)) return false;
      if (n % STEP === STEP - 1) yield;
    }
    return true;
  }

  /** The place nearest to a line; -1 if there is none, `undefined` if that takes too long. */
  *take(old: readonly string[], wanted: number): Steps<number | undefined> {
    const [first] = old;
    let next = this.#left;
    for (let off = 0; off <= this.#lines.length; off++) {
      for (const at of [wanted + off, wanted - off]) {
        // Most places differ in the first line.
        if (first !== undefined && !this.#same(at, first)) continue;
        if (!(yield* this.#fits(at, old))) continue;
        this.#taken.fill(1, at, at + old.length);
        return at;
      }
      this.#left -= 1;
      if (this.#left < 0) return undefined;
      if (this.#left > next) continue;
      yield;
      next = this.#left - STEP;
    }
    return -1;
  }
}

function* patched(path: string, text: string, hunks: readonly PatchHunk[]): Steps<string> {
  const lines = yield* linesOf(text, true);
  const places = new Places(lines);
  const found: { at: number; old: number; kept: string[] }[] = [];
  let shift = 0;
  for (const hunk of hunks) {
    const at = yield* places.take(hunk.old, hunk.at + shift);
    if (at === undefined) {
      throw new BadPatch(`the hunks are far from their lines in '${path}'; make the patch again`);
    }
    if (at < 0) {
      throw new BadPatch(`the lines of the hunk at line ${hunk.at + 1} are not in '${path}'`);
    }
    found.push({ at, old: hunk.old.length, kept: hunk.kept });
    shift = at - hunk.at;
    yield;
  }
  const out: string[] = [];
  let from = 0;
  for (const { at, old, kept } of found.sort((a, b) => a.at - b.at)) {
    if (at < from) throw new BadPatch(`two hunks change the same lines of '${path}'`);
    yield* joined(lines, from, at, out);
    yield* joined(kept, 0, kept.length, out);
    from = at + old;
  }
  yield* joined(lines, from, lines.length, out);
  return out.join("");
}

/**
 * Applies a patch, as `git diff` or `toPatch` write it: all of it, or nothing. Fails with `no_match`
 * if the files do not have the lines of the patch.
 *
 * @example
 * const { patch } = toPatch(changes);
 * const done = await applyPatch(otherBackend, patch);
 */
export async function applyPatch(
  backend: AnyBackend,
  patch: string,
  options?: CallOptions & Pick<TurnOptions, "by">,
): Promise<CommitResult> {
  if (typeof patch !== "string") return failed("patch must be a string", "invalid_argument");
  let pace = new Pace();
  const refusal = refused(() => {
    optionNames(["by"], options);
    pace = new Pace(callOptions(options));
  });
  if (refusal) return refusal;
  if (options?.signal?.aborted) return { ...NOT_BEGUN };
  return unlessGivenUp(applied(begin(backend, { by: options?.by }), patch, pace));
}

async function applied(turn: Turn, patch: string, pace: Pace): Promise<CommitResult> {
  let files: PatchFile[];
  try {
    files = await pace.run(parsed(patch));
  } catch (error) {
    if (!(error instanceof BadPatch)) throw error;
    return failed(`The patch cannot be read: ${error.message}`, "invalid_argument");
  }
  for (const file of files) {
    const refusal = await made(turn, file, pace);
    if (refusal) return refusal;
    await pace.rest();
  }
  return turn.commit(pace.left);
}

const NOTHING = "; nothing was changed";

/** Makes the changes of one file in a turn. */
async function made(turn: Turn, file: PatchFile, pace: Pace): Promise<Failure | undefined> {
  const { from: source, to: target, hunks } = file;
  let text = "";
  let was: Uint8Array = new Uint8Array();
  let bytes = was;
  if (source !== undefined) {
    const [read] = await turn.downloadFiles([source], pace.left);
    if (read?.code === "timeout") return failed(read.message ?? NOTHING, read.code);
    if (!read?.content) {
      const code = read?.error === "file_not_found" ? "not_found" : "unavailable";
      return failed(`The patch does not fit: '${source}' cannot be read${NOTHING}`, code);
    }
    if (hunks.length === 0 && source === target) return undefined;
    bytes = was = read.content;
    const now = textOf(was);
    if (now === undefined && hunks.length > 0) {
      return failed(`The patch does not fit: '${source}' is binary${NOTHING}`, "no_match");
    }
    text = now ?? "";
  }
  try {
    if (hunks.length > 0 || source === undefined) {
      const made = await pace.run(patched(source ?? target ?? "", text, hunks));
      bytes = new TextEncoder().encode(made);
    }
  } catch (error) {
    if (!(error instanceof BadPatch)) throw error;
    return failed(`The patch does not fit: ${error.message}${NOTHING}`, "no_match");
  }
  if (target === undefined && bytes.length > 0) {
    const why = `it deletes '${source}' without all of its lines`;
    return failed(`The patch does not fit: ${why}${NOTHING}`, "no_match");
  }
  if (source !== undefined && source !== target) {
    const gone = await turn.delete(source, pace.left);
    if (gone.error !== undefined) return failed(gone.error, gone.code ?? "unavailable");
  }
  if (target === undefined) return undefined;
  if (source !== target) {
    const there = await turn.write(target, bytes, { ...pace.left, ifAbsent: true });
    return there.error === undefined ? undefined : failed(there.error, there.code ?? "unavailable");
  }
  const done = await turn.edit(target, was, bytes, false, pace.left);
  return done.error === undefined
    ? undefined
    : failed(`'${target}' cannot be changed: ${done.error}${NOTHING}`, done.code ?? "unavailable");
}
