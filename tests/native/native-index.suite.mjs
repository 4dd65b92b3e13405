// The search index against a scan: random histories with faults, in the simulator's build, also of
// searches that list nothing; and what searches of large buckets cost, against the model of docs/scale.md.

import { buildSimulator } from "../../scripts/lib/simulation.mjs";

/** 20,000 and more on request: `npm run soak -- native-index`. */
const SEEDS = 5_000;
/** Each takes longer, since many calls run at once. */
const NOTES = 500;
const BUGS = 6;

async function histories(ctx, options) {
  const program = await buildSimulator("index");
  const { output } = await ctx.run(program, [...options, "--json"]);
  const line = output.split("\n").find((line) => line.startsWith("{"));
  if (!line) return { passed: 0, failed: 1, failures: ["the program printed no totals"] };
  const { seeds, searches, excluded, merged, failed } = JSON.parse(line);
  const failures = failed.map((seed) => `replay: npm run simulate -- --index --seed ${seed}`);
  // An index that excludes nothing would be right as well.
  if (excluded < seeds) failures.push(`the index excluded only ${excluded} files`);
  if (merged < seeds / 4) failures.push(`only ${merged} segments were merged`);
  const notes = [
    `${seeds} seeds, ${searches} searches, ${excluded} files excluded by the index, ${merged} segments merged`,
  ];
  return { passed: failures.length === 0 ? 1 : 0, failed: failures.length, failures, notes };
}

/** Searches that list nothing, with several writers and faults; and bugs that these histories show. */
async function notes(ctx, options) {
  const { output } = await ctx.run(await buildSimulator("notes"), [...options, "--json"]);
  const line = output.split("\n").find((line) => line.startsWith("{"));
  if (!line) return { passed: 0, failed: 1, failures: ["the program printed no totals"] };
  const { seeds, failed, bugs } = JSON.parse(line);
  const failures = failed.map((seed) => `replay: npm run simulate -- --notes --seed ${seed}`);
  const found = Object.entries(bugs);
  for (const [bug, seed] of found) if (seed === null) failures.push(`${bug} was not caught`);
  if (found.length !== BUGS) failures.push(`${found.length} bugs were tried instead of ${BUGS}`);
  const passed = failures.length === 0 ? 1 + found.length : 0;
  return {
    ...{ passed, failed: failures.length, failures },
    notes: [`${seeds} seeds of searches that list nothing`],
  };
}

/** Requests and time by the simulated clock, against the model of docs/scale.md. */
async function scale(ctx) {
  const { output } = await ctx.run(await buildSimulator("scale"), ["--json", "5000", "50000"]);
  const lines = output.split("\n").filter((line) => line.startsWith("{"));
  const rows = lines.map((line) => JSON.parse(line));
  const failures = [];
  for (const { objects, operation, requests, mb, seconds, model } of rows) {
    const pairs = Object.entries({ requests, mb, seconds });
    for (const [at, [unit, seen]] of pairs.entries()) {
      const told = model[at];
      // A turn of requests more or less is no difference.
      const slack = { requests: 4, mb: 0.1, seconds: 0.05 }[unit];
      if (Math.abs(seen - told) <= Math.max(told / 10, slack)) continue;
      failures.push(`${objects} objects, ${operation}: ${seen} ${unit}, the model says ${told}`);
    }
  }
  if (rows.length !== 30) failures.push(`${rows.length} rows instead of 30`);
  const failed = failures.length;
  return { passed: failed === 0 ? 1 : 0, failed, failures };
}

export default {
  about: `search index: ${SEEDS} random histories, natively; its costs by the simulated clock`,
  uses: ["cargo"],
  seconds: 50,
  minutes: 10,
  soakMinutes: 60,
  run: async (ctx) => {
    const seen = await histories(ctx, ["--seeds", `${SEEDS}`]);
    const noted = await notes(ctx, ["--seeds", `${NOTES}`]);
    return {
      ...ctx.sum([seen, noted, await scale(ctx)]),
      notes: [...seen.notes, ...(noted.notes ?? [])],
    };
  },
  soak: async (ctx) => {
    const from = ["--from", `${Date.now()}`];
    const seen = await histories(ctx, ["--seeds", "1000000", ...from]);
    return ctx.sum([seen, await notes(ctx, ["--seeds", "20000", ...from])]);
  },
};
