// The core as WebAssembly, in wasm-bindgen's test runner. `wasm-pack test` runs the same, but first compiles
// every test of the crate for WebAssembly (suite `wasm-pack`); here cargo compiles those that run.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

/** Runs tests of the crate by name; `env` says where. */
export function wasmTests(ctx, names, env) {
  const tests = names.flatMap((name) => ["--test", name]);
  const args = ["test", "--no-fail-fast", "--color", "never", "--target", "wasm32-unknown-unknown"];
  return ctx.cargoTests("cargo", [...args, ...tests], {
    // wasm-bindgen drops debug information: without it, modules of 12 MB are linked and read instead of 76.
    env: { CARGO_PROFILE_DEV_DEBUG: "0", ...env },
  });
}

/** Variables that let the runner start this machine's Chromium. */
export function inChromium(ctx) {
  const wanted = JSON.parse(readFileSync(ctx.at("webdriver.json"), "utf8"));
  wanted["goog:chromeOptions"].binary = process.env.KITBAG_CHROMIUM;
  mkdirSync(ctx.cache(), { recursive: true });
  writeFileSync(ctx.cache("webdriver.json"), JSON.stringify(wanted));
  return {
    WASM_BINDGEN_TEST_WEBDRIVER_JSON: ctx.cache("webdriver.json"),
    // Seconds; the runner's own 20 are too few on a busy machine.
    WASM_BINDGEN_TEST_TIMEOUT: "120",
  };
}
