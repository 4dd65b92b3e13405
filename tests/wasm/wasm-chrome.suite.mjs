// The core as WebAssembly, in headless Chromium: a part of the suite `wasm-pack`, on request.

import { inChromium, wasmTests } from "./run.mjs";

export default {
  about: "the core as WebAssembly, by wasm-bindgen's test runner in headless Chromium (on request)",
  needs: ["wasm-bindgen", "chromedriver"],
  uses: ["cargo"],
  onRequest: true,
  seconds: 60,
  minutes: 15,
  run: (ctx) =>
    wasmTests(ctx, ["wasm_browser", "wasm_storages"], {
      WASM_BINDGEN_TEST_ONLY_WEB: "1",
      CHROMEDRIVER: process.env.KITBAG_CHROMEDRIVER,
      ...inChromium(ctx),
    }),
};
