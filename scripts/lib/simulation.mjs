// Builds the simulator (`tests/simulation`): natively, and as WebAssembly for its view of
// the playground.

import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureAll } from "../setup.mjs";
import { fingerprint } from "./built.mjs";
import { must } from "./exec.mjs";
import { locked } from "./lock.mjs";
import { at, cache } from "./paths.mjs";
import { bind } from "./splitter.mjs";

const target = () => at("target/simulation");
const manifest = () => ["--manifest-path", at("tests/simulation/Cargo.toml"), "--locked"];

/**
 * Builds the programs and gives the path of one: `simulate`, `turns`, `sync`, `adversary`, or `index`, `notes` and `scale`
 * for the search index.
 */
export async function buildSimulator(program = "simulate") {
  await must("cargo", ["build", "--release", ...manifest(), "--target-dir", target()]);
  return join(target(), "release", program);
}

/** What the program of the page is made of. */
const INPUTS = [
  ...["Cargo.toml", "Cargo.lock", "build.rs", "src"],
  ...["Cargo.toml", "Cargo.lock", "src"].map((name) => `tests/simulation/${name}`),
];

const folder = () => cache("simulation-page");
const PROGRAM = ["kitbag_simulation.js", "kitbag_simulation_bg.wasm"];

/** The hash of the sources, and whether the last build was of these. */
function built() {
  const print = fingerprint(INPUTS);
  const stamp = join(folder(), "sources");
  const done = existsSync(stamp) && readFileSync(stamp, "utf8") === print;
  return { done, save: () => writeFileSync(stamp, print) };
}

export const simulatorIsBuilt = () => built().done;

/** Builds the program of the page as WebAssembly, if its sources have changed. Takes minutes. */
export function buildSimulatorPage() {
  return locked("simulation-page", async () => {
    const { done, save } = built();
    if (done) return;
    await ensureAll(["wasm-target", "splitter"]);
    const triple = "wasm32-unknown-unknown";
    await must("cargo", [
      ...["build", "--profile", "page", "--lib", "--target", triple],
      ...[...manifest(), "--target-dir", target()],
    ]);
    mkdirSync(folder(), { recursive: true });
    const wasm = join(target(), triple, "page/kitbag_simulation.wasm");
    await bind(wasm, folder(), "kitbag_simulation");
    save();
  });
}

/**
 * Puts the program beside a playground, into `simulator/`, and meanwhile says there that it is being
 * built: the page looks at `state.json`. Gives what went wrong, or undefined.
 */
export async function addSimulator(outDir) {
  const out = join(outDir, "simulator");
  mkdirSync(out, { recursive: true });
  const tell = (state) => writeFileSync(join(out, "state.json"), JSON.stringify(state));
  if (!built().done) tell({ state: "building" });
  try {
    await buildSimulatorPage();
    for (const name of PROGRAM) cpSync(join(folder(), name), join(out, name));
    tell({ state: "ready" });
    return undefined;
  } catch (error) {
    tell({ state: "failed", error: error.message.split("\n")[0] });
    return error;
  }
}
