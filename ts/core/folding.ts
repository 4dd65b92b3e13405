// Folds names as `env/folding.rs` does: two names that a storage takes for one become the same text.

import type { Capability } from "../types.js";

const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;

/** The folded form of a path. */
export function folded(path: string, names: Capability["names"] = "exact"): string {
  const composition = names.endsWith("composition");
  let text = composition ? path.normalize("NFD") : path;
  if (names.startsWith("case")) {
    text = text.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ");
  }
  return composition ? text.normalize("NFD").replace(IGNORABLE, "") : text;
}

/** Names that were given to a storage, to find two that would be one there. */
export class Spellings {
  readonly #names: Capability["names"];
  /** The spelling of each file and directory, by its folded form. */
  readonly #known = new Map<string, string>();

  constructor(names: Capability["names"]) {
    this.#names = names;
  }

  /** Another spelling of this path, or of a directory above it; otherwise it is remembered. */
  other(path: string): string | undefined {
    if (this.#names === undefined || this.#names === "exact") return undefined;
    const parts: string[] = [];
    let end = path.indexOf("/", 1);
    for (; end > 0; end = path.indexOf("/", end + 1)) parts.push(path.slice(0, end));
    parts.push(path);
    const keys = parts.map((part) => folded(part, this.#names));
    for (const [at, part] of parts.entries()) {
      const known = this.#known.get(keys[at] as string);
      if (known !== undefined && known !== part) return known;
    }
    for (const [at, part] of parts.entries()) this.#known.set(keys[at] as string, part);
    return undefined;
  }
}
