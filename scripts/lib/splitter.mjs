// The program that splits the linked module into chunks, writes its glue and packs it (`tools/splitter`). It
// uses the crate wasm_split_cli_support with one change, `tools/splitter/shared.patch`, which says why.

import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { must, run } from "./exec.mjs";
import { at, cache } from "./paths.mjs";

const CRATE = "wasm_split_cli_support";

const PATCH = "shared.patch";

const directory = cache("tools/splitter");
const stamp = join(directory, "stamp");

/** Path of the program, after `ensure("splitter")`. */
export const splitterPath = () => join(directory, "target/release/kitbag-splitter");

/** Writes the glue of a module to a directory, as wasm-bindgen does. Names of functions stay if `named`. */
export function bind(module, directory, name, { named = false } = {}) {
  return must(splitterPath(), ["bind", module, directory, name, ...(named ? [] : ["lean"])]);
}

function fingerprint() {
  const hash = createHash("sha256");
  for (const file of ["Cargo.toml", "Cargo.lock", "src/main.rs", PATCH]) {
    hash.update(readFileSync(at("tools/splitter", file)));
  }
  return hash.digest("hex");
}

/** Changes the crate's source. A version that the patch is not written for is an error. */
export async function applyPatch(source) {
  // Inside of another work tree git would look for the files there, and apply nothing.
  const env = { GIT_CEILING_DIRECTORIES: dirname(source) };
  const patch = at("tools/splitter", PATCH);
  await must("git", ["apply", "--whitespace=nowarn", patch], { cwd: source, env });
  // Where nothing was applied, it can be applied now.
  const again = await run("git", ["apply", "--check", patch], { cwd: source, env });
  if (again.code === 0) throw new Error(`${patch} changed nothing in ${source}`);
}

/** Builds the program, unless it is up to date. */
export async function buildSplitter(say) {
  const print = fingerprint();
  const built = existsSync(stamp) ? readFileSync(stamp, "utf8") : "";
  if (built === print && existsSync(splitterPath())) return;
  say("building the splitter with cargo; this takes a minute, once");
  const manifest = ["--manifest-path", at("tools/splitter/Cargo.toml"), "--locked"];
  const told = await must("cargo", ["metadata", "--format-version", "1", ...manifest]);
  const metadata = JSON.parse(told.slice(told.indexOf('{"packages"')));
  const found = metadata.packages.find(({ name }) => name === CRATE);
  if (!found) throw new Error(`cargo metadata names no ${CRATE}`);
  const source = join(directory, CRATE);
  rmSync(source, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  cpSync(dirname(found.manifest_path), source, { recursive: true });
  await applyPatch(source);
  // Cargo writes to the lock file, as a patched crate has no checksum there; so a copy is built.
  const copy = join(directory, "driver");
  rmSync(copy, { recursive: true, force: true });
  cpSync(at("tools/splitter"), copy, { recursive: true });
  await must("cargo", [
    "build",
    "--release",
    "--manifest-path",
    join(copy, "Cargo.toml"),
    "--target-dir",
    join(directory, "target"),
    "--config",
    `patch.crates-io.${CRATE}.path="${source}"`,
  ]);
  writeFileSync(stamp, print);
}
