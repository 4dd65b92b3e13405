// Figures of the structure of the library, read from its Rust. Each function gives the places that it
// counted, so that a reader can look at them.

import { endOfBlock, rustSources } from "./lines.mjs";

/** The sources, with the contents of texts and without them; characters are at the same places. */
const shown = rustSources();
const plain = rustSources({ texts: false });

const lineAt = (text, place) => text.slice(0, place).split("\n").length;

/** The blocks whose head matches, with the names of the functions that stand directly in them. */
function blocks(name, head) {
  const text = plain.get(name);
  return [...text.matchAll(head)].map((found) => {
    const block = text.slice(found.index, endOfBlock(text, found.index + found[0].length - 1));
    const open = block.indexOf("{");
    let depth = 0;
    let direct = "";
    for (const character of block.slice(open)) {
      if (character === "}") depth -= 1;
      if (depth === 1) direct += character;
      if (character === "{") depth += 1;
    }
    const functions = [...direct.matchAll(/\bfn (\w+)/g)].map(([, called]) => called);
    const place = `${name}:${lineAt(text, found.index)}`;
    return { head: found[0].replace(/\s*\{$/, ""), place, functions };
  });
}

/** The methods of the trait `Storage`. */
export function storageMethods() {
  const all = [...plain.keys()].flatMap((name) => blocks(name, /\btrait Storage\b[^{;]*\{/g));
  return all.flatMap(({ functions }) => functions);
}

/** The operations, by the names that a method of each would have. */
function operations() {
  const text = plain.get("src/protocol/request.rs") ?? "";
  const from = text.search(/\benum Request\b/);
  const list = text.slice(from, endOfBlock(text, from));
  const names = [...list.matchAll(/^ {4}([A-Z]\w*)/gm)].map(([, name]) => name);
  if (names.length === 0) throw new Error("src/protocol/request.rs has no enum Request");
  return names.map((name) => name.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase());
}

/**
 * Implementations of a trait that have a method for most operations. Whoever adds an operation must
 * change each of them.
 */
export function forwarding() {
  const names = new Set(operations());
  const most = names.size / 2;
  return [...plain.keys()]
    .flatMap((name) => blocks(name, /^ *impl\b[^{;]* for [^{;]*\{/gm))
    .filter(({ functions }) => functions.filter((called) => names.has(called)).length > most)
    .map(({ place, head }) => `${place} ${head.trim()}`);
}

const EXPORTED = /#\[wasm_bindgen[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*pub (?:async )?fn (\w+)\(([^)]*)\)/g;

/** The functions that Rust exports to JavaScript, with their parameters. */
function exported() {
  return [...plain].flatMap(([name, text]) =>
    [...text.matchAll(EXPORTED)].map((found) => ({
      place: `${name}:${lineAt(text, found.index)} ${found[1]}`,
      name: found[1],
      parameters: found[2]
        .split(",")
        .map((one) => one.trim().split(/:\s*/))
        .filter(([called]) => called),
    })),
  );
}

/**
 * How options and calls cross from TypeScript to Rust, with the places of each way. A way without a
 * place is not in use.
 */
export function encodings() {
  const functions = exported();
  const where = (test) => functions.filter(test).map(({ place }) => place);
  /** Values without a name on the way; how long a call may take is a part of every call. */
  const bareValues = ({ parameters }) =>
    parameters.filter(([name, type]) => /^(bool|f64|u8)$/.test(type) && name !== "limit");
  const creates = ({ name }) => /_(new|keep|in_graphs)$/.test(name);
  const lines = [...shown]
    .filter(([name]) => name.startsWith("src/wasm/"))
    .flatMap(([name, text]) =>
      [...text.matchAll(/\.lines\(\)|split\('\\n'\)|join\("\\n"\)|\{\w*\}\\n\{\w*\}/g)].map(
        (found) => `${name}:${lineAt(text, found.index)}`,
      ),
    );
  const found = (wanted, form) =>
    [...plain].flatMap(([name, text]) =>
      wanted(name)
        ? [...text.matchAll(form)].map((one) => `${name}:${lineAt(text, one.index)}`)
        : [],
    );
  const outside = (name) => !name.startsWith("src/boundary/");
  return {
    "packed messages, described once in Rust": found(
      (name) => !outside(name),
      /^(?:options|calls)! \{/gm,
    ),
    "packed messages that the receiver reads field by field": found(outside, /\bArgs::new\(/g),
    "objects whose fields Rust reads and checks again": where(({ parameters }) =>
      parameters.some(([, type]) => type === "&JsValue"),
    ),
    "lines in one text": lines,
    "options by position, or as bits": where(
      (one) => one.parameters.length > 6 || (creates(one) && bareValues(one).length > 0),
    ),
    "several questions in one function, told apart by a number or a boolean": where(
      (one) =>
        !creates(one) &&
        one.parameters.some(
          ([name, type]) =>
            type === "bool" || (type === "u8" && /what|index|kind|which/.test(name)),
        ),
    ),
  };
}

/**
 * Where a format of files is defined that the library keeps for itself, by folder: such a file begins
 * with `kitbag`, what it is, and a version.
 */
export function ownFormats() {
  const found = new Map();
  for (const [name, text] of shown) {
    if (!/^src\/(layer|pins|side|storage|files)\//.test(name)) continue;
    const formats = [...text.matchAll(/"(kitbag(?:[a-z ]* |X)\d)/g)].map(([, format]) => format);
    const folder = name.slice(0, name.lastIndexOf("/"));
    for (const format of formats) found.set(folder, [...(found.get(folder) ?? []), format]);
  }
  return [...found].map(([folder, formats]) => `${folder}: ${[...new Set(formats)].join(", ")}`);
}
