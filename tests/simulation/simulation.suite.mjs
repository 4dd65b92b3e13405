// The simulator: 20,000 seeds hold, each deliberate bug is caught, and its page draws what happened.

import { buildSimulator, buildSimulatorPage } from "../../scripts/lib/simulation.mjs";

const SEEDS = 20_000;

/** Runs the program and gives the objects that it prints, one a line. */
async function ran(ctx, program, options) {
  const { output } = await ctx.run(program, [...options, "--json"]);
  const lines = output.split("\n").filter((line) => line.startsWith("{"));
  return lines.map((line) => JSON.parse(line));
}

/** Many seeds, as one test. */
async function simulated(ctx, options) {
  const [totals] = await ran(ctx, await buildSimulator(), options);
  if (!totals)
    return { passed: 0, failed: 1, failures: ["the simulator printed no totals"], notes: [] };
  const { seeds, calls, faults, cancelled, crashed, unknown, failed } = totals;
  const note = `${seeds} seeds, ${calls} operations, ${faults} faults; ${cancelled} operations cancelled, ${crashed} ended by a crash, ${unknown} of unknown outcome`;
  const failures = failed.map((seed) => `replay: npm run simulate -- --seed ${seed}`);
  return {
    passed: failed.length === 0 ? 1 : 0,
    failed: failed.length,
    failures,
    notes: [note],
  };
}

/** Each bug is a test: a seed must catch it. */
async function caught(ctx) {
  const bugs = await ran(ctx, await buildSimulator(), ["--bugs", "--seeds", `${SEEDS}`]);
  const failures = bugs.filter(({ seed }) => seed === null).map(({ bug }) => `${bug}: not caught`);
  const notes = bugs.map(({ bug, seed }) => `bug ${bug}: caught by seed ${seed}`);
  const missed = failures.length;
  if (bugs.length < 10) failures.push(`only ${bugs.length} bugs were tried`);
  const first = String(bugs.find(({ bug }) => bug === "read-then-write")?.seed ?? "");
  return { passed: bugs.length - missed, failed: failures.length, failures, notes, first };
}

export default {
  about: `${SEEDS} simulated worlds, ten deliberate bugs, and the view that draws a history`,
  needs: ["npm", "splitter", "build", "www", "chromium"],
  seconds: 130,
  minutes: 15,
  soakMinutes: 150,
  run: async (ctx) => {
    const seeds = await simulated(ctx, ["--seeds", `${SEEDS}`]);
    // The page is compiled while the bugs are looked for.
    const [bugs] = await Promise.all([caught(ctx), buildSimulatorPage()]);
    // The page shows the seed that caught the first bug.
    const env = { KITBAG_BUG_SEED: bugs.first };
    const page = await ctx.nodeTests(["tests/simulation/page.test.mjs"], { env });
    return { ...ctx.sum([seeds, bugs, page]), notes: [...seeds.notes, ...bugs.notes] };
  },
  soak: (ctx) => simulated(ctx, ["--minutes", "120", "--from", `${Date.now()}`]),
};
