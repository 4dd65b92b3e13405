// Files of `dist` that nothing reaches are not published. The bundler is given every class as an entry,
// so that each is in a file of its own, and writes a file for each entry, also where no other imports it.

import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { removeEmpty } from "./declarations.mjs";

/**
 * A text that may name a file beside the script: what is imported, required or copied by name. One that
 * is something else keeps a file too many at most.
 */
const RELATIVE = /["'](\.{1,2}\/[^"'\n]+)["']/g;

const isFile = (path) => existsSync(path) && statSync(path).isFile();

/** Removes from the folder the scripts that none of the `entries` reaches. */
export function removeUnreached(folder, entries) {
  const kept = new Set();
  const open = [...entries];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (kept.has(file) || !isFile(file)) continue;
    kept.add(file);
    for (const [, path] of readFileSync(file, "utf8").matchAll(RELATIVE)) {
      if (/\.c?js$/.test(path)) open.push(join(dirname(file), path));
    }
  }
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = join(folder, String(name));
    if (/\.c?js$/.test(file) && !kept.has(file)) rmSync(file);
  }
  removeEmpty(folder);
}
