// Synced trees: random histories with people in all of them, runs that end anywhere and lost answers, in the
// simulator's build, and deliberate bugs that these must catch.

import { buildSimulator } from "../../scripts/lib/simulation.mjs";

const SEEDS = 3_000;
const BUGS = 5;

async function histories(ctx, options) {
  const program = await buildSimulator("sync");
  const { output } = await ctx.run(program, [...options, "--json"]);
  const line = output.split("\n").find((line) => line.startsWith("{"));
  if (!line) return { passed: 0, failed: 1, failures: ["the program printed no totals"] };
  const { seeds, failed, bugs } = JSON.parse(line);
  const failures = failed.map((seed) => `replay: npm run simulate -- --sync --seed ${seed}`);
  const found = Object.entries(bugs);
  for (const [bug, seed] of found) if (seed === null) failures.push(`${bug} was not caught`);
  if (found.length !== BUGS) failures.push(`${found.length} bugs were tried instead of ${BUGS}`);
  const caught = found.map(([bug, seed]) => `${bug} caught by seed ${seed}`);
  const notes = [`${seeds} seeds; ${caught.join(", ")}`];
  return { passed: failures.length === 0 ? 1 : 0, failed: failures.length, failures, notes };
}

export default {
  about: `sync: ${SEEDS} random histories of two and three trees, and ${BUGS} deliberate bugs, natively`,
  uses: ["cargo"],
  seconds: 60,
  minutes: 10,
  soakMinutes: 60,
  run: (ctx) => histories(ctx, ["--seeds", `${SEEDS}`]),
  soak: (ctx) => histories(ctx, ["--seeds", "1000000", "--from", `${Date.now()}`]),
};
