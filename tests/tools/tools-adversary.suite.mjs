// The adversary of tool sets: two agents make random calls through every presentation of the tools, over layers in
// random order, and deliberate bugs in copies of the package that their calls must show.

import { at } from "../../scripts/lib/paths.mjs";

const SEEDS = 200;
const BUGS = 25;

async function attacked(ctx, options) {
  const program = at("tests/tools/adversary/run.mjs");
  const { output } = await ctx.run(process.execPath, [program, ...options, "--bugs", "--json"]);
  const line = output.split("\n").find((one) => one.startsWith('{"seeds"'));
  if (!line) return { passed: 0, failed: 1, failures: ["the program printed no totals"] };
  const { seeds, failed, bugs } = JSON.parse(line);
  const failures = failed.map(
    (seed) => `replay: node tests/tools/adversary/run.mjs --seed ${seed}`,
  );
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
  about: `an adversary of tool sets in ${SEEDS} worlds of rules, labels, turns and histories, and ${BUGS} deliberate bugs`,
  needs: ["npm:agents", "build"],
  seconds: 50,
  run: (ctx) => attacked(ctx, ["--seeds", `${SEEDS}`]),
  soak: (ctx) => attacked(ctx, ["--seeds", "20000", "--from", `${Date.now()}`]),
};
