// The code blocks of the documentation as modules. After the language a fence may say how the block
// is checked:
//
//   ```ts               a module: it compiles under `strict` and runs in Node
//   ```ts continues     the same, behind the block before it
//   ```ts browser       it runs in a page in Chromium
//   ```ts compile: why  it only compiles, for this reason
//
// A name that a block uses without a declaration comes from `given.d.ts`: a model, a database, a
// bucket. `console.log(…); // text` must print this text; with `…` at its end, a text that begins so.

import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";
import { at } from "../../scripts/lib/paths.mjs";

const FENCE = /^( *)```(ts|js|tsx)\b *(.*)$/;

/** The files with code that users copy. */
export function documents() {
  const docs = readdirSync(at("docs")).filter((file) => file.endsWith(".md"));
  return [
    "README.md",
    "pkg-template/README.md",
    "SECURITY.md",
    ...docs.map((file) => `docs/${file}`),
  ];
}

/** The blocks of a text: `[{ line, language, how, reason, code }]`. */
export function blocksOf(text) {
  const lines = text.split("\n");
  const blocks = [];
  for (let at = 0; at < lines.length; at++) {
    const fence = FENCE.exec(lines[at]);
    if (!fence) continue;
    const [, indent, language, info] = fence;
    const end = lines.findIndex((line, later) => later > at && line === `${indent}\`\`\``);
    const code = lines.slice(at + 1, end).map((line) => line.slice(indent.length));
    const [how = "", ...reason] = info.split(":");
    blocks.push({
      line: at + 1,
      language,
      how: how.trim(),
      reason: reason.join(":").trim(),
      code: code.join("\n"),
    });
    at = end;
  }
  return blocks;
}

/** Every block of the documentation as a module: `[{ name, id, how, reason, code, needs }]`. */
export function modules(givenNames) {
  return documents().flatMap((file) => {
    let before;
    return blocksOf(readFileSync(at(file), "utf8")).map((block) => {
      const how = block.how === "continues" ? before.how : block.how;
      const code = block.how === "continues" ? `${before.code}\n${block.code}` : block.code;
      before = { code, how };
      const name = `${file}:${block.line}`;
      const id = name.replace(/\W+/g, "-");
      const extension = block.language === "tsx" ? "tsx" : "ts";
      return { ...block, name, id, how, code, extension, needs: free(code, givenNames) };
    });
  });
}

/** Which of these names a module uses and does not declare. */
function free(code, names) {
  const source = ts.createSourceFile("block.tsx", code, ts.ScriptTarget.ES2023, true);
  const declared = new Set();
  const used = new Set();
  const visit = (node) => {
    if (ts.isIdentifier(node)) {
      const { parent } = node;
      const property =
        (ts.isPropertyAccessExpression(parent) && parent.name === node) ||
        (ts.isPropertyAssignment(parent) && parent.name === node) ||
        (ts.isMethodDeclaration(parent) && parent.name === node) ||
        (ts.isPropertySignature(parent) && parent.name === node) ||
        (ts.isBindingElement(parent) && parent.propertyName === node);
      const declares =
        !property &&
        parent.name === node &&
        !ts.isShorthandPropertyAssignment(parent) &&
        !ts.isPropertyAccessExpression(parent);
      if (declares) declared.add(node.text);
      else if (!property) used.add(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names.filter((name) => used.has(name) && !declared.has(name));
}

/** What each `console.log(…); // text` must print, in order; undefined where nothing is said. */
export function expectations(code) {
  const said = [];
  const lines = code.split("\n");
  for (const [at, line] of lines.entries()) {
    if (!/(^|[ (])console\.log\(/.test(line)) continue;
    const end = lines.slice(at).find((later) => /\);( \/\/ .+)?$/.test(later));
    said.push(/\); \/\/ (.+)$/.exec(end ?? "")?.[1]);
  }
  return said;
}

/** Whether what was printed is what was said. */
export function fits(said, printed) {
  const plain = (text) => text.replace(/\s+/g, " ").trim();
  const whole = plain(printed);
  const wanted = plain(said);
  return wanted.endsWith("…") ? whole.startsWith(plain(wanted.slice(0, -1))) : whole === wanted;
}
