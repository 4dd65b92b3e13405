// What every command does with its line: words by position, flags of addresses, opening and closing.

import { type AddressFlags, type Opened, open } from "./address.js";
import { CommandError } from "./output.js";

/** The flags and words of a command line. */
export interface Line {
  flags: Record<string, string | boolean | string[] | undefined>;
  words: string[];
  signal: AbortSignal;
}

export const text = (value: Line["flags"][string]) =>
  typeof value === "string" ? value : undefined;

/** The flags that belong to addresses. */
export function addressFlags(flags: Line["flags"], writes: boolean): AddressFlags {
  return { endpoint: text(flags.endpoint), region: text(flags.region), writes };
}

/** The words of a line by position; too many or too few are refused. */
export function words(line: Line, least: number, most: number, form: string): string[] {
  if (line.words.length >= least && line.words.length <= most) return line.words;
  throw new CommandError(`Usage: kitbag ${form}`);
}

/** The value of a flag that has a few. */
export function choice<T extends string>(
  flags: Line["flags"],
  flag: string,
  values: readonly T[],
): T | undefined {
  const given = text(flags[flag]);
  if (given === undefined || values.includes(given as T)) return given as T | undefined;
  throw new CommandError(`--${flag} must be ${values.join(" or ")}`);
}

/** Opens an address, runs, and closes it again. */
export async function using<T>(
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

/** The exit code for an error of a call: a wrong word, or nobody who answers, is no failure of files. */
export const exitCodeOf = (code: string | undefined): number =>
  ["invalid_argument", "invalid_pattern", "unavailable"].includes(code ?? "") ? 2 : 1;

/** The answer of a call, or its error as the end of the command. */
export function good<T extends { error?: string }>(answer: T): T {
  if (answer.error !== undefined) throw new CommandError(answer.error, 2);
  return answer;
}
