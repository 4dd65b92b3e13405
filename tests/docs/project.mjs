// A project of a user, in which the code of the documentation is compiled and run: the package as
// it is packed, and links to the other packages that the code imports.

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { at, cache } from "../../scripts/lib/paths.mjs";
import { unpack } from "../lib/pack.mjs";
import { compiled } from "../lib/tsc.mjs";

export const project = cache("docs-code");
const modulesOf = join(project, "node_modules");

/** Directories whose packages a block can import, the first one that has it. */
const SETS = [
  at("tests/docs/doubles"),
  at("tests/deps/agents/node_modules"),
  at("tests/deps/optional/node_modules"),
  at("tests/deps/fs/node_modules"),
  at("tests/deps/newest/node_modules"),
  at("tests/deps/editor/node_modules"),
  at("tests/deps/mcp/node_modules"),
];

function link(target, name) {
  const place = join(modulesOf, name);
  if (existsSync(place)) return;
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(target, place, "junction");
}

/** Packs the package and unpacks it here; links the rest. */
export async function makeProject() {
  rmSync(project, { recursive: true, force: true });
  await unpack(join(modulesOf, "kitbag"));
  for (const set of SETS) {
    for (const name of readdirSync(set)) {
      if (name.startsWith(".") || name === "kitbag") continue;
      const scoped = name.startsWith("@") ? readdirSync(join(set, name)) : [""];
      for (const part of scoped) link(join(set, name, part), join(name, part));
    }
  }
  writeFileSync(join(project, "package.json"), '{ "type": "module", "private": true }\n');
}

const OPTIONS = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: "es2023",
  module: "esnext",
  moduleResolution: "bundler",
  lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"],
  jsx: "preserve",
  types: ["node"],
  typeRoots: [at("node_modules/@types")],
};

/** Compiles all blocks in one program; returns the errors of each by its id. */
export async function typeErrors(blocks) {
  const given = ["given.d.ts", "node.d.ts"];
  for (const name of given) copyFileSync(at("tests/docs", name), join(project, name));
  for (const { id, extension, code, needs } of blocks) {
    const names = needs.length > 0 ? `import { ${needs.join(", ")} } from "./given.js";` : "";
    // On one line, so that the lines of an error are those of the block. A block without an import
    // is a module as well.
    writeFileSync(join(project, `${id}.${extension}`), `${names}export {}; ${code}\n`);
  }
  const files = [...given, ...blocks.map(({ id, extension }) => `${id}.${extension}`)];
  const { mistakes } = await compiled(project, { compilerOptions: OPTIONS, files });
  const errors = new Map(blocks.map(({ id }) => [id, []]));
  for (const { file, line, text } of mistakes) {
    const id = file && errors.has(idOf(file)) ? idOf(file) : blocks[0].id;
    errors.get(id).push(`line ${line}: ${text}`);
  }
  return errors;
}

const idOf = (path) => path.slice(project.length + 1).replace(/\.tsx?$/, "");

/** The block as JavaScript; names that it was given come from `globalThis.given`. */
export function asJavaScript({ code, needs, extension }) {
  const { outputText } = ts.transpileModule(code, {
    fileName: `block.${extension}`,
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
  });
  const names = needs.join(", ");
  return names === "" ? outputText : `const { ${names} } = globalThis.given;\n${outputText}`;
}
