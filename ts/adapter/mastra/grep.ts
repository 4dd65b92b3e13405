// Searches of Mastra's tool, made by the backend: by its index, where it has one.

import {
  type FilesystemGrepMatch,
  type FilesystemGrepOptions,
  type FilesystemGrepResult,
  UnsupportedGrepPatternError,
} from "@mastra/core/workspace";
import type { GrepMatch } from "kitbag";
import { problemOf } from "../fs/errors.js";
import { nameOf, type Target } from "../fs/paths.js";
import { ask, type Steps } from "../fs/steps.js";
import type { Tree } from "../fs/tree.js";
import { backendPattern, Unsaid } from "./pattern.js";

/** Matches to ask for at first. Some are of no use: of hidden files, or more than one file may have. */
const FIRST = 4096;

const isHidden = (path: string) => path.split("/").some((name) => name.startsWith("."));

/** A match as Mastra has it; undefined if JavaScript finds none in the line. */
function matchOf(found: GrepMatch, pattern: RegExp): FilesystemGrepMatch | undefined {
  const column = found.text.search(pattern);
  if (column < 0) return undefined;
  const { line, text, before, after } = found;
  return { line, column, text, ...(before && { before }), ...(after && { after }) };
}

function grouped(
  matches: readonly GrepMatch[],
  target: Target,
  options: FilesystemGrepOptions,
): { results: FilesystemGrepResult[]; full: boolean } {
  const { maxCountPerFile, maxTotalMatches, includeHidden } = options;
  const pattern = new RegExp(options.pattern, options.caseSensitive ? "" : "i");
  const prefix = target.path === "/" ? "/" : `${target.path}/`;
  const files = new Map<string, FilesystemGrepMatch[]>();
  let total = 0;
  for (const found of matches) {
    const inside = found.path.startsWith(prefix);
    const path = inside ? found.path.slice(prefix.length) : nameOf(found.path);
    if (!includeHidden && isHidden(path)) continue;
    const match = matchOf(found, pattern);
    const own = files.get(path) ?? [];
    if (!match || own.length >= (maxCountPerFile ?? Number.POSITIVE_INFINITY)) continue;
    files.set(path, [...own, match]);
    total += 1;
    if (total >= (maxTotalMatches ?? Number.POSITIVE_INFINITY)) break;
  }
  const results = [...files].map(([path, own]) => ({ path, matches: own }));
  return { results, full: total >= (maxTotalMatches ?? Number.POSITIVE_INFINITY) };
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
    const { results, full } = grouped(answer.matches ?? [], target, options);
    if (full || !answer.truncated) return results;
  }
}
