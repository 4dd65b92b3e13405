// What the machine can do over the bytes of a corpus: a native program sums them and finds texts.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { must } from "../../scripts/lib/exec.mjs";
import { at, cache } from "../../scripts/lib/paths.mjs";

const TARGET = at("target/native");
const MANIFEST = at("benches/native/Cargo.toml");
const BUILD = ["--release", "--locked", "--manifest-path", MANIFEST, "--target-dir", TARGET];

/** The same functions in WebAssembly: the path of the module. */
export async function nativeInWasm() {
  const target = "wasm32-unknown-unknown";
  await must("cargo", ["build", "--lib", ...BUILD, "--target", target], { cwd: at() });
  return join(TARGET, target, "release/limits.wasm");
}

/** Milliseconds of summing all bytes of these texts, and of finding each of `patterns` in them. */
export async function native(texts, patterns) {
  await must("cargo", ["build", ...BUILD]);
  const folder = cache("bench");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "corpus");
  try {
    writeFileSync(file, texts.join(""));
    const program = join(TARGET, "release/kitbag-bench-native");
    const output = await must(program, [file, ...patterns]);
    const [sum, ...found] = output.trim().split("\n").map(Number);
    return { sum, found: Object.fromEntries(patterns.map((one, at) => [one, found[at]])) };
  } finally {
    rmSync(file, { force: true });
  }
}
