// The core as WebAssembly, in wasm-bindgen's test runner in Node.

export default {
  about: "wasm-pack test --node",
  needs: ["wasm-bindgen", "wasm-pack"],
  uses: ["cargo"],
  minutes: 15,
  run: (ctx) =>
    ctx.cargoTests(
      "wasm-pack",
      ["test", "--node", "--mode", "no-install", ".", "--test", "wasm_node"],
      // As in wasm-chrome, whose build it shares.
      { env: { CARGO_PROFILE_DEV_DEBUG: "0" } },
    ),
};
