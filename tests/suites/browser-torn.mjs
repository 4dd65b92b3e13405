// Chromium is killed fifty times while it writes versions of a file, of 5 MB mostly.

import { KINDS, torn } from "../browser/cases/torn.mjs";

async function run(ctx, kills) {
  const { failures, dropped } = await torn({ kills, pkg: ctx.at("pkg"), log: ctx.log });
  const failed = failures.length;
  // What Chromium itself deleted says nothing of a file, and counts as neither.
  return { passed: Math.max(0, kills * KINDS.length - failed - dropped), failed, failures };
}

export default {
  about: "50 kills of a browser that writes: whole versions only",
  needs: ["npm", "build", "chromium"],
  minutes: 10,
  soakMinutes: 60,
  run: (ctx) => run(ctx, 50),
  soak: (ctx) => run(ctx, 500),
};
