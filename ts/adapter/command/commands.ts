// The commands that read, compare and copy: ls, cat, grep, cp, diff, du. Each returns its exit code.

import { adaptBackendProtocol, type FileInfo, type GrepMatch, type GrepOptions } from "kitbag";
import { compareTrees, copyTree } from "../transfer.js";
import { type AddressFlags, type Opened, open } from "./address.js";
import {
  bar,
  CommandError,
  count,
  print,
  printJson,
  printLines,
  progressBar,
  sizeText,
  tell,
} from "./output.js";

/** The flags and words of a command line. */
export interface Line {
  flags: Record<string, string | boolean | undefined>;
  words: string[];
  signal: AbortSignal;
}

const text = (value: string | boolean | undefined) =>
  typeof value === "string" ? value : undefined;

/** The flags that belong to addresses. */
export function addressFlags(flags: Line["flags"], writes: boolean): AddressFlags {
  return { endpoint: text(flags.endpoint), region: text(flags.region), writes };
}

/** The words of a line by position; too many or too few are refused. */
function words(line: Line, least: number, most: number, form: string): string[] {
  if (line.words.length >= least && line.words.length <= most) return line.words;
  throw new CommandError(`Usage: kitbag ${form}`);
}

/** Opens an address, runs, and closes it again. */
async function using<T>(
  address: string,
  flags: AddressFlags,
  run: (opened: Opened) => Promise<T>,
): Promise<T> {
  const opened = await open(address, flags);
  try {
    return await run(opened);
  } finally {
    await opened.close();
  }
}

/** The answer of a call, or its error as the end of the command. */
function good<T extends { error?: string }>(answer: T): T {
  if (answer.error !== undefined) throw new CommandError(answer.error, 2);
  return answer;
}

/** A path of the command line below the directory of the address. */
const below = (opened: Opened, path = "") => opened.directory + path.replace(/^\/+/, "");

/** A path as it is printed: below the directory of the address, without a slash in front. */
const shown = (opened: Opened, path: string) =>
  path.startsWith(opened.directory) ? path.slice(opened.directory.length) : path.slice(1);

export async function ls(line: Line): Promise<number> {
  const [address = "", path] = words(line, 1, 2, "ls ADDRESS [DIRECTORY]");
  return using(address, addressFlags(line.flags, false), async (opened) => {
    const backend = adaptBackendProtocol(opened.backend);
    const directory = below(opened, path);
    const { files = [] } = good(
      line.flags.recursive
        ? await backend.glob("**", directory)
        : await backend.ls(directory === "/" ? "/" : directory.replace(/\/+$/, "")),
    );
    const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
    const named = sorted.map((file) => ({ ...file, path: shown(opened, file.path) }));
    if (line.flags.json) await printJson(named);
    else await printLines(named.map(row));
    return 0;
  });
}

function row({ path, is_dir, size, modified_at }: FileInfo): string {
  const bytes = is_dir || size === undefined ? "-" : sizeText(size);
  const time = modified_at ? `${modified_at.slice(0, 19)}Z` : "";
  return `${bytes.padStart(9)}  ${time.padEnd(20)}  ${path}`;
}

export async function cat(line: Line): Promise<number> {
  const [address = "", ...paths] = words(line, 2, Number.POSITIVE_INFINITY, "cat ADDRESS FILE...");
  return using(address, addressFlags(line.flags, false), async (opened) => {
    const backend = adaptBackendProtocol(opened.backend);
    let code = 0;
    for (const path of paths) {
      const [answer] = (await backend.downloadFiles?.([below(opened, path)])) ?? [];
      const content = answer?.content;
      if (!content) {
        tell(`kitbag cat: ${path}: ${answer?.message ?? answer?.error ?? "it was not read"}`);
        code = 1;
      } else if (line.flags.json) await printJson({ path, ...contentOf(content) });
      else await print(content);
    }
    return code;
  });
}

/** Bytes in JSON: as text if they are text, otherwise in base64. */
function contentOf(bytes: Uint8Array): { text: string } | { base64: string } {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { base64: Buffer.from(bytes).toString("base64") };
  }
}

export async function grep(line: Line): Promise<number> {
  const [pattern = "", address = "", path] = words(line, 2, 3, "grep PATTERN ADDRESS [PATH]");
  const { flags } = line;
  const options: GrepOptions = { regex: !flags["fixed-strings"], signal: line.signal };
  if (flags["ignore-case"]) options.ignoreCase = true;
  const most = text(flags["max-count"]);
  if (most !== undefined) {
    if (!/^[1-9]\d*$/.test(most)) throw new CommandError("--max-count takes a number above zero");
    options.maxPerFile = Number(most);
  }
  return using(address, addressFlags(flags, false), async (opened) => {
    const backend = adaptBackendProtocol(opened.backend) as ReturnType<
      typeof adaptBackendProtocol
    > & {
      grep: (
        ...args: unknown[]
      ) => Promise<{ error?: string; matches?: GrepMatch[]; truncated?: boolean }>;
    };
    const directory = below(opened, path);
    const where = directory.length > 1 ? directory.replace(/\/+$/, "") : "/";
    const answer = good(
      await backend.grep(pattern, where, text(flags.glob) ?? null, null, options),
    );
    const matches = (answer.matches ?? []).map((match) => ({
      ...match,
      path: shown(opened, match.path),
    }));
    if (flags.json) await printJson(matches);
    else if (flags["files-with-matches"]) await printLines(new Set(matches.map((one) => one.path)));
    else if (flags.count) await printLines(counts(matches));
    else await printLines(matches.map((one) => `${one.path}:${one.line}:${one.text}`));
    if (answer.truncated) tell("kitbag grep: there are more matches than were returned");
    return matches.length > 0 ? 0 : 1;
  });
}

