// The commands that look at files: ls, cat, grep, du. Each returns its exit code.

import { adaptBackendProtocol, type FileInfo, type GrepMatch, type GrepOptions } from "kitbag";
import { canonical } from "../../core/paths.js";
import { type AddressFlags, apart, isAddress, isFileOnDisk, type Opened } from "./address.js";
import { addressFlags, exitCodeOf, good, type Line, text, using, words } from "./line.js";
import {
  bar,
  CommandError,
  count,
  named,
  paint,
  print,
  printJson,
  printLines,
  sizeText,
  tell,
} from "./output.js";

/** The flags of an address that may be one file. `absent` is the exit code if it is not there. */
const looking = (line: Line, absent: number): AddressFlags => ({
  ...addressFlags(line.flags, false),
  files: true,
  absent,
});

/** A path of the command line below the directory of the address, or the file that it names. */
function below({ directory, file, name }: Opened, path?: string): string {
  if (file !== undefined && path !== undefined) {
    throw new CommandError(`${name} is a file; a path follows behind a folder`);
  }
  return canonical(directory + (file ?? path ?? ""));
}

/** A path as it is printed: below the directory of the address, without a slash in front. */
function shown({ directory, file, name }: Opened, path: string): string {
  if (file !== undefined) return name;
  return path.startsWith(directory) ? path.slice(directory.length) : path.slice(1);
}

/**
 * What is at a path of which a listing shows nothing: the file, or nothing in an empty directory. If
 * there is neither, the command ends with `absent`.
 */
async function alone(opened: Opened, path: string, absent: number): Promise<FileInfo[]> {
  if (path === "/" && !opened.part) return [];
  const backend = adaptBackendProtocol(opened.backend);
  const { files = [] } = await backend.ls(path.slice(0, path.lastIndexOf("/")) || "/");
  const found = files.find((file) => canonical(file.path) === path);
  if (path !== "/" && found) return found.is_dir ? [] : [found];
  const where = shown(opened, path);
  throw new CommandError(`There is nothing at ${where === "" ? opened.name : where}`, absent);
}

/** The entries of a directory, or all files below it, or the one file that a path names. */
async function listed(opened: Opened, path: string, below: boolean): Promise<FileInfo[]> {
  const backend = adaptBackendProtocol(opened.backend);
  const answer = below ? await backend.glob("**", path) : await backend.ls(path);
  if (answer.files && answer.files.length > 0) return answer.files;
  if (answer.error !== undefined) {
    throw new CommandError(answer.error, answer.code === "not_found" ? 1 : 2);
  }
  return alone(opened, path, 1);
}

export async function ls(line: Line): Promise<number> {
  const [address = "", path] = words(line, 1, 2, "ls ADDRESS [PATH]");
  return using(address, looking(line, 1), async (opened) => {
    const files = await listed(opened, below(opened, path), line.flags.recursive === true);
    const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
    const all = sorted.map((file) => ({ ...file, path: shown(opened, file.path) }));
    if (line.flags.json) await printJson(all);
    else await printLines(all.map(row));
    return 0;
  });
}

function row({ path, is_dir, size, modified_at }: FileInfo): string {
  const bytes = is_dir || size === undefined ? "-" : sizeText(size);
  const time = modified_at ? `${modified_at.slice(0, 19)}Z` : "";
  const name = is_dir ? paint("directory", named(path)) : named(path);
  return `${bytes.padStart(9)}  ${time.padEnd(20)}  ${name}`;
}

export async function cat(line: Line): Promise<number> {
  const all = words(line, 1, Number.POSITIVE_INFINITY, "cat ADDRESS FILE... or kitbag cat FILE...");
  const [address = "", ...paths] = all;
  const flags = looking(line, 1);
  // As `cat` takes them: each word is a file.
  if (paths.length === 0 || isFileOnDisk(address) || all.every(isAddress)) {
    let code = 0;
    for (const one of all) {
      const [place, name] = apart(one);
      const shownAs = (opened: Opened) => (opened.file === undefined ? name : opened.name);
      const work = (opened: Opened) => printed(line, opened, opened.file ?? name, shownAs(opened));
      code = Math.max(code, await using(place, flags, work).catch(passedOver));
    }
    return code;
  }
  return using(address, { ...flags, files: false, absent: 2 }, async (opened) => {
    let code = 0;
    for (const path of paths) code = Math.max(code, await printed(line, opened, path, path));
    return code;
  });
}

