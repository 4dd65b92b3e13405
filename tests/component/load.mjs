// The component in Node, by way of jco. `instance()` gives one with a host of its own.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { COMPONENT } from "../../scripts/lib/component.mjs";
import { at, cache } from "../../scripts/lib/paths.mjs";

export { COMPONENT };

const OUT = cache("component/jco");

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

async function transpiled() {
  const bytes = readFileSync(COMPONENT);
  const copy = join(OUT, "of.wasm");
  if (existsSync(copy) && readFileSync(copy).equals(bytes)) return;
  const require = createRequire(at("tests/deps/component/package.json"));
  const { transpile } = await import(
    pathToFileURL(require.resolve("@bytecodealliance/jco-transpile")).href
  );
  const { files } = await transpile(COMPONENT, {
    name: "kitbag",
    instantiation: "sync",
    outDir: OUT,
    emitTypescriptDeclarations: false,
  });
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true });
    const isGlue = path.endsWith("kitbag.js");
    writeFileSync(path, isGlue ? patched(Buffer.from(content).toString()) : content);
  }
  writeFileSync(join(OUT, "package.json"), '{ "type": "module" }');
  writeFileSync(copy, bytes);
}

await transpiled();
const { instantiate } = await import(pathToFileURL(join(OUT, "kitbag.js")).href);
const modules = new Map();

function compiled(name) {
  let module = modules.get(name);
  if (!module) {
    module = new WebAssembly.Module(readFileSync(join(OUT, name)));
    modules.set(name, module);
  }
  return module;
}

/** What a class of the host must be, so that jco takes its objects for volumes. */
export class Volume {}

/** A host with a clock and a machine without commands. */
export const host = {
  now: () => BigInt(Date.now()) * 1000n,
  bits: () => crypto.getRandomValues(new BigUint64Array(1))[0],
  execute() {
    throw { code: "unsupported", message: "there are no commands" };
  },
  decide: () => false,
  inspect: () => ({ tag: "pass" }),
  audit() {},
};

/** An instance of the component: `{ Backend, ToolSet, Turn, undo }`. */
export function instance(given = {}) {
  const { now, bits, execute, decide, inspect, audit } = { ...host, ...given };
  const { backends, tools, turns } = instantiate(compiled, {
    "kitbag:files/clock": { now },
    "kitbag:files/random": { bits },
    "kitbag:files/shell": { execute },
    "kitbag:files/rules": { decide, inspect, audit },
    "kitbag:files/storage": { Volume },
  });
  return { Backend: backends.Backend, ToolSet: tools.ToolSet, Turn: turns.Turn, undo: turns.undo };
}
