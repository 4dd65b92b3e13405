// Validation of the options of transfers and archives. A wrong option throws a `TypeError` that names
// it, before anything is read or written.

import type { IgnoreRules } from "kitbag";
import { notEmpty, onlyKnown } from "../../core/nearest.js";
import { namesIn, prefixOf } from "../../core/paths.js";

/** The kinds of values that an option can have. */
type Kind =
  | ("amount" | "positive" | "text" | "texts" | "name" | "callback" | "signal" | "ignore")
  | readonly string[];

/** Whether a value is a pattern of files below a directory. */
const isPattern = (value: unknown) =>
  typeof value === "string" && value !== "" && !value.startsWith("/");

function isRight(kind: Kind, value: unknown): boolean {
  if (kind === "text") return typeof value === "string";
  if (kind === "name") return typeof value === "string" && value !== "";
  if (kind === "texts") return Array.isArray(value) && value.length > 0 && value.every(isPattern);
  if (kind === "ignore") return typeof (value as IgnoreRules)?.around === "function";
  if (kind === "callback") return typeof value === "function";
  if (kind === "amount") return Number.isSafeInteger(value) && (value as number) >= 0;
  if (kind === "positive") return Number.isSafeInteger(value) && (value as number) >= 1;
  if (kind === "signal") return typeof (value as AbortSignal)?.addEventListener === "function";
  return kind.includes(value as string) || (kind.includes("()") && typeof value === "function");
}

function expected(kind: Kind): string {
  if (kind === "text") return "a directory, such as /notes";
  if (kind === "name") return "a name";
  if (kind === "texts") return 'patterns below the directory, such as ["src/**"]';
  if (kind === "ignore") return "what ignoreFiles() of kitbag/ignore returns";
  if (kind === "callback") return "a function";
  if (kind === "amount") return "a whole number, zero or more";
  if (kind === "positive") return "a whole number, one or more";
  if (kind === "signal") return "an AbortSignal";
  return kind.map((one) => (one === "()" ? "a function" : JSON.stringify(one))).join(" or ");
}

/** Refuses unknown options and wrong values. */
export function checkOptions(of: string, given: unknown, kinds: Record<string, Kind>): void {
  onlyKnown(of, given, Object.keys(kinds));
  for (const [name, kind] of Object.entries(kinds)) {
    const value = (given as Record<string, unknown> | undefined)?.[name];
    // A directory that is not set must not mean the whole tree.
    if (kind === "text" && value == null && given && name in (given as object)) {
      notEmpty(of, name, true);
    }
    if (value === undefined || value === null || isRight(kind, value)) continue;
    throw new TypeError(`${of}: option "${name}" must be ${expected(kind)}, not ${kindOf(value)}`);
  }
}

function kindOf(value: unknown): string {
  if (typeof value === "number") return String(value);
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** A directory that an option names, as the beginning of the paths below it. */
export function directoryOf(of: string, name: string, value: string | undefined): string {
  const names = namesIn(value ?? "/");
  if (names.includes("..")) {
    throw new TypeError(`${of}: option "${name}" must be a directory without ".."`);
  }
  return prefixOf(names);
}