/** Tells of a file that is not there, so that the others follow. */
function passedOver(error: unknown): number {
  if (!(error instanceof CommandError) || error.exitCode !== 1) throw error;
  tell(`kitbag cat: ${error.message}`);
  return 1;
}

/** Prints a file; the exit code. */
async function printed(line: Line, opened: Opened, path: string, name: string): Promise<number> {
  const backend = adaptBackendProtocol(opened.backend);
  if (path === "") throw new CommandError(`${opened.name} is a folder; name a file behind it`, 1);
  const [answer] = (await backend.downloadFiles?.([canonical(opened.directory + path)])) ?? [];
  const content = answer?.content;
  if (!content) {
    tell(`kitbag cat: ${name}: ${answer?.message ?? answer?.error ?? "it was not read"}`);
    // On disk, it is one file that cannot be read.
    return opened.folder === undefined ? exitCodeOf(answer?.code) : 1;
  }
  if (line.flags.json) await printJson({ path: name, ...contentOf(content) });
  else await print(content);
  return 0;
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
  return using(address, looking(line, 2), async (opened) => {
    const backend = adaptBackendProtocol(opened.backend) as ReturnType<
      typeof adaptBackendProtocol
    > & {
      grep: (
        ...args: unknown[]
      ) => Promise<{ error?: string; matches?: GrepMatch[]; truncated?: boolean }>;
    };
    const where = below(opened, path);
    const answer = good(
      await backend.grep(pattern, where, text(flags.glob) ?? null, null, options),
    );
    const matches = (answer.matches ?? []).map((match) => ({
      ...match,
      path: shown(opened, match.path),
    }));
    // A search in what is not there is a mistake, and no search without matches.
    if (matches.length === 0 && where !== "/") await alone(opened, where, 2);
    const marked = marker(pattern, options);
    const pathOf = (name: string) => paint("path", named(name));
    const row = (one: GrepMatch) =>
      `${pathOf(one.path)}:${paint("line", String(one.line))}:${marked(one.text)}`;
    if (flags.json) await printJson(matches);
    else if (flags["files-with-matches"]) {
      await printLines([...new Set(matches.map((one) => one.path))].map(pathOf));
    } else if (flags.count) {
      await printLines([...counts(matches)].map(([name, number]) => `${pathOf(name)}:${number}`));
    } else await printLines(matches.map(row));
    if (answer.truncated) tell("kitbag grep: there are more matches than were returned");
    return matches.length > 0 ? 0 : 1;
  });
}

function counts(matches: readonly GrepMatch[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const { path } of matches) found.set(path, (found.get(path) ?? 0) + 1);
  return found;
}

/**
 * Marks what was found in a line. Only plain words, and choices of them: another expression might mean
 * something else here, or take very long in a long line.
 */
function marker(pattern: string, { regex, ignoreCase }: GrepOptions): (line: string) => string {
  const words = regex ? pattern.split("|") : [pattern];
  if (regex && words.some((word) => /[\\^$.*+?()[\]{}]/.test(word))) return (line) => line;
  const escaped = words.filter(Boolean).map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const found = new RegExp(escaped.join("|"), ignoreCase ? "giu" : "gu");
  return (line) => line.replace(found, (part) => part && paint("match", part));
}

/** Width of the bars of `du`. */
const WIDTH = 20;

export async function du(line: Line): Promise<number> {
  const [address = "", path] = words(line, 1, 2, "du ADDRESS [PATH]");
  const given = text(line.flags.depth) ?? "1";
  if (!/^\d+$/.test(given)) throw new CommandError("--depth takes a number");
  return using(address, looking(line, 1), async (opened) => {
    const root = below(opened, path);
    const files = await listed(opened, root, true);
    const [only] = files;
    const isFile = files.length === 1 && only?.path === root;
    const rows = isFile
      ? [{ path: shown(opened, root), bytes: only?.size ?? 0, files: 1 }]
      : usage(files, root === "/" ? root : `${root}/`, Number(given));
    if (line.flags.json) await printJson(rows);
    else {
      const [all] = rows;
      const whole = all?.bytes || 1;
      await printLines(
        rows.map(
          ({ path: name, bytes, files: number }) =>
            `${sizeText(bytes).padStart(9)}  ${bar(bytes / whole, WIDTH)}  ${count(number).padStart(12)}  ${name.endsWith("/") ? paint("directory", named(name)) : named(name)}`,
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
