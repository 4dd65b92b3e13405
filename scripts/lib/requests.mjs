// Where a new request could pass a layer without a word. Clippy refuses a wildcard in a `match` over
// requests, but no `if let`, `let … else` or `matches!`, and no pattern in which a request is only a part.
// `npm run lint` prints each of these.

import { readdirSync, readFileSync } from "node:fs";
import { at } from "./paths.mjs";

const FOLDERS = ["src/layer", "src/protocol"];

const TEST_FILE = /(^|\/)tests?(\/|\.rs)/;
const TEST_MODULE = /#\[cfg\(test\)\]\s*(pub(\(crate\))? )?mod \w+ \{[\s\S]*$/;

const REQUEST = /\bRequest::[A-Z]/;

/** The text between the bracket at `start` and its counterpart. */
function inside(text, start) {
  let depth = 0;
  for (let end = start; end < text.length; end++) {
    if (text[end] === "(") depth += 1;
    else if (text[end] === ")" && --depth === 0) return text.slice(start, end);
  }
  return text.slice(start);
}

/** Where a text of Rust takes some requests and is silent about all others: positions. */
export function silent(text) {
  const code = text
    .replace(TEST_MODULE, "")
    .replace(/\/\/.*$/gm, (comment) => " ".repeat(comment.length));
  const found = [];
  // A pattern of a variant in a `let` is one that can fail.
  for (const { index, 0: pattern } of code.matchAll(/\blet\s[^=;]*/g)) {
    if (REQUEST.test(pattern)) found.push(index);
  }
  for (const { index, 0: call } of code.matchAll(/\bmatches!\s*\(/g)) {
    if (REQUEST.test(inside(code, index + call.length - 1))) found.push(index);
  }
  for (const { index, 0: arm } of code.matchAll(/^\s*(\| )?[\w:]*\([^=\n]*=>/gm)) {
    // `Request::Ls(path) =>` itself is an arm like any other.
    if (!/^\s*(\| )?Request::/.test(arm) && REQUEST.test(arm)) found.push(index);
  }
  return found.sort((a, b) => a - b);
}

/** Every such place in the layers and the protocol, one sentence each. */
export function silentMatches() {
  return FOLDERS.flatMap((folder) =>
    readdirSync(at(folder), { recursive: true })
      .map((name) => `${folder}/${String(name).replaceAll("\\", "/")}`)
      .filter((name) => name.endsWith(".rs") && !TEST_FILE.test(name))
      .flatMap((name) => {
        const text = readFileSync(at(name), "utf8");
        return silent(text).map((place) => {
          const line = text.slice(0, place).trimEnd().split("\n").length;
          return `${name}:${line}: a new request would pass here; use a match that names all`;
        });
      }),
  );
}

if (process.argv[1] === import.meta.filename) {
  for (const line of silentMatches()) console.log(line);
}
