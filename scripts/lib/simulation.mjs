// Builds the simulator (`tests/simulation`): natively, and as WebAssembly for its page.

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ensure, wasmBindgen } from "../setup.mjs";
import { must } from "./exec.mjs";
import { at, cache } from "./paths.mjs";

const target = () => at("target/simulation");
const manifest = () => ["--manifest-path", at("tests/simulation/Cargo.toml"), "--locked"];

/**
 * Builds the programs and gives the path of one: `simulate`, `turns`, `adversary`, or `index` and `scale`
 * for the search index.
 */
export async function buildSimulator(program = "simulate") {
  await must("cargo", ["build", "--release", ...manifest(), "--target-dir", target()]);
  return join(target(), "release", program);
}

/** Builds the page and gives its files, as `{ path: [type, body] }`. */
export async function buildSimulatorPage() {
  await ensure("wasm-bindgen");
  const triple = "wasm32-unknown-unknown";
  await must("cargo", [
    ...["build", "--profile", "page", "--lib", "--target", triple],
    ...[...manifest(), "--target-dir", target()],
  ]);
  const out = cache("simulation-page");
  mkdirSync(out, { recursive: true });
  const built = join(target(), triple, "page/kitbag_simulation.wasm");
  await must(wasmBindgen(), ["--target", "web", "--no-typescript", "--out-dir", out, built]);
  const page = (name) => readFileSync(at("tests/simulation/page", name));
  return {
    "/": ["text/html", page("index.html")],
    "/page.js": ["text/javascript", page("page.js")],
    "/draw.js": ["text/javascript", page("draw.js")],
    "/style.css": ["text/css", page("style.css")],
    "/kitbag_simulation.js": ["text/javascript", readFileSync(join(out, "kitbag_simulation.js"))],
    "/kitbag_simulation_bg.wasm": [
      "application/wasm",
      readFileSync(join(out, "kitbag_simulation_bg.wasm")),
    ],
  };
}
