// What every command prints, and how it ends: text or JSON on standard output, messages and the
// progress bar on standard error. Secrets that the process was given never appear in either.

import { readFileSync } from "node:fs";
import { visibleName } from "kitbag";
import type { TransferProgress } from "../transfer.js";

/** Ends the command with a message. Code 1: it was tried and failed. 2: it was asked wrongly. */
export class CommandError extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode = 2) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The version of the package. */
export function version(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

const secrets = new Set<string>();

/** Keeps a text out of everything that is printed on standard error. */
export function keepSecret(text: string | undefined): void {
  if (text !== undefined && text.length >= 3) secrets.add(text);
}

/** An address or a path for a message, without what may be a user name and a password in it. */
export function withoutPassword(address: string): string {
  return address.replace(/(:\/\/|^\/\/|:).*@/s, "$1***@");
}

/** What the library calls its options, as the flags of the command line that set them. */
const FLAGS: ReadonlyArray<[RegExp, string]> = [
  [/onConflict: "skip" or "overwrite"/g, "--on-conflict skip or --on-conflict overwrite"],
  [/\bS3Backend: option "(endpoint|region)"/g, "--$1"],
  // These limits have no flag.
  [/ \((maxFileBytes|timeoutMs)\)/g, ""],
];

/** Prints a message on standard error. */
export function tell(message: string): void {
  let shown = FLAGS.reduce((text, [option, flag]) => text.replace(option, flag), message);
  for (const secret of secrets) {
    shown = shown.replaceAll(secret, "***").replaceAll(encodeURIComponent(secret), "***");
  }
  process.stderr.write(`${visibleName(shown)}\n`);
}

/** Writes to standard output and waits while the reader is slower. */
export async function print(data: string | Uint8Array): Promise<void> {
  if (process.stdout.write(data)) return;
  await new Promise<void>((resolve) => process.stdout.once("drain", resolve));
}

/** Writes lines, in parts that are not too large for one text. */
export async function printLines(lines: Iterable<string>): Promise<void> {
  let part: string[] = [];
  let size = 0;
  for (const line of lines) {
    part.push(line);
    size += line.length;
    if (size < PART) continue;
    await print(`${part.join("\n")}\n`);
    part = [];
    size = 0;
  }
  if (part.length > 0) await print(`${part.join("\n")}\n`);
}

/** Characters that are written at a time. */
const PART = 64 * 1024;

export async function printJson(value: unknown): Promise<void> {
  await print(`${JSON.stringify(value)}\n`);
}

/** Whether and where text is coloured. */
export type ColourRule = "auto" | "always" | "never";

let coloured = false;

/** Decides about colours, as https://no-color.org asks. JSON is never coloured. */
export function chooseColours(rule: ColourRule): void {
  const { NO_COLOR, TERM } = process.env;
  const fitting = process.stdout.isTTY === true && !NO_COLOR && TERM !== "dumb";
  coloured = rule === "always" || (rule === "auto" && fitting);
}

const CODES = {
  path: 35,
  line: 32,
  match: "1;31",
  directory: "1;34",
  gone: 31,
  made: 32,
  other: 33,
};

/** A text as it is shown on standard output. */
export function paint(as: keyof typeof CODES, text: string): string {
  return coloured ? `\u001b[${CODES[as]}m${text}\u001b[0m` : text;
}

/** A path for a person: on a terminal, what shows nothing or steers the terminal is escaped. */
export function named(path: string): string {
  if (!process.stdout.isTTY) return path;
  return visibleName(path).replace(
    /[\u0000-\u001f]/g,
    (one) => `\\u{${one.charCodeAt(0).toString(16)}}`,
  );
}

const UNITS = ["B", "KB", "MB", "GB", "TB"];

/** A size for people. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

export const count = (files: number) =>
  `${files.toLocaleString("en-US")} ${files === 1 ? "file" : "files"}`;

/** A bar of a share between 0 and 1. */
export function bar(share: number, width: number): string {
  const full = Math.round(Math.max(0, Math.min(1, share)) * width);
  return "█".repeat(full) + "░".repeat(width - full);
}

/** Milliseconds between two pictures of the bar. */
const REDRAW = 100;

/** A progress bar on standard error, if that is a terminal; otherwise nothing. */
export function progressBar(): {
  onProgress?: (progress: TransferProgress) => void;
  /** The same for changes, where it is known only how many there are. */
  onSteps?: (progress: { done: number; total: number }) => void;
  end: () => void;
} {
  if (!process.stderr.isTTY) return { end: () => {} };
  let drawn = 0;
  const draw = (done: number, total: number, rest: string) => {
    const now = Date.now();
    if (now - drawn < REDRAW) return;
    drawn = now;
    const share = total === 0 ? 0 : done / total;
    const text = `${bar(share, 24)} ${Math.floor(share * 100)} %  ${done}/${count(total)}${rest}`;
    process.stderr.write(`\r\u001b[K${text}`);
  };
  return {
    onProgress: ({ copied, equal, skipped, failed, bytes, totalFiles = 0 }) =>
      draw(copied + equal + skipped + failed, totalFiles, `  ${sizeText(bytes)}`),
    onSteps: ({ done, total }) => draw(done, total, ""),
    end: () => void process.stderr.write("\r\u001b[K"),
  };
}
