// The core as WebAssembly, in wasm-bindgen's test runner. `wasm-pack test` runs the same, but first compiles
// every test of the crate for WebAssembly; here cargo compiles those that run.

/** Runs tests of the crate by name; `env` says where. */
export function wasmTests(ctx, names, env) {
  const tests = names.flatMap((name) => ["--test", name]);
  const args = ["test", "--no-fail-fast", "--color", "never", "--target", "wasm32-unknown-unknown"];
  return ctx.cargoTests("cargo", [...args, ...tests], {
    // wasm-bindgen drops debug information: without it, modules of 12 MB are linked and read instead of 76.
    env: { CARGO_PROFILE_DEV_DEBUG: "0", ...env },
  });
}
