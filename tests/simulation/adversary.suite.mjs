// The adversary: agents that do all that their files let them do, over rules, labels, turns, histories,
// indexes, ignore files and routers; somebody who writes to the library's own files; processes that end; and
// deliberate bugs that their calls must show.

import { buildSimulator } from "../../scripts/lib/simulation.mjs";

/** 20,000 and more on request: `npm run soak -- adversary`. */
const SEEDS = 5_000;
const BUGS = 23;

async function attacked(ctx, options) {
  const program = await buildSimulator("adversary");
  const { output } = await ctx.run(program, [...options, "--json"]);
  const line = output.split("\n").find((line) => line.startsWith("{"));
  if (!line) return { passed: 0, failed: 1, failures: ["the program printed no totals"] };
  const { seeds, failed, bugs } = JSON.parse(line);
  const failures = failed.map((seed) => `replay: npm run simulate -- --adversary --seed ${seed}`);
  const found = Object.entries(bugs);
  for (const [bug, seed] of found) if (seed === null) failures.push(`${bug} was not caught`);
  if (found.length !== BUGS) failures.push(`${found.length} bugs were tried instead of ${BUGS}`);
  const caught = found.map(([bug, seed]) => `${bug} caught by seed ${seed}`);
  const passed = failures.length === 0 ? 1 + found.length : 0;
  return {
    ...{ passed, failed: failures.length, failures },
    notes: [`${seeds} seeds; ${caught.join(", ")}`],
  };
}

export default {
  about: `an adversary in ${SEEDS} worlds of rules, labels, turns, histories and indexes, and ${BUGS} deliberate bugs`,
  uses: ["cargo"],
  seconds: 130,
  minutes: 10,
  soakMinutes: 60,
  run: (ctx) => attacked(ctx, ["--seeds", `${SEEDS}`]),
  soak: (ctx) => attacked(ctx, ["--seeds", "2000000", "--from", `${Date.now()}`]),
};
