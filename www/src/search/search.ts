// A search of all mounts: for lines by `grep`, for names by `glob`, both of the tree. One search runs
// at a time: what is typed next cancels it.

import { batch, signal } from "@preact/signals";
import type { GrepMatch } from "kitbag";
import { tree } from "../tree/mounts";

/** Most lines, and most names, that are shown. */
const MOST_LINES = 500;
const MOST_NAMES = 100;
/** Somebody who types is not interrupted by results. */
const PAUSE_MS = 120;

export interface Found {
  text: string;
  names: string[];
  files: Array<{ path: string; lines: GrepMatch[] }>;
  lines: number;
  /** Whether there are more lines or names than are shown. */
  cut: { lines: boolean; names: boolean };
  ms: number;
  /** Marks the matches in a line; undefined if the browser cannot read the expression. */
  mark: RegExp | undefined;
}

export const text = signal("");
export const regex = signal(false);
export const anyCase = signal(true);
export const found = signal<Found | undefined>(undefined);
export const trouble = signal("");
export const busy = signal(false);

const literal = (words: string) => words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The text as a pattern of `glob` for names that contain it. */
function namePattern(words: string, ignoreCase: boolean): string {
  const letters = [...words].map((letter) => {
    const [lower, upper] = [letter.toLowerCase(), letter.toUpperCase()];
    if (ignoreCase && lower !== upper && [...(lower + upper)].length === 2)
      return `[${lower}${upper}]`;
    return letter.replace(/[*?[\]{}\\!,]/, "\\$&");
  });
  return `**/*${letters.join("")}*`;
}

function expression(words: string): RegExp | undefined {
  try {
    return new RegExp(regex.value ? words : literal(words), anyCase.value ? "giu" : "gu");
  } catch {
    return undefined;
  }
}

/** Paths of files whose names match, newest first. */
async function names(words: string, mark: RegExp | undefined, stop: AbortSignal) {
  // A path has no such name.
  if (!regex.value && words.includes("/")) return { paths: [] };
  const pattern = regex.value ? "**/*" : namePattern(words, anyCase.value);
  const { files = [], error } = await tree.value.glob(pattern, "/", { signal: stop });
  const paths = files.map(({ path }) => path);
  if (!regex.value) return { paths, error };
  const fits = (path: string) => path.slice(path.lastIndexOf("/") + 1).search(mark ?? /$^/) >= 0;
  return { paths: paths.filter(fits), error };
}

async function search(words: string, stop: AbortSignal) {
  const mark = expression(words);
  const options = {
    regex: regex.value,
    ignoreCase: anyCase.value,
    maxCount: MOST_LINES,
    signal: stop,
  };
  const began = performance.now();
  const [lines, named] = await Promise.all([
    tree.value.grep(words, "/", null, options),
    names(words, mark, stop),
  ]);
  const ms = performance.now() - began;
  if (stop.aborted) return;
  const matches = lines.matches ?? [];
  const files = new Map<string, GrepMatch[]>();
  for (const match of matches) {
    const own = files.get(match.path);
    if (own) own.push(match);
    else files.set(match.path, [match]);
  }
  batch(() => {
    busy.value = false;
    trouble.value = lines.error ?? named.error ?? "";
    found.value = {
      text: words,
      names: named.paths.slice(0, MOST_NAMES),
      files: [...files].map(([path, own]) => ({ path, lines: own })),
      lines: matches.length,
      cut: { lines: lines.truncated === true, names: named.paths.length > MOST_NAMES },
      ms,
      mark,
    };
  });
}

let running: AbortController | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Searches for what the field and its switches say now. */
export function searchAgain() {
  running?.abort();
  clearTimeout(timer);
  const words = text.value;
  busy.value = words !== "";
  if (words === "") {
    found.value = undefined;
    trouble.value = "";
    return;
  }
  running = new AbortController();
  const { signal: stop } = running;
  timer = setTimeout(() => void search(words, stop), PAUSE_MS);
}

export function type(words: string) {
  text.value = words;
  searchAgain();
}
