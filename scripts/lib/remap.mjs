// Settings of cargo under which what is built names no path of this machine, so that builds of two machines are
// alike, in their bytes and their size.

import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { must } from "./exec.mjs";
import { root } from "./paths.mjs";

/**
 * The value of cargo's `--config` for WebAssembly, beside the settings of `.cargo/config.toml`: places of panics are
 * named from the root of a crate, and `more` flags.
 */
export async function remapped(more) {
  // Where the sources are is known when they are there.
  await must("cargo", ["fetch", "--locked", "--target", "wasm32-unknown-unknown"]);
  const registry = join(process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "registry/src");
  const folders = existsSync(registry) ? readdirSync(registry).sort() : [];
  const flags = [
    ...folders.map((name) => `--remap-path-prefix=${join(registry, name)}/=`),
    `--remap-path-prefix=${root}/=`,
    ...more,
  ];
  return `target.wasm32-unknown-unknown.rustflags=${JSON.stringify(flags)}`;
}
