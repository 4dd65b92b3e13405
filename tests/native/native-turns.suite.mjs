// Turns, natively and optimised: the overlay against one flat tree, and 20,000 random histories with
// crashes.

export default {
  about: "turns: 20,000 random histories with crashes, natively",
  uses: ["cargo"],
  minutes: 10,
  run: (ctx) =>
    ctx.cargoTests(
      "cargo",
      ["test", "--lib", "--profile", "quick", "--color", "never", "layer::turn"],
      { env: { KITBAG_SEEDS: "20000" } },
    ),
};
