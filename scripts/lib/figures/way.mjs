// The way of one call: which source files it passes from TypeScript to `fetch`, as it runs.
//
// The package is built with the names of all functions and without inlining (`npm run build -- --named`).
// `node --trace-wasm` then prints every function of the WebAssembly that is entered, the inspector
// counts the calls of JavaScript, and the name of a function says in which file it is. Two sets follow:
//
// - `entered`: files of which a function runs before `fetch` is called: what somebody enters who steps
//   through the call, but for the vocabulary of all calls (`VOCABULARY`).
// - `stacked`: of these, the files whose functions wait for `fetch`. They stand on the stack, because
//   nested futures are polled from the outside in.

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { ensure } from "../../setup.mjs";
import { must } from "../exec.mjs";
import { at, cache } from "../paths.mjs";

/**
 * What all code uses as it uses the language: paths, errors, cells, times, and the allocator. A reader
 * does not follow a call into them.
 */
const VOCABULARY = [/^src\/core\//, /^src\/wasm\/heap\.rs$/, /^ts\/core\/text\.ts$/];

const PACKAGE = cache("pkg-named");

/** The file of a function of the crate, by its name; undefined for those of other crates. */
function rustFile(name) {
  const found = /^(?:kitbag\.wasm\.)?[<&]*(?:dyn |mut )*kitbag((?:::\w+)+)/.exec(name);
  if (!found) return undefined;
  const steps = found[1].split("::").slice(1);
  for (let length = steps.length; length > 0; length--) {
    const path = `src/${steps.slice(0, length).join("/")}`;
    const file = [`${path}.rs`, `${path}/mod.rs`].find((one) => existsSync(at(one)));
    if (file) return file;
  }
  return undefined;
}

/** The file at an offset of the bundle: esbuild writes its name before each module. */
function moduleAt(bundle, offset) {
  const from = bundle.lastIndexOf("\n// ", offset);
  const name = bundle.slice(from + 4, bundle.indexOf("\n", from + 4));
  return name.startsWith("ts/") ? name : undefined;
}

/** The offset of a frame `… (…/core.cjs:LINE:COLUMN)`; undefined for other frames. */
function offsetOf(bundle, frame) {
  const found = /\/core\.cjs:(\d+):(\d+)\)?$/.exec(frame);
  if (!found) return undefined;
  const lines = bundle.split("\n").slice(0, Number(found[1]) - 1);
  return lines.reduce((sum, line) => sum + line.length + 1, 0) + Number(found[2]) - 1;
}

/** The first function of a call, and the one by which Rust calls a function of the host. */
const FIRST = "call_start";
const HOST = /__wbg_call_/;

/** The functions of the WebAssembly that were entered from the beginning of the call until `fetch`. */
function enteredIn(trace) {
  const names = [...trace.matchAll(/~wasm-function\[\d+\] "([^"]*)" \{/g)].map(([, name]) => name);
  const from = names.lastIndexOf(FIRST);
  const to = names.findIndex((name, index) => index > from && HOST.test(name));
  if (from < 0 || to < 0) {
    throw new Error(
      `node --trace-wasm printed no ${FIRST} that leads to ${HOST}: were they renamed?`,
    );
  }
  return names.slice(from, to);
}

/** The files that the call passes, sorted: `{ entered, stacked }`. */
export async function way() {
  await ensure("build:named");
  const file = cache("figures", "called.json");
  mkdirSync(cache("figures"), { recursive: true });
  const child = at("scripts/lib/figures/called.cjs");
  const trace = await must(process.execPath, ["--trace-wasm", child, PACKAGE, file]);
  const { core, offsets, stack } = JSON.parse(readFileSync(file, "utf8"));
  const bundle = readFileSync(core, "utf8");
  const counted = (files) =>
    [...new Set(files)].filter((name) => name && !VOCABULARY.some((one) => one.test(name))).sort();
  const scripts = offsets.map((offset) => moduleAt(bundle, offset));
  const stackOf = (frame) => {
    const name = /^\s*at (?:async )?(.+) \(wasm:/.exec(frame)?.[1];
    if (name) return rustFile(name);
    const offset = offsetOf(bundle, frame);
    return offset === undefined ? undefined : moduleAt(bundle, offset);
  };
  return {
    entered: counted([...scripts, ...enteredIn(trace).map(rustFile)]),
    stacked: counted(stack.map(stackOf)),
  };
}
