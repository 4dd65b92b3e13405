// The searches of VS Code, made by the backend: by its index, where it has one. The backend finds lines;
// where in a line the text is, is found here, in time that is linear in the line.

import type { GrepMatch } from "kitbag";
import { Pace, type Steps as Work } from "../../core/pace.js";
import { Columns, type Span } from "../framework/column.js";
import { backendPattern, Unsaid } from "../framework/pattern.js";
import { problemOf } from "../fs/errors.js";
import { ask, type Steps } from "../fs/steps.js";
import type { Tree } from "../fs/tree.js";
import { pathOf, quoted, wantedIn } from "./globs.js";
import type { FileSettings, SearchedFolder, TextQuery, TextSettings, UriLike } from "./names.js";
import type { VsCode } from "./types.js";

/** Lines to ask for at first. Some are of no use: in files that are left out, or without a whole word. */
const FIRST = 4096;
/** Characters of a line, if VS Code does not say how many. */
const SHOWN = 10_000;

/** The places of what was searched for in a line. */
interface Finder {
  said: string;
  regex: boolean;
  find(text: string, from: number): Work<Span | undefined>;
  readonly late: boolean;
}

const isWord = (text: string | undefined) => text !== undefined && /^\w$/.test(text);

/** A text: `RegExp` finds one in linear time. */
function literal({ pattern, isCaseSensitive, isWordMatch }: TextQuery): Finder {
  const [start, end] = [pattern[0], pattern.at(-1)].map((one) =>
    isWordMatch && isWord(one) ? "\\b" : "",
  );
  const text = start + quoted(pattern) + end;
  const form = new RegExp(text, isCaseSensitive ? "gu" : "giu");
  return {
    said: pattern,
    regex: false,
    late: false,
    // biome-ignore lint/correctness/useYield: it has the form of the other one
    *find(line, from) {
      form.lastIndex = from;
      const found = form.exec(line);
      return found ? { start: found.index, end: found.index + found[0].length } : undefined;
    },
  };
}

function finderOf(query: TextQuery): Finder {
  const { pattern, isRegExp, isCaseSensitive = false, isWordMatch } = query;
  if (/[\n\r]/.test(pattern) || (isRegExp && /(?:^|[^\\])(?:\\\\)*\\n/.test(pattern))) {
    throw new Error("These files are searched line by line: a pattern cannot have several lines");
  }
  if (!isRegExp) return literal(query);
  // Throws for what JavaScript refuses. It is not run: it might take very long.
  new RegExp(pattern);
  try {
    const said = backendPattern(isWordMatch ? `\\b(?:${pattern})\\b` : pattern, isCaseSensitive);
    const columns = new Columns(said, isCaseSensitive);
    if (!columns.exact) throw new Unsaid("it repeats what may be empty");
    return {
      said,
      regex: true,
      find: (line, from) => columns.find(line, from),
      get late() {
        return columns.late;
      },
    };
  } catch (error) {
    if (!(error instanceof Unsaid)) throw error;
    throw new Error(`These files cannot be searched for this expression: ${error.message}`);
  }
}

type Report = (result: object) => void;

/** The classes of the proposed API, which are in the module but not in its published types. */
interface Results<U> {
  TextSearchMatch2: new (uri: U, ranges: object[], previewText: string) => object;
  TextSearchContext2: new (uri: U, text: string, lineNumber: number) => object;
}

/** One search of a folder: what it reports, and how much is left of it. */
class Search<U extends UriLike> {
  constructor(
    readonly vscode: VsCode<U> & Results<U>,
    readonly finder: Finder,
    readonly settings: TextSettings<U>,
    readonly report: Report,
    public left: number,
  ) {}

