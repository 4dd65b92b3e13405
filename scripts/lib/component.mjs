// Builds the WebAssembly component and its host of WASI: compiles the crates in `component/`, optimises the modules, and
// wraps them with the types of their WIT. Only if the sources have changed since the last time. What wraps and
// checks them is wasm-tools as WebAssembly, which jco has: to compile that program takes over a minute.

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { fingerprint } from "./built.mjs";
import { must } from "./exec.mjs";
import { optimised } from "./optimise.mjs";
import { GZIP } from "./order.mjs";
import { at, cache } from "./paths.mjs";
import { remapped } from "./remap.mjs";
import { HEAD, sectionsOf } from "./sections.mjs";

const INPUTS = [
  ...["Cargo.toml", "Cargo.lock", ".cargo/config.toml", "build.rs", "src", "wit"],
  ...["component/Cargo.toml", "component/src", "component/npm"],
  "component/wasi",
  ...[
    "scripts/lib/component.mjs",
    "scripts/lib/optimise.mjs",
    "scripts/lib/order.mjs",
    "scripts/lib/remap.mjs",
    "scripts/lib/sections.mjs",
    "tests/deps/component/package-lock.json",
  ],
];

/** The component. */
export const COMPONENT = cache("component/kitbag.component.wasm");

/** The component that answers with WASI what that one imports. */
export const WASI = cache("component/kitbag-wasi.wasm");

/** The npm package with both and their types. */
export const PACKAGE = cache("component/package");

/** The sections of a component that are for debuggers alone, a hundredth of its bytes. */
const UNNEEDED = ["component-name", "producers"];

/** A component without those sections. */
export function stripped(component) {
  const kept = [...sectionsOf(component)].filter(({ name }) => !UNNEEDED.includes(name));
  return Buffer.concat([HEAD, ...kept.map(({ bytes }) => bytes)]);
}

/** The functions of wasm-tools, after `ensure("npm:component")`. */
export function wasmTools() {
  const require = createRequire(at("tests/deps/component/package.json"));
  const path = require.resolve("@bytecodealliance/jco-transpile/wasm-tools");
  return import(pathToFileURL(path).href);
}

/** The interfaces that a component imports and exports, in its order. */
export async function interfacesOf(component) {
  const { componentWit } = await wasmTools();
  const printed = await componentWit(component);
  const named = (what) =>
    [...printed.matchAll(new RegExp(`^ {2}${what} (\\S+);$`, "gm"))].map(([, name]) => name);
  return { imports: named("import"), exports: named("export") };
}

/** The kind of a section that is a module. */
const MODULE = 1;

/** Throws unless a component is valid: its types by wasm-tools, the code of its modules by this engine. */
export async function validate(component) {
  const { componentWit } = await wasmTools();
  await componentWit(component);
  for (const { kind, content } of sectionsOf(component)) {
    if (kind !== MODULE || WebAssembly.validate(content)) continue;
    throw new Error("a module of the component is not valid");
  }
}

/** Both components: the module of each, and where it goes. */
const BUILT = [
  ["kitbag_component", COMPONENT],
  ["kitbag_wasi", WASI],
];

/** What cargo compiles. */
export const COMPILED = [
  ...["-p", "kitbag-component", "-p", "kitbag-wasi"],
  ...["--profile", "component", "--target", "wasm32-unknown-unknown"],
];

/** Builds the component and its host, and returns the path of the component. */
export async function buildComponent() {
  mkdirSync(cache("component"), { recursive: true });
  const stamp = cache("component/stamp");
  const print = fingerprint(INPUTS);
  const last = existsSync(stamp) && existsSync(COMPONENT) ? readFileSync(stamp, "utf8") : "";
  if (last === print) return COMPONENT;
  const target = cache("component-target");
  await must("cargo", [
    ...["build", "--locked", ...COMPILED, "--target-dir", target],
    ...["--config", await remapped([])],
  ]);
  const { componentNew } = await wasmTools();
  for (const [name, path] of BUILT) {
    const built = readFileSync(`${target}/wasm32-unknown-unknown/component/${name}.wasm`);
    const module = await optimised(built, { shrink: 2, order: GZIP });
    const component = stripped(Buffer.from(await componentNew(module)));
    await validate(component);
    writeFileSync(path, component);
  }
  writePackage();
  writeFileSync(stamp, print);
  return COMPONENT;
}

/** Writes the package. Its version is that of the crate. */
function writePackage() {
  rmSync(PACKAGE, { recursive: true, force: true });
  cpSync(at("component/npm"), PACKAGE, { recursive: true });
  cpSync(COMPONENT, `${PACKAGE}/kitbag.component.wasm`);
  cpSync(at("wit/kitbag.wit"), `${PACKAGE}/kitbag.wit`);
  cpSync(WASI, `${PACKAGE}/kitbag-wasi.wasm`);
  cpSync(at("component/wasi/wit/kitbag-wasi.wit"), `${PACKAGE}/kitbag-wasi.wit`);
  cpSync(at("LICENSE"), `${PACKAGE}/LICENSE`);
  const crate = readFileSync(at("Cargo.toml"), "utf8");
  const version = /^version = "(.+)"/m.exec(crate)?.[1];
  if (!version) throw new Error("Cargo.toml names no version");
  const fields = JSON.parse(readFileSync(at("component/npm/package.json"), "utf8"));
  const { name, ...rest } = fields;
  const text = JSON.stringify({ name, version, ...rest }, undefined, 2);
  writeFileSync(`${PACKAGE}/package.json`, `${text}\n`);
}
