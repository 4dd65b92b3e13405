// Random histories in the simulator's build, and deliberate bugs that these must catch.

import { buildSimulator } from "../../scripts/lib/simulation.mjs";

/** Runs one of the simulator's programs, which tries so many bugs. */
export async function histories(ctx, name, bugs, options) {
  const program = await buildSimulator(name);
  const { output } = await ctx.run(program, [...options, "--json"]);
  const line = output.split("\n").find((line) => line.startsWith("{"));
  if (!line) return { passed: 0, failed: 1, failures: ["the program printed no totals"] };
  const { seeds, failed, bugs: tried } = JSON.parse(line);
  const failures = failed.map((seed) => `replay: npm run simulate -- --${name} --seed ${seed}`);
  const found = Object.entries(tried);
  for (const [bug, seed] of found) if (seed === null) failures.push(`${bug} was not caught`);
  if (found.length !== bugs) failures.push(`${found.length} bugs were tried instead of ${bugs}`);
  const caught = found.map(([bug, seed]) => `${bug} caught by seed ${seed}`);
  const notes = [`${seeds} seeds; ${caught.join(", ")}`];
  return { passed: failures.length === 0 ? 1 : 0, failed: failures.length, failures, notes };
}
