// The core as WebAssembly, in Node: a part of the suite `wasm-pack`, on request.

import { wasmTests } from "./run.mjs";

export default {
  about: "the core as WebAssembly, by wasm-bindgen's test runner in Node (on request)",
  needs: ["wasm-bindgen"],
  uses: ["cargo"],
  onRequest: true,
  seconds: 60,
  minutes: 15,
  run: (ctx) => wasmTests(ctx, ["wasm_node"], { WASM_BINDGEN_TEST_ONLY_NODE: "1" }),
};
