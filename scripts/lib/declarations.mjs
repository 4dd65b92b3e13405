// The declarations as they are published: those that an entry of the package reaches, and for each a
// copy with the ending `.d.cts`. TypeScript takes a `.d.ts` of this package for an ES module, which
// a CommonJS file may not `require` under `node16`.

import { readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** A relative specifier: what is before it, the path without its ending, the closing quote. */
const RELATIVE = /((?:\bfrom|\bimport)\s*\(?\s*["'])(\.{1,2}\/[^"']+)\.js(["'])/g;

/** Imports of types of packages whose declarations for `require` say that they are an ES module. */
const MODULES = /^(import type .* from "@mastra\/core\/[^"]*");$/gm;

/** The declarations for `require`. */
function forRequire(text) {
  const named = text.replace(RELATIVE, "$1$2.cjs$3");
  return named.replace(MODULES, '$1 with { "resolution-mode": "import" };');
}

/** The files that declarations import from each other, by their ending `.js`. */
function imported(file, text) {
  return [...text.matchAll(RELATIVE)].map(([, , path]) => resolve(dirname(file), `${path}.d.ts`));
}

/** Every file that these import, and theirs, and so on, with its text. */
export function reached(entries) {
  const found = new Map();
  const open = [...entries];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (found.has(file)) continue;
    const text = readFileSync(file, "utf8");
    found.set(file, text);
    open.push(...imported(file, text));
  }
  return found;
}

/** Removes what no entry reaches from the folder `types`, and adds the copies for `require`. */
export function finishDeclarations(types, entries) {
  const kept = reached(entries.map((entry) => join(types, entry)));
  for (const name of readdirSync(types, { recursive: true })) {
    const file = join(types, String(name));
    if (file.endsWith(".d.ts") && !kept.has(file)) rmSync(file);
  }
  removeEmpty(types);
  for (const [file, text] of kept) {
    writeFileSync(file.replace(/\.d\.ts$/, ".d.cts"), forRequire(text));
  }
}

/** Removes the folders that hold no file. */
export function removeEmpty(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeEmpty(join(folder, entry.name));
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}
