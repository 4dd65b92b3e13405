// What the machine can do over the bytes of a corpus: a native program sums them and finds texts.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { must } from "../../scripts/lib/exec.mjs";
import { at, cache } from "../../scripts/lib/paths.mjs";

/** Milliseconds of summing all bytes of these texts, and of finding each of `patterns` in them. */
export async function native(texts, patterns) {
  const target = at("target/native");
  const manifest = at("benches/native/Cargo.toml");
  const build = ["build", "--release", "--locked", "--manifest-path", manifest];
  await must("cargo", [...build, "--target-dir", target]);
  const folder = cache("bench");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "corpus");
  try {
    writeFileSync(file, texts.join(""));
    const program = join(target, "release/kitbag-bench-native");
    const output = await must(program, [file, ...patterns]);
    const [sum, ...found] = output.trim().split("\n").map(Number);
    return { sum, found: new Map(patterns.map((pattern, at) => [pattern, found[at]])) };
  } finally {
    rmSync(file, { force: true });
  }
}
