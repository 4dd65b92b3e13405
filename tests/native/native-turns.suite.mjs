// Turns and pins: random histories with crashes, in the simulator's build, and deliberate bugs that these must
// catch. The overlay against one flat tree is among the unit tests (suite `native`).

import { histories } from "./histories.mjs";

/** 20,000 and more on request: `npm run soak -- native-turns`. */
const SEEDS = 5_000;
const BUGS = 6;

export default {
  about: `turns: ${SEEDS} random histories with crashes, and ${BUGS} deliberate bugs, natively`,
  uses: ["cargo"],
  seconds: 60,
  minutes: 10,
  soakMinutes: 60,
  run: (ctx) => histories(ctx, "turns", BUGS, ["--seeds", `${SEEDS}`]),
  soak: (ctx) => histories(ctx, "turns", BUGS, ["--seeds", "4000000", "--from", `${Date.now()}`]),
};