  /** The places in a line; more than are left are not looked for. */
  *#spans(text: string): Work<Span[]> {
    const spans: Span[] = [];
    for (let from = 0; from <= text.length && spans.length <= this.left; ) {
      const span = yield* this.finder.find(text, from);
      if (!span || this.finder.late) break;
      from = Math.max(span.end, span.start + 1);
      // VS Code shows no match of nothing.
      if (span.end > span.start) spans.push(span);
    }
    return spans;
  }

  #matched(uri: U, line: number, text: string, spans: readonly Span[]): void {
    const { Range, TextSearchMatch2 } = this.vscode;
    const most = this.settings.previewOptions?.charsPerLine ?? SHOWN;
    const shown = (some: readonly Span[], from: number) => {
      const preview = text.slice(from, from + most);
      const at = (one: number) => Math.min(one - from, preview.length);
      const ranges = some.map(({ start, end }) => ({
        sourceRange: new Range(line, start, line, end),
        previewRange: new Range(0, at(start), 0, at(end)),
      }));
      this.report(new TextSearchMatch2(uri, ranges, preview));
    };
    if (text.length <= most) shown(spans, 0);
    else for (const span of spans) shown([span], Math.max(0, span.start - Math.floor(most / 5)));
  }

  /** Reports matches. True if there are more than were wanted. */
  *all(matches: readonly GrepMatch[], folder: SearchedFolder<U>): Work<boolean> {
    const wanted = wantedIn(folder);
    const { TextSearchContext2 } = this.vscode;
    let [file, last] = ["", 0];
    for (const { path, line, text: whole, before = [], after = [] } of matches) {
      yield;
      if (!wanted(path)) continue;
      const text = whole.replace(/\r$/, "");
      const spans = yield* this.#spans(text);
      if (this.finder.late) return true;
      if (spans.length === 0) continue;
      if (this.left === 0) return true;
      const uri = folder.folder.with({ path }) as U;
      if (path !== file) [file, last] = [path, 0];
      const around = (lines: string[], from: number) => {
        for (const [at, one] of lines.entries()) {
          if (from + at <= last) continue;
          last = from + at;
          this.report(new TextSearchContext2(uri, one, last));
        }
      };
      around(before, line - before.length);
      last = Math.max(last, line);
      this.#matched(uri, line - 1, text, spans.slice(0, this.left));
      around(after, line + 1);
      if (spans.length > this.left) return true;
      this.left -= spans.length;
    }
    return false;
  }
}

export function* searchText<U extends UriLike>(
  tree: Tree,
  vscode: VsCode<U>,
  query: TextQuery,
  settings: TextSettings<U>,
  report: Report,
  signal: AbortSignal,
): Steps<boolean> {
  const finder = finderOf(query);
  if (finder.regex && !tree.own) throw new Error("These files can be searched for plain text only");
  const around = settings.surroundingContext ?? 0;
  let left = settings.maxResults ?? Number.MAX_SAFE_INTEGER;
  const files = tree.files as unknown as {
    grep(
      pattern: string,
      path: string,
      glob: undefined,
      how: object,
    ): ReturnType<Tree["files"]["grep"]>;
  };
  for (const folder of settings.folderOptions) {
    const path = pathOf(folder.folder);
    for (let most = FIRST; ; most *= 8) {
      const how = {
        ...{ regex: finder.regex, ignoreCase: !query.isCaseSensitive, maxCount: most, signal },
        ...(around > 0 && { before: around, after: around }),
      };
      const answer = yield* ask(() => files.grep(finder.said, path, undefined, how));
      if (signal.aborted) return true;
      if (answer.code === "invalid_pattern") throw new Error(answer.error);
      if (answer.error !== undefined) throw problemOf(answer, path);
      const found: object[] = [];
      const search = new Search<U>(
        vscode as VsCode<U> & Results<U>,
        finder,
        settings,
        (one) => found.push(one),
        left,
      );
      const full = yield* ask(() =>
        new Pace({ signal }).run(search.all(answer.matches ?? [], folder)),
      );
      if (!full && answer.truncated) continue;
      found.forEach(report);
      left = search.left;
      if (full) return true;
      break;
    }
  }
  return false;
}

/** Whether all letters are in a path, in this order. */
function hasLetters(path: string, letters: readonly string[]): boolean {
  let from = 0;
  for (const one of letters) {
    const at = path.indexOf(one, from);
    if (at < 0) return false;
    from = at + one.length;
  }
  return true;
}

/** The paths of all files, kept as long as VS Code keeps the dialog open. */
const kept = new WeakMap<object, Map<string, string[]>>();

export function* searchFiles<U extends UriLike>(
  tree: Tree,
  pattern: string,
  { folderOptions, session, maxResults }: FileSettings<U>,
  signal: AbortSignal,
): Steps<U[]> {
  const letters = Array.from(pattern.toLowerCase().replace(/[\s\\]/g, ""));
  const found: U[] = [];
  const known = (session && kept.get(session)) ?? new Map<string, string[]>();
  if (session) kept.set(session, known);
  for (const folder of folderOptions) {
    const path = pathOf(folder.folder);
    let paths = known.get(path);
    if (!paths) {
      const files = tree.files as unknown as {
        glob(pattern: string, path: string, how: object): ReturnType<Tree["files"]["glob"]>;
      };
      const answer = yield* ask(() => files.glob("**", path, { signal }));
      if (signal.aborted) return [];
      if (answer.error !== undefined) throw problemOf(answer, path);
      paths = (answer.files ?? []).filter((one) => one.is_dir !== true).map((one) => one.path);
      known.set(path, paths);
    }
    const wanted = wantedIn(folder);
    for (const one of paths) {
      if (found.length >= (maxResults ?? Number.MAX_SAFE_INTEGER)) return found;
      const name = one.slice(path === "/" ? 1 : path.length + 1).toLowerCase();
      if (hasLetters(name, letters) && wanted(one))
        found.push(folder.folder.with({ path: one }) as U);
    }
  }
  return found;
}
