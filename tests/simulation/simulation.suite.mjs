// The simulator: 20,000 seeds hold, each deliberate bug is caught, and its page draws what happened.

import { buildSimulator } from "../../scripts/lib/simulation.mjs";

const SEEDS = 20_000;

/** Runs the program and gives the objects that it prints, one a line. */
async function ran(ctx, program, options) {
  const { output } = await ctx.run(program, [...options, "--json"]);
  const lines = output.split("\n").filter((line) => line.startsWith("{"));
  return lines.map((line) => JSON.parse(line));
}

/** Every seed counts as one test. */
function counted(ctx, { seeds, failed }) {
  for (const seed of failed) ctx.log(`replay: npm run simulate -- --seed ${seed}`);
  return {
    passed: seeds - failed.length,
    failed: failed.length,
    failures: failed.map((seed) => `seed ${seed}; replay: npm run simulate -- --seed ${seed}`),
  };
}

async function simulated(ctx, options) {
  const [totals] = await ran(ctx, await buildSimulator(), options);
  if (!totals) return { passed: 0, failed: 1, failures: ["the simulator printed no totals"] };
  const { seeds, calls, faults, cancelled, crashed, unknown } = totals;
  ctx.log(
    `${seeds} seeds, ${calls} operations, ${faults} faults, ${cancelled} cancelled, ${crashed} ended by a crash, ${unknown} of unknown outcome`,
  );
  return counted(ctx, totals);
}

/** Each bug is a test: a seed must catch it. */
async function caught(ctx) {
  const bugs = await ran(ctx, await buildSimulator(), ["--bugs", "--seeds", `${SEEDS}`]);
  const missed = bugs.filter(({ seed }) => seed === null).map(({ bug }) => `${bug}: not caught`);
  for (const { bug, seed } of bugs) ctx.log(`${bug}: caught by seed ${seed}`);
  if (bugs.length < 10) missed.push(`only ${bugs.length} bugs were tried`);
  return { passed: bugs.length - missed.length, failed: missed.length, failures: missed };
}

export default {
  about: `${SEEDS} simulated worlds, ten deliberate bugs, and the page that draws a history`,
  needs: ["npm", "wasm-bindgen", "chromium"],
  minutes: 15,
  soakMinutes: 150,
  run: async (ctx) => {
    const seeds = await simulated(ctx, ["--seeds", `${SEEDS}`]);
    const bugs = await caught(ctx);
    const page = await ctx.nodeTests(["tests/simulation/page.test.mjs"]);
    // The seeds are one test in the total, not twenty thousand.
    const worlds = { ...seeds, passed: seeds.failed === 0 ? 1 : 0 };
    return ctx.sum([worlds, bugs, page]);
  },
  soak: (ctx) => simulated(ctx, ["--minutes", "120", "--from", `${Date.now()}`]),
};
