// What a build needs beside Rust and Node, installed where it is missing.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tools = join(root, ".cache/tools");

function run(command, args) {
  console.log(`> ${command} ${args.join(" ")}`);
  execFileSync(command, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
}

function output(command, args) {
  const done = spawnSync(command, args, { encoding: "utf8" });
  return done.status === 0 ? done.stdout.trim() : "";
}

/** The version of wasm-bindgen that the crate is pinned to; its tool must be the very same. */
function bindgenVersion() {
  const manifest = readFileSync(join(root, "Cargo.toml"), "utf8");
  const version = /^wasm-bindgen = "=(.+)"/m.exec(manifest)?.[1];
  if (!version) throw new Error("Cargo.toml pins no wasm-bindgen");
  return version;
}

/** Where the matching wasm-bindgen is. */
export function wasmBindgen() {
  const own = join(tools, "bin/wasm-bindgen");
  return existsSync(own) ? own : "wasm-bindgen";
}

export async function ensureBuildTools() {
  if (!output("cargo", ["--version"])) {
    throw new Error("Rust is needed: install it with rustup, then run this again");
  }
  const targets = output("rustup", ["target", "list", "--installed"]);
  if (!targets.includes("wasm32-unknown-unknown")) {
    run("rustup", ["target", "add", "wasm32-unknown-unknown"]);
  }
  const version = bindgenVersion();
  if (output(wasmBindgen(), ["--version"]) !== `wasm-bindgen ${version}`) {
    run("cargo", ["install", "wasm-bindgen-cli", "--version", version, "--root", tools]);
  }
  const lock = join(root, "node_modules/.package-lock.json");
  if (!existsSync(lock) || statSync(lock).mtimeMs < statSync(join(root, "package-lock.json")).mtimeMs) {
    run("npm", ["ci"]);
  }
}
