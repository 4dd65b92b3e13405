// Lines of code: those with at least one character that is neither white space nor in a comment.

import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";
import { at } from "../paths.mjs";

/** The files of a folder with this ending, as paths from the root, sorted. */
export function filesOf(folder, ending) {
  return readdirSync(at(folder), { recursive: true })
    .map((name) => `${folder}/${String(name).replaceAll("\\", "/")}`)
    .filter((name) => name.endsWith(ending) && !name.includes("node_modules"))
    .sort();
}

/** Comments, and what may hold the beginning of one: texts, raw texts, characters. Lifetimes are neither. */
const RUST_TOKEN =
  /\/\/[^\n]*|\/\*|\bb?r(#*)"[\s\S]*?"\1|b?"(?:[^"\\]|\\[\s\S])*"|b?'(?:[^'\\\n]|\\[^\n]+?)'/g;

/** The end of a comment that begins at `from`; such comments nest. */
function endOfComment(text, from) {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = from;
  let depth = 0;
  for (let found = mark.exec(text); found; found = mark.exec(text)) {
    depth += found[0] === "/*" ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  return text.length;
}

const blank = (text) => text.replace(/[^\n]/g, " ");

/**
 * Rust with spaces in the place of comments, and with `texts: false` of the contents of texts as well;
 * every other character stays where it was.
 */
export function bare(text, { texts = true } = {}) {
  let out = "";
  let from = 0;
  RUST_TOKEN.lastIndex = 0;
  for (let found = RUST_TOKEN.exec(text); found; found = RUST_TOKEN.exec(text)) {
    const [token] = found;
    const end = token === "/*" ? endOfComment(text, found.index) : RUST_TOKEN.lastIndex;
    const whole = text.slice(found.index, end);
    const comment = token.startsWith("/");
    out += text.slice(from, found.index);
    // A text keeps a character in each of its lines: those are lines of code.
    if (comment) out += blank(whole);
    else out += texts ? whole : whole.replace(/[^\n\s]/g, "_");
    from = end;
    RUST_TOKEN.lastIndex = end;
  }
  return out + text.slice(from);
}

/** Where the block that begins with the first brace from here on ends, behind its brace. */
export function endOfBlock(text, from) {
  let depth = 0;
  for (let place = from; place < text.length; place++) {
    if (text[place] === "{") depth += 1;
    if (text[place] === "}") {
      depth -= 1;
      if (depth === 0) return place + 1;
    }
    if (text[place] === ";" && depth === 0) return place + 1;
  }
  return text.length;
}

/** Files that only tests compile, by name or because their module is declared for tests only. */
function isTest(name, declared) {
  return /(^|\/)(tests?|testing|\w+_tests?)(\.rs$|\/)/.test(name) || declared.has(name);
}

/** The files of modules that are declared as `#[cfg(test)] mod name;`. */
function declaredForTests(names) {
  const found = new Set();
  for (const name of names) {
    const folder = name.replace(/(\/mod|\/lib)?\.rs$/, "");
    const text = bare(readFileSync(at(name), "utf8"));
    for (const [, module] of text.matchAll(/#\[cfg\(test\)\]\s*(?:pub\S* )?mod (\w+);/g)) {
      found.add(`${folder}/${module}.rs`).add(`${folder}/${module}/mod.rs`);
    }
  }
  return found;
}

/** The Rust of the library by file, without comments and without tests. `texts` as for `bare`. */
export function rustSources(options) {
  const names = filesOf("src", ".rs");
  const declared = declaredForTests(names);
  const sources = new Map();
  for (const name of names) {
    if (isTest(name.slice("src/".length), declared)) continue;
    const text = readFileSync(at(name), "utf8");
    let shown = bare(text, options);
    // Braces in texts are no blocks.
    let plain = bare(text, { texts: false });
    const attribute = "#[cfg(test)]";
    for (let from = plain.indexOf(attribute); from >= 0; from = plain.indexOf(attribute)) {
      const end = endOfBlock(plain, from + attribute.length);
      const cut = (whole) =>
        whole.slice(0, from) + blank(whole.slice(from, end)) + whole.slice(end);
      [plain, shown] = [cut(plain), cut(shown)];
    }
    sources.set(name, shown);
  }
  return sources;
}

const linesWithText = (text) => text.split("\n").filter((line) => line.trim() !== "").length;

/** Lines of Rust in `src/`, without tests, comments and blank lines. */
export function rustLines() {
  return [...rustSources().values()].reduce((sum, text) => sum + linesWithText(text), 0);
}

/** The lines on which a token of a program stands. */
function tokenLines(name) {
  const text = readFileSync(at(name), "utf8");
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const lines = new Set();
  const visit = (node) => {
    if (node.kind >= ts.SyntaxKind.FirstJSDocNode && node.kind <= ts.SyntaxKind.LastJSDocNode)
      return;
    const children = node.getChildren(file);
    for (const child of children) visit(child);
    if (children.length > 0 || node.getWidth(file) === 0) return;
    const line = (place) => file.getLineAndCharacterOfPosition(place).line;
    for (let at = line(node.getStart(file)); at <= line(node.end); at++) lines.add(at);
  };
  visit(file);
  return lines.size;
}

/** Lines of TypeScript in `ts/`: all, and those with code. Nothing there is generated. */
export function typescriptLines() {
  const names = filesOf("ts", ".ts");
  const all = names.reduce(
    (sum, name) => sum + readFileSync(at(name), "utf8").split("\n").length - 1,
    0,
  );
  const code = names.reduce((sum, name) => sum + tokenLines(name), 0);
  return { all, code };
}

/** Words of the pages in `docs/`: what stands between white space, code included, as `wc -w` counts. */
export function docsWords() {
  const words = (name) => readFileSync(at(name), "utf8").split(/\s+/).filter(Boolean).length;
  return filesOf("docs", ".md").reduce((sum, name) => sum + words(name), 0);
}
