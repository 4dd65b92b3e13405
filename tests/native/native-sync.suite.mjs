// Synced trees: random histories with people in all of them, runs that end anywhere and lost answers, in the
// simulator's build, and deliberate bugs that these must catch.

import { histories } from "./histories.mjs";

const SEEDS = 3_000;
const BUGS = 10;

export default {
  about: `sync: ${SEEDS} random histories of two and three trees, and ${BUGS} deliberate bugs, natively`,
  uses: ["cargo"],
  seconds: 40,
  minutes: 10,
  soakMinutes: 60,
  run: (ctx) => histories(ctx, "sync", BUGS, ["--seeds", `${SEEDS}`]),
  soak: (ctx) => histories(ctx, "sync", BUGS, ["--seeds", "1000000", "--from", `${Date.now()}`]),
};
