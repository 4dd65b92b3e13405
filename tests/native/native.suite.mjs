// The core as native Rust: unit tests, properties against naive twins, documentation examples.

export default {
  about: "cargo test, natively",
  needs: ["busybox"],
  uses: ["cargo"],
  seconds: 250,
  minutes: 20,
  // Always the same cases, so that a run tells about the change and not about chance; new ones are tried
  // by the long form.
  run: (ctx) =>
    ctx.cargoTests("cargo", ["test", "--no-fail-fast", "--color", "never"], {
      env: { PROPTEST_RNG_SEED: "20261125" },
    }),
  soak: async (ctx) => {
    const test = (targets, env) =>
      ctx.cargoTests("cargo", ["test", "--release", ...targets, "--color", "never"], { env });
    return ctx.sum([
      await test(["--lib"], { KITBAG_LONGER: "100" }),
      await test(["--test", "fuzz_engines", "--test", "fuzz_kept"], { PROPTEST_CASES: "100000" }),
    ]);
  },
};
