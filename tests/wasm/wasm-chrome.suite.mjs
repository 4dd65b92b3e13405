// The core as WebAssembly, in wasm-bindgen's test runner in headless Chromium.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

export default {
  about: "wasm-pack test --headless --chrome",
  needs: ["wasm-bindgen", "wasm-pack", "chromedriver"],
  uses: ["cargo"],
  seconds: 200,
  minutes: 15,
  run: (ctx) => {
    const args = ["test", "--headless", "--chrome", "--mode", "no-install"];
    args.push(
      "--chromedriver",
      process.env.KITBAG_CHROMEDRIVER,
      ".",
      "--test",
      "wasm_browser",
      "--test",
      "wasm_storages",
    );
    // wasm-bindgen drops debug information: without it, modules of 12 MB are linked and read instead of 76.
    const env = {
      WASM_BINDGEN_TEST_WEBDRIVER_JSON: capabilities(ctx),
      CARGO_PROFILE_DEV_DEBUG: "0",
      // Seconds; the runner's own 20 are too few on a busy machine.
      WASM_BINDGEN_TEST_TIMEOUT: "120",
    };
    return ctx.cargoTests("wasm-pack", args, { env });
  },
};

/** The committed capabilities, with the path of this machine's browser. */
function capabilities(ctx) {
  const wanted = JSON.parse(readFileSync(ctx.at("webdriver.json"), "utf8"));
  wanted["goog:chromeOptions"].binary = process.env.KITBAG_CHROMIUM;
  mkdirSync(ctx.cache(), { recursive: true });
  writeFileSync(ctx.cache("webdriver.json"), JSON.stringify(wanted));
  return ctx.cache("webdriver.json");
}
