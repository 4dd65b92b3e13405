// The core as WebAssembly, in Node.

import { wasmTests } from "./run.mjs";

export default {
  about: "the core as WebAssembly, by wasm-bindgen's test runner in Node",
  needs: ["wasm-bindgen"],
  uses: ["cargo"],
  seconds: 60,
  minutes: 15,
  run: (ctx) => wasmTests(ctx, ["wasm_node"], { WASM_BINDGEN_TEST_ONLY_NODE: "1" }),
};
