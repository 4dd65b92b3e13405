// Builds the WebAssembly component: compiles the crate in `component/`, optimises the module, and wraps it
// with the types of `wit/kitbag.wit`. Only if its sources have changed since the last time.

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fingerprint } from "./built.mjs";
import { must } from "./exec.mjs";
import { optimised } from "./optimise.mjs";
import { at, cache } from "./paths.mjs";

const INPUTS = [
  ...["Cargo.toml", ".cargo/config.toml", "build.rs", "src", "wit"],
  ...["component/Cargo.toml", "component/Cargo.lock", "component/src", "component/npm"],
  ...["scripts/lib/component.mjs", "scripts/lib/optimise.mjs"],
];

/** The component. */
export const COMPONENT = cache("component/kitbag.component.wasm");

/** The npm package with the component and its types. */
export const PACKAGE = cache("component/package");

/** The sections of a component that are for debuggers alone, a hundredth of its bytes. */
const UNNEEDED = ["component-name", "producers"];

/** A component without those sections. */
export function stripped(component) {
  const number = (at) => {
    let [value, shift, next] = [0, 0, at];
    for (;;) {
      const byte = component[next++];
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return [value, next];
      shift += 7;
    }
  };
  // The magic number and the version.
  const kept = [component.subarray(0, 8)];
  for (let at = 8; at < component.length; ) {
    const [size, start] = number(at + 1);
    const [length, text] = component[at] === 0 ? number(start) : [0, start];
    const name = component.subarray(text, text + length).toString();
    if (!UNNEEDED.includes(name)) kept.push(component.subarray(at, start + size));
    at = start + size;
  }
  return Buffer.concat(kept);
}

/** Builds the component with this wasm-tools, and returns its path. */
export async function buildComponent(wasmTools) {
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
  const module = cache("component/module.wasm");
  writeFileSync(module, await optimised(readFileSync(built), { shrink: 2 }));
  await must(wasmTools, ["component", "new", module, "--output", COMPONENT]);
  writeFileSync(COMPONENT, stripped(readFileSync(COMPONENT)));
  await must(wasmTools, ["validate", COMPONENT]);
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
