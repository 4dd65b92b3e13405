// Searches of Mastra's tool, made by the backend: by its index, where it has one.

import {
  type FilesystemGrepMatch,
  type FilesystemGrepOptions,
  type FilesystemGrepResult,
  UnsupportedGrepPatternError,
} from "@mastra/core/workspace";
import type { GrepMatch } from "kitbag";
import { Pace, type Steps as Work } from "../../core/pace.js";
import { Columns } from "../framework/column.js";
import { backendPattern, Unsaid } from "../framework/pattern.js";
import { problemOf } from "../fs/errors.js";
import { nameOf, type Target } from "../fs/paths.js";
import { ask, type Steps } from "../fs/steps.js";
import type { Tree } from "../fs/tree.js";

/** Matches to ask for at first. Some are of no use: of hidden files, or more than one file may have. */
const FIRST = 4096;

const isHidden = (path: string) => path.split("/").some((name) => name.startsWith("."));

/** A match as Mastra has it. */
function matchOf(found: GrepMatch, column: number): FilesystemGrepMatch {
  const { line, text, before, after } = found;
  return { line, column, text, ...(before && { before }), ...(after && { after }) };
}

function* grouped(
  matches: readonly GrepMatch[],
  target: Target,
  options: FilesystemGrepOptions,
  columns: Columns,
): Work<{ results: FilesystemGrepResult[]; full: boolean }> {
  const most = Number.POSITIVE_INFINITY;
  const { maxCountPerFile = most, maxTotalMatches = most, includeHidden } = options;
  const prefix = target.path === "/" ? "/" : `${target.path}/`;
  const files = new Map<string, FilesystemGrepMatch[]>();
  let total = 0;
  for (const found of matches) {
    yield;
    const inside = found.path.startsWith(prefix);
    const path = inside ? found.path.slice(prefix.length) : nameOf(found.path);
    if (!includeHidden && isHidden(path)) continue;
    const own = files.get(path) ?? [];
    if (own.length >= maxCountPerFile) continue;
    const place = yield* columns.find(found.text);
    // JavaScript finds none in the line.
    if (!place && !columns.late) continue;
    own.push(matchOf(found, columns.late ? 0 : (place?.start ?? 0)));
    files.set(path, own);
    total += 1;
    if (total >= maxTotalMatches) break;
  }
  const results = [...files].map(([path, own]) => ({ path, matches: own }));
  return { results, full: total >= maxTotalMatches };
}

type Grep = (
  pattern: string,
  path: string,
  glob: undefined,
  options: object,
) => ReturnType<Tree["files"]["grep"]>;

export function* grep(
  tree: Tree,
  target: Target,
  options: FilesystemGrepOptions,
): Steps<FilesystemGrepResult[]> {
  const { pattern, caseSensitive, contextLines = 0 } = options;
  // Other objects search for plain text only.
  if (!tree.own) throw new UnsupportedGrepPatternError(pattern, "these files have no expressions");
  // Throws for what JavaScript refuses. It is not run: it might take very long.
  new RegExp(pattern);
  let said: string;
  try {
    said = backendPattern(pattern, caseSensitive);
  } catch (error) {
    if (error instanceof Unsaid) throw new UnsupportedGrepPatternError(pattern, error.message);
    throw error;
  }
  for (let most = FIRST; ; most *= 8) {
    const how = {
      ...{ regex: true, ignoreCase: !caseSensitive, maxCount: most },
      ...(contextLines > 0 && { before: contextLines, after: contextLines }),
    };
    const search = tree.files.grep.bind(tree.files) as unknown as Grep;
    const answer = yield* ask(() => search(said, target.path, undefined, how));
    if (answer.code === "invalid_pattern") {
      throw new UnsupportedGrepPatternError(pattern, answer.error);
    }
    if (answer.error !== undefined) throw problemOf(answer, target.path);
    const columns = new Columns(said, Boolean(caseSensitive));
    const work = grouped(answer.matches ?? [], target, options, columns);
    const { results, full } = yield* ask(() => new Pace().run(work));
    if (full || !answer.truncated) return results;
  }
}
