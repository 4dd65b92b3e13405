// The core as WebAssembly, in headless Chromium.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { wasmTests } from "./run.mjs";

export default {
  about: "the core as WebAssembly, by wasm-bindgen's test runner in headless Chromium",
  needs: ["wasm-bindgen", "chromedriver"],
  uses: ["cargo"],
  seconds: 100,
  minutes: 15,
  run: (ctx) =>
    wasmTests(ctx, ["wasm_browser", "wasm_storages"], {
      WASM_BINDGEN_TEST_ONLY_WEB: "1",
      CHROMEDRIVER: process.env.KITBAG_CHROMEDRIVER,
      WASM_BINDGEN_TEST_WEBDRIVER_JSON: capabilities(ctx),
      // Seconds; the runner's own 20 are too few on a busy machine.
      WASM_BINDGEN_TEST_TIMEOUT: "120",
    }),
};

/** The committed capabilities, with the path of this machine's browser. */
function capabilities(ctx) {
  const wanted = JSON.parse(readFileSync(ctx.at("webdriver.json"), "utf8"));
  wanted["goog:chromeOptions"].binary = process.env.KITBAG_CHROMIUM;
  mkdirSync(ctx.cache(), { recursive: true });
  writeFileSync(ctx.cache("webdriver.json"), JSON.stringify(wanted));
  return ctx.cache("webdriver.json");
}
