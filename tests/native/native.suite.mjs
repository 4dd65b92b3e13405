// The core as native Rust: unit tests, properties against naive twins, documentation examples.

export default {
  about: "cargo test, natively",
  uses: ["cargo"],
  minutes: 20,
  run: (ctx) => ctx.cargoTests("cargo", ["test", "--no-fail-fast", "--color", "never"]),
};
