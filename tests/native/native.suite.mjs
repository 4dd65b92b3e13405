// The core as native Rust: unit tests, properties against naive twins, documentation examples.

export default {
  about: "cargo test, natively",
  uses: ["cargo"],
  seconds: 150,
  minutes: 20,
  run: (ctx) => ctx.cargoTests("cargo", ["test", "--no-fail-fast", "--color", "never"]),
  soak: (ctx) =>
    ctx.cargoTests(
      "cargo",
      ["test", "--release", "--test", "fuzz_engines", "--test", "fuzz_kept", "--color", "never"],
      { env: { PROPTEST_CASES: "100000" } },
    ),
};