function counts(matches: readonly GrepMatch[]): string[] {
  const found = new Map<string, number>();
  for (const { path } of matches) found.set(path, (found.get(path) ?? 0) + 1);
  return [...found].map(([path, number]) => `${path}:${number}`);
}

function choice<T extends string>(line: Line, flag: string, values: readonly T[]): T | undefined {
  const given = text(line.flags[flag]);
  if (given === undefined || values.includes(given as T)) return given as T | undefined;
  throw new CommandError(`--${flag} must be ${values.join(" or ")}`);
}

export async function cp(line: Line): Promise<number> {
  const [from = "", to = ""] = words(line, 2, 2, "cp FROM TO");
  const onConflict = choice(line, "on-conflict", ["error", "skip", "overwrite"]);
  const compare = choice(line, "compare", ["content", "time"]);
  return using(from, addressFlags(line.flags, false), (source) =>
    using(to, addressFlags(line.flags, true), async (target) => {
      const [outer, inner] = [source.place, target.place];
      if (outer !== undefined && inner !== outer && inner?.startsWith(outer)) {
        throw new CommandError("TO is inside FROM; copy to a place outside of it");
      }
      const progress = progressBar();
      const result = await copyTree(source.backend, target.backend, {
        from: source.directory,
        to: target.directory,
        signal: line.signal,
        ...(onConflict && { onConflict }),
        ...(compare && { compare }),
        ...(progress.onProgress && { onProgress: progress.onProgress }),
      });
      progress.end();
      if (line.flags.json) await printJson(result);
      else {
        const { copied, equal, skipped, bytes, emptyDirectories } = result;
        await print(
          `${count(copied)} copied (${sizeText(bytes)}), ${equal} equal, ${skipped} skipped\n`,
        );
        if (emptyDirectories > 0)
          tell(`kitbag cp: ${emptyDirectories} empty directories were left out`);
        for (const { path, error } of result.failures) tell(`kitbag cp: ${path}: ${error}`);
      }
      if (result.error === undefined) return 0;
      if (result.failures.length === 0) tell(`kitbag cp: ${result.error}`);
      if (result.failed > result.failures.length) tell(`kitbag cp: ${result.failed} files failed`);
      tell("kitbag cp: run it again to go on; what is equal is not copied again");
      return 1;
    }),
  );
}

export async function diff(line: Line): Promise<number> {
  const [one = "", other = ""] = words(line, 2, 2, "diff ADDRESS ADDRESS");
  const compare = choice(line, "compare", ["content", "time"]);
  return using(one, addressFlags(line.flags, false), (first) =>
    using(other, addressFlags(line.flags, false), async (second) => {
      const progress = progressBar();
      const result = await compareTrees(first.backend, second.backend, {
        from: first.directory,
        to: second.directory,
        signal: line.signal,
        ...(compare && { compare }),
        ...(progress.onProgress && { onProgress: progress.onProgress }),
      });
      progress.end();
      good(result);
      const marks: Array<[string, string[]]> = [
        ["-", result.onlyFirst],
        ["+", result.onlySecond],
        ["~", result.different],
      ];
      const lines = marks.flatMap(([mark, paths]) => paths.map((path) => ({ mark, path })));
      lines.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
      if (line.flags.json) await printJson(result);
      else await printLines(lines.map(({ mark, path }) => `${mark} ${path}`));
      return lines.length > 0 ? 1 : 0;
    }),
  );
}

/** Width of the bars of `du`. */
const WIDTH = 20;

export async function du(line: Line): Promise<number> {
  const [address = "", path] = words(line, 1, 2, "du ADDRESS [DIRECTORY]");
  const given = text(line.flags.depth) ?? "1";
  if (!/^\d+$/.test(given)) throw new CommandError("--depth takes a number");
  return using(address, addressFlags(line.flags, false), async (opened) => {
    const backend = adaptBackendProtocol(opened.backend);
    const root = below(opened, path);
    const top = root.endsWith("/") ? root : `${root}/`;
    const { files = [] } = good(await backend.glob("**", top));
    const rows = usage(files, top, Number(given));
    if (line.flags.json) await printJson(rows);
    else {
      const [all] = rows;
      const whole = all?.bytes || 1;
      await printLines(
        rows.map(
          ({ path: name, bytes, files: number }) =>
            `${sizeText(bytes).padStart(9)}  ${bar(bytes / whole, WIDTH)}  ${count(number).padStart(12)}  ${name}`,
        ),
      );
    }
    return 0;
  });
}

interface Usage {
  path: string;
  bytes: number;
  files: number;
}

/** Sums by directory down to a depth, the largest first inside each level; the first is the whole. */
function usage(files: readonly FileInfo[], top: string, depth: number): Usage[] {
  const sums = new Map<string, Usage>([["./", { path: "./", bytes: 0, files: 0 }]]);
  const add = (path: string, bytes: number) => {
    const sum = sums.get(path) ?? { path, bytes: 0, files: 0 };
    sum.bytes += bytes;
    sum.files += 1;
    sums.set(path, sum);
  };
  for (const { path, size = 0 } of files) {
    const parts = path.slice(top.length).split("/");
    add("./", size);
    for (let level = 1; level < parts.length && level <= depth; level++) {
      add(`${parts.slice(0, level).join("/")}/`, size);
    }
  }
  const [all, ...others] = sums.values();
  return [all as Usage, ...others.sort((a, b) => b.bytes - a.bytes || (a.path < b.path ? -1 : 1))];
}
