// The core as WebAssembly by `wasm-pack test`, in headless Chromium and in Node. The suites `wasm-chrome` and
// `wasm-node` run the same tests without wasm-pack. On request: its programs and its build of the crate take six
// minutes of a processor on a new machine.

import { inChromium } from "./run.mjs";

export default {
  about: "wasm-pack test, headless in Chromium and in Node (on request)",
  needs: ["wasm-bindgen", "wasm-pack", "chromedriver"],
  uses: ["cargo"],
  onRequest: true,
  seconds: 70,
  minutes: 15,
  run: async (ctx) => {
    const env = { CARGO_PROFILE_DEV_DEBUG: "0", ...inChromium(ctx) };
    const test = (names, ...where) => {
      const tests = names.flatMap((name) => ["--test", name]);
      const args = ["test", ...where, "--mode", "no-install", ".", ...tests];
      return ctx.cargoTests("wasm-pack", args, { env });
    };
    const driver = ["--chromedriver", process.env.KITBAG_CHROMEDRIVER];
    const pages = await test(
      ["wasm_browser", "wasm_storages"],
      "--headless",
      "--chrome",
      ...driver,
    );
    const node = await test(["wasm_node"], "--node");
    return {
      passed: pages.passed + node.passed,
      failed: pages.failed + node.failed,
      failures: [...pages.failures, ...node.failures],
    };
  },
};
