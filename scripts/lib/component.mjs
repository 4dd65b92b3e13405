// Builds the WebAssembly component: compiles the crate in `component/`, optimises the module, and wraps it
// with the types of `wit/kitbag.wit`. Only if its sources have changed since the last time. What wraps and
// checks it is wasm-tools as WebAssembly, which jco has: to compile that program takes over a minute.

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { fingerprint } from "./built.mjs";
import { must } from "./exec.mjs";
import { optimised } from "./optimise.mjs";
import { at, cache } from "./paths.mjs";
import { sectionsOf } from "./sections.mjs";

const INPUTS = [
  ...["Cargo.toml", ".cargo/config.toml", "build.rs", "src", "wit"],
  ...["component/Cargo.toml", "component/Cargo.lock", "component/src", "component/npm"],
  ...[
    "scripts/lib/component.mjs",
    "scripts/lib/optimise.mjs",
    "scripts/lib/order.mjs",
    "tests/deps/component/package-lock.json",
  ],
];

/** The component. */
export const COMPONENT = cache("component/kitbag.component.wasm");

/** The npm package with the component and its types. */
export const PACKAGE = cache("component/package");

/** The sections of a component that are for debuggers alone, a hundredth of its bytes. */
const UNNEEDED = ["component-name", "producers"];

/** A component without those sections. */
export function stripped(component) {
  const kept = [...sectionsOf(component)].filter(({ name }) => !UNNEEDED.includes(name));
  return Buffer.concat([component.subarray(0, 8), ...kept.map(({ bytes }) => bytes)]);
}

/** The functions of wasm-tools, after `ensure("npm:component")`. */
export function wasmTools() {
  const require = createRequire(at("tests/deps/component/package.json"));
  const path = require.resolve("@bytecodealliance/jco-transpile/wasm-tools");
  return import(pathToFileURL(path).href);
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

/** Builds the component, and returns its path. */
export async function buildComponent() {
  mkdirSync(cache("component"), { recursive: true });
  const stamp = cache("component/stamp");
  const print = fingerprint(INPUTS);
  const last = existsSync(stamp) && existsSync(COMPONENT) ? readFileSync(stamp, "utf8") : "";
  if (last === print) return COMPONENT;
  const target = cache("component-target");
  await must("cargo", [
    ...["build", "--release", "--locked", "--target", "wasm32-unknown-unknown"],
    ...["--manifest-path", at("component/Cargo.toml"), "--target-dir", target],
  ]);
  const built = `${target}/wasm32-unknown-unknown/release/kitbag_component.wasm`;
  const module = await optimised(readFileSync(built), { shrink: 2 });
  const { componentNew } = await wasmTools();
  const component = stripped(Buffer.from(await componentNew(module)));
  await validate(component);
  writeFileSync(COMPONENT, component);
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
  cpSync(at("LICENSE"), `${PACKAGE}/LICENSE`);
  const crate = readFileSync(at("Cargo.toml"), "utf8");
  const version = /^version = "(.+)"/m.exec(crate)?.[1];
  if (!version) throw new Error("Cargo.toml names no version");
  const fields = JSON.parse(readFileSync(at("component/npm/package.json"), "utf8"));
  const { name, ...rest } = fields;
  const text = JSON.stringify({ name, version, ...rest }, undefined, 2);
  writeFileSync(`${PACKAGE}/package.json`, `${text}\n`);
}
