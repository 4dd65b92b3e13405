// Turns, natively and optimised: the overlay against one flat tree, and random histories with
// crashes.

const histories = (ctx, seeds) =>
  ctx.cargoTests(
    "cargo",
    ["test", "--lib", "--profile", "quick", "--color", "never", "layer::turn"],
    { env: { KITBAG_SEEDS: `${seeds}` } },
  );

export default {
  about: "turns: 20,000 random histories with crashes, natively",
  uses: ["cargo"],
  seconds: 130,
  minutes: 10,
  soakMinutes: 60,
  run: (ctx) => histories(ctx, 20_000),
  soak: (ctx) => histories(ctx, 200_000),
};
