// Several tabs of one origin change the same files at the same time; and Chromium is killed in the midst
// of commits.

import { deepStrictEqual } from "node:assert/strict";
import { killed } from "./cases/killed.mjs";
import { races } from "./cases/races.mjs";
import { serve } from "./lib/server.mjs";
import { tally } from "./lib/tally.mjs";
import { together } from "./lib/together.mjs";

export default {
  about: "4 tabs × 100 edits, 8 tabs that create one file, turns of two agents, kills amid commits",
  needs: ["npm", "build", "chromium", "firefox", "webkit"],
  seconds: 50,
  minutes: 15,
  soakMinutes: 40,
  run: (ctx) => raced(ctx, 5, 2),
  soak: (ctx) => raced(ctx, 200, 50),
};

/** Profiles at once: after most kills, a journal is looked at for ten seconds. */
const PROFILES = 2;

/** With so many turns of each of two agents, and so many kills of Chromium. */
async function raced(ctx, turns, kills) {
  const server = await serve({ pkg: ctx.at("pkg") });
  const { check, result } = tally(ctx.log);
  const amid = () =>
    check(`chromium: after ${kills} kills amid commits, all or nothing`, async () => {
      const half = { kills: kills / PROFILES, pkg: ctx.at("pkg"), log: ctx.log };
      const halves = await Promise.all(Array.from({ length: PROFILES }, () => killed(half)));
      const failures = halves.flatMap((one) => one.failures);
      deepStrictEqual(failures, []);
    });
  try {
    const all = [
      ["firefox", "opfs", 100],
      ["chromium", "opfs", 100],
      ["firefox", "indexeddb", 100],
      ["chromium", "indexeddb", 100],
      ["webkit", "indexeddb", 100],
    ].map(([browser, kind, edits]) => () => {
      const ran = () => races({ browser, kind, edits, turns, server, check });
      return check(`${browser}, ${kind}: ran to its end`, ran);
    });
    // They mostly wait.
    await Promise.all([together(2, all), amid()]);
  } finally {
    await server.close();
  }
  return result;
}
