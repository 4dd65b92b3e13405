// JavaScript of a component, as jco writes it. It is written once for the same bytes.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { locked } from "../../scripts/lib/lock.mjs";
import { at, cache } from "../../scripts/lib/paths.mjs";

/** A module of an npm package that the suite has. */
export function ofSuite(name) {
  const require = createRequire(at("tests/deps/component/package.json"));
  return import(pathToFileURL(require.resolve(name)).href);
}

/** What is replaced in jco's glue, each exactly once. */
const PATCHES = [
  // This decoder drops a byte order mark, which is the first character of some files.
  ["new TextDecoder()", 'new TextDecoder("utf-8", { ignoreBOM: true })'],
  // Looking up a variable of the environment takes a third of the time of a short call, a dozen times in each.
  ["!globalThis?.process?.env?.JCO_DEBUG", "true"],
];

/** The glue with its replacements. */
export function patched(glue) {
  return PATCHES.reduce((text, [from, to]) => {
    if (text.split(from).length !== 2) throw new Error(`jco's glue has not one ${from}`);
    return text.replace(from, to);
  }, glue);
}

async function written(component, name, out) {
  const bytes = readFileSync(component);
  const copy = join(out, "of.wasm");
  if (existsSync(copy) && readFileSync(copy).equals(bytes)) return;
  const { transpile } = await ofSuite("@bytecodealliance/jco-transpile");
  const { files } = await transpile(component, {
    name,
    instantiation: "sync",
    outDir: out,
    emitTypescriptDeclarations: false,
  });
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true });
    const isGlue = path.endsWith(`${name}.js`);
    writeFileSync(path, isGlue ? patched(Buffer.from(content).toString()) : content);
  }
  writeFileSync(join(out, "package.json"), '{ "type": "module" }');
  writeFileSync(copy, bytes);
}

/** Makes instances of a component: takes imports, and returns exports. */
export async function transpiled(component, name, folder) {
  const out = cache("component", folder);
  await locked(`component-${folder}`, () => written(component, name, out));
  const { instantiate } = await import(pathToFileURL(join(out, `${name}.js`)).href);
  const modules = new Map();
  const compiled = (file) => {
    let module = modules.get(file);
    if (!module) {
      module = new WebAssembly.Module(readFileSync(join(out, file)));
      modules.set(file, module);
    }
    return module;
  };
  return (imports) => instantiate(compiled, imports);
}
