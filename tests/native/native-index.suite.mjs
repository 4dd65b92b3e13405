// The search index against a scan: 20,000 random histories with faults, in the simulator's build.

import { buildSimulator } from "../../scripts/lib/simulation.mjs";

const SEEDS = 20_000;

async function histories(ctx, options) {
  const program = await buildSimulator("index");
  const { output } = await ctx.run(program, [...options, "--json"]);
  const line = output.split("\n").find((line) => line.startsWith("{"));
  if (!line) return { passed: 0, failed: 1, failures: ["the program printed no totals"] };
  const { seeds, searches, excluded, failed } = JSON.parse(line);
  const failures = failed.map((seed) => `replay: npm run simulate -- --index --seed ${seed}`);
  // An index that excludes nothing would be right as well.
  if (excluded < seeds) failures.push(`the index excluded only ${excluded} files`);
  const notes = [`${seeds} seeds, ${searches} searches, ${excluded} files excluded by the index`];
  return { passed: failures.length === 0 ? 1 : 0, failed: failures.length, failures, notes };
}

export default {
  about: `search index: ${SEEDS} random histories, natively`,
  uses: ["cargo"],
  minutes: 10,
  soakMinutes: 60,
  run: (ctx) => histories(ctx, ["--seeds", `${SEEDS}`]),
  soak: (ctx) => histories(ctx, ["--seeds", "1000000", "--from", `${Date.now()}`]),
};
