// A corpus of real source files from the installed packages. Generated files (bundles, source maps:
// lines of a hundred kilobytes) are left out.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { at } from "../../scripts/lib/paths.mjs";

const TEXT = /\.(c?[jt]sx?|m[jt]s|md|json|css|html|txt|ya?ml)$/;

function* textFiles(dir, under) {
  let entries;
  try {
    entries = readdirSync(dir, { withFileTypes: true });
  } catch {
    return;
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(dir, entry.name);
    const shown = `${under}/${entry.name}`;
    if (entry.isDirectory()) yield* textFiles(path, shown);
    else if (entry.isFile() && TEXT.test(entry.name)) yield [shown, path];
  }
}

/** At most so many files and bytes, as a record of path to text. */
export function corpus(maxFiles, maxBytes) {
  const files = {};
  let count = 0;
  let bytes = 0;
  const roots = ["node_modules", "tests/deps/latest/node_modules", "tests/deps/older/node_modules"];
  for (const root of roots) {
    for (const [shown, path] of textFiles(at(root), `/${root.split("/").at(-2) ?? "root"}`)) {
      if (count >= maxFiles || bytes >= maxBytes) return { files, count, bytes };
      const { size } = statSync(path);
      if (size > 1_000_000) continue;
      const text = readFileSync(path, "utf8");
      if (size / (text.split("\n").length + 1) > 200) continue;
      files[shown] = text;
      count += 1;
      bytes += size;
    }
  }
  return { files, count, bytes };
}
