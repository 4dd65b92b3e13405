// The search index against a scan, natively and optimised: 20,000 random histories with faults.

export default {
  about: "search index: 20,000 random histories, natively",
  uses: ["cargo"],
  minutes: 10,
  run: (ctx) =>
    ctx.cargoTests(
      "cargo",
      ["test", "--lib", "--profile", "quick", "--color", "never", "layer::indexed"],
      { env: { KITBAG_SEEDS: "20000" } },
    ),
};
