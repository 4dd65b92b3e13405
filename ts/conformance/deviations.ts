// Declared deviations. A backend may differ from the protocol on purpose; it says so by name, and the
// suite checks that it does. A name stands for one case, or for a group of cases that one decision
// explains.

import type { Case } from "./subject.js";

/** Groups of cases, by the name of the deviation. */
const GROUPS: Record<string, readonly string[]> = {
  "create-only-write": [
    "create is refused where the file exists, and changes nothing",
    "create is refused for the same content too",
    "an existing empty file is not created again",
  ],
  "exclusive-create": ["one of many creators wins"],
  "lossless-edits": ["no edit is lost"],
  "byte-order": [
    "ls shows one level in byte order",
    "byte order is that of UTF-8 and not of UTF-16",
    "grep finds lines by path, then by line",
    "grep looks below a directory or into one file",
  ],
  "byte-sizes": ["a file has its size in bytes and a time", "glob tells size and time"],
  "binary-content": [
    "binary content is given as base64 and kept as bytes",
    "a binary file is read whole, whatever the page",
    "a binary file cannot be edited",
    "grep passes over binary files",
    "every byte comes back",
    "a megabyte of noise comes back",
  ],
};

/** The name of the deviation that is one case: its words with hyphens. */
export function deviationOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "");
}

/** All names that a backend can declare, with the names of their cases. */
export function deviationsOf(cases: readonly Case[]): Record<string, readonly string[]> {
  const single = cases.map(({ name }) => [deviationOf(name), [name]] as const);
  return { ...Object.fromEntries(single), ...GROUPS };
}

/** The declared deviations of one run. */
export class Declared {
  readonly #cases: Record<string, readonly string[]>;
  readonly #names: readonly string[];
  /** Names that a case has shown to be true. */
  readonly #seen = new Set<string>();
  /** Names of which every case that ran has passed so far. */
  readonly #ran = new Set<string>();

  constructor(cases: readonly Case[], names: readonly string[]) {
    this.#cases = deviationsOf(cases);
    this.#names = names;
    for (const name of names) {
      if (Object.hasOwn(this.#cases, name)) continue;
      const known = Object.keys(this.#cases).sort().join(", ");
      throw new TypeError(
        `allow: there is no deviation ${JSON.stringify(name)}. There are: ${known}`,
      );
    }
  }

  /** Notes how a case ended; returns the deviation that explains a failure. */
  explain(one: string, failed: boolean): string | undefined {
    const names = this.#names.filter((name) => this.#cases[name]?.includes(one));
    for (const name of names) {
      this.#ran.add(name);
      if (failed) this.#seen.add(name);
    }
    return failed ? names[0] : undefined;
  }

  /** Deviations that were declared, and that no case has shown. */
  get idle(): string[] {
    return [...this.#ran].filter((name) => !this.#seen.has(name));
  }
}
