// Joins components to one, as `wac compose` does: what one of them imports and an earlier one exports is connected, what
// is left are interfaces of WASI. Written here because `wac-graph` takes a minute of processors to compile.
//
// The types of what is left come from the WIT that jco brings along. wasm-tools makes them: a module that imports just the
// functions that the parts use is wrapped, and the sections before that module are ours.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { interfacesOf, wasmTools } from "./component.mjs";
import { at } from "./paths.mjs";
import { HEAD, numberOf, sectionsOf } from "./sections.mjs";

const WITS = at("tests/deps/component/node_modules/@bytecodealliance/jco/lib/wit/builtin/0.2.12");

/** Kinds of sections. */
const [MODULE, COMPONENT, INSTANCE, ALIAS, EXPORT] = [1, 4, 5, 6, 11];

/** In an instance, an alias or an export: that an instance is meant. */
const OF_INSTANCE = 0x05;

const encoded = (name) => [...numberOf(Buffer.byteLength(name)), ...Buffer.from(name)];

function section(kind, content) {
  return Buffer.concat([Buffer.from([kind, ...numberOf(content.length)]), Buffer.from(content)]);
}

/** All modules in a component, also those of components in it. */
function* modulesOf(component) {
  for (const { kind, content } of sectionsOf(component)) {
    if (kind === MODULE) yield new WebAssembly.Module(content);
    if (kind === COMPONENT) yield* modulesOf(content);
  }
}

/** The packages of WASI as one text, each with the version that is asked for. */
function wasi(names) {
  let all = readdirSync(WITS)
    .map((folder) => readFileSync(join(WITS, folder, "package.wit"), "utf8"))
    .map((wit) => `${wit.replace(/^(package [^;]+);/, "$1 {")}}\n`)
    .join("");
  for (const [, packaged, version] of names.join("\n").matchAll(/^(wasi:\w+)\/.*@(.*)$/gm)) {
    all = all.replaceAll(new RegExp(`(${packaged}(?:/[\\w-]+)?)@0\\.2\\.12`, "g"), `$1@${version}`);
  }
  return all;
}

/** How wasm-tools calls an import of a module that it makes up. */
function dummyName(from, name) {
  const track = from.replace(/(@0\.\d+|@[1-9]\d*)\..*$/, "$1");
  return `cm32p2|${track} ${name.replace(/^\[resource-drop\](.*)$/, "$1_drop")}`;
}

/** The head of a component that imports these interfaces, with no more functions than `used` has. */
async function head(names, used) {
  const { componentEmbed, componentNew, parse, print } = await wasmTools();
  const world = names.map((name) => `import ${name};`).join("\n");
  const witSource = `package composed:parts;\nworld all {\n${world}\n}\n${wasi(names)}`;
  const whole = await print(await componentEmbed({ dummy: true, witSource, world: "all" }));
  const lines = whole.split("\n").filter((line) => {
    const [, from, name] = /^ {2}\(import "([^"]+)" "([^"]+)"/.exec(line) ?? [];
    return from === undefined || used.has(`${from} ${name}`);
  });
  // Functions of the module itself have other numbers without the imports that are left out.
  const text = lines
    .join("\n")
    .replaceAll(/^( {2}\(export .* \(func )(\d+\)\))$/gm, "$1$f$2")
    .replaceAll(/^( {2}\(func )\(;(\d+);\)/gm, "$1$f$2");
  const component = Buffer.from(await componentNew(await parse(text)));
  const sections = [...sectionsOf(component)];
  const end = sections.findIndex(({ kind }) => kind === MODULE);
  return {
    bytes: Buffer.concat(sections.slice(0, end).map(({ bytes }) => bytes)),
    imports: (await interfacesOf(component)).imports,
  };
}

/**
 * One component of several. Each may import what those before it export; what the last exports, all of them
 * together export.
 */
export async function composed(parts) {
  const faces = [];
  for (const part of parts) faces.push(await interfacesOf(part));
  const open = new Set();
  const provided = new Set();
  for (const { imports, exports } of faces) {
    for (const name of imports) if (!provided.has(name)) open.add(name);
    for (const name of exports) provided.add(name);
  }
  const foreign = [...open].filter((name) => !name.startsWith("wasi:"));
  if (foreign.length > 0) throw new Error(`no part before exports ${foreign.join(", ")}`);
  const used = new Set();
  for (const part of parts) {
    for (const module of modulesOf(part)) {
      for (const { module: from, name } of WebAssembly.Module.imports(module)) {
        used.add(dummyName(from, name));
      }
    }
  }
  const { bytes, imports } = await head([...open], used);
  const written = [HEAD, bytes, ...parts.map((part) => section(COMPONENT, part))];
  /** Where an interface is: the number of an instance. */
  const where = new Map(imports.map((name, position) => [name, position]));
  let next = imports.length;
  for (const [position, face] of faces.entries()) {
    const given = face.imports.flatMap((name) => {
      if (!where.has(name)) throw new Error(`nothing is known of ${name}`);
      return [...encoded(name), OF_INSTANCE, ...numberOf(where.get(name))];
    });
    const made = [1, 0, ...numberOf(position), ...numberOf(face.imports.length), ...given];
    written.push(section(INSTANCE, made));
    const instance = next++;
    const taken = face.exports.flatMap((name) => [
      OF_INSTANCE,
      0,
      ...numberOf(instance),
      ...encoded(name),
    ]);
    written.push(section(ALIAS, [...numberOf(face.exports.length), ...taken]));
    for (const name of face.exports) where.set(name, next++);
  }
  const last = faces.at(-1).exports;
  const shown = last.flatMap((name) => [
    0,
    ...encoded(name),
    OF_INSTANCE,
    ...numberOf(where.get(name)),
    0,
  ]);
  written.push(section(EXPORT, [...numberOf(last.length), ...shown]));
  return Buffer.concat(written);
}
