// The program that splits the linked module into chunks (`tools/splitter`). It uses the crate
// wasm_split_cli_support with one change: code that several chunks share goes to the primary
// module, unless SPLIT_SHARED names exactly those chunks. The published crate creates a chunk for
// each set of chunks that shares a function: 44 for our seven, most of them under a kilobyte.

import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { must } from "./exec.mjs";
import { at, cache } from "./paths.mjs";

const CRATE = "wasm_split_cli_support";

/** The change, at the place where the chunk of a piece of code is decided. */
const CHANGE = {
  file: "src/split_point.rs",
  from: "                    if marked_for_main {\n",
  to: `                    let shared = std::env::var("SPLIT_SHARED").unwrap_or_default();
                    let unnamed = matches!(&self.color, SplitModuleIdentifier::Chunk(groups)
                        if !shared.split(' ').any(|set| {
                            set.split('+').eq(groups.iter().map(String::as_str))
                        }));
                    if marked_for_main || unnamed {
`,
};

const directory = cache("tools/splitter");
const stamp = join(directory, "stamp");

/** Path of the program, after `ensure("splitter")`. */
export const splitterPath = () => join(directory, "target/release/kitbag-splitter");

function fingerprint() {
  const hash = createHash("sha256");
  for (const file of ["Cargo.toml", "Cargo.lock", "src/main.rs"]) {
    hash.update(readFileSync(at("tools/splitter", file)));
  }
  return hash.update(JSON.stringify(CHANGE)).digest("hex");
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
  const file = join(source, CHANGE.file);
  const text = readFileSync(file, "utf8");
  if (text.split(CHANGE.from).length !== 2) {
    throw new Error(`${CRATE} ${found.version} is not the version that the change is written for`);
  }
  writeFileSync(file, text.replace(CHANGE.from, CHANGE.to));
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
