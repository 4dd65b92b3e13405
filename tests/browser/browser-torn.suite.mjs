// Kills Chromium fifty times while it writes versions of a file, mostly of 5 MB; and some more
// times, each followed by what a kill at the worst moment leaves in the browser's own logs.

import { ok } from "node:assert/strict";
import { checks, sum } from "../../scripts/lib/outputs.mjs";
import { torn } from "./cases/torn.mjs";

async function run(ctx, kills, tornKills) {
  const killed = async (options) => {
    const { judged, failures } = await torn({ pkg: ctx.at("pkg"), log: ctx.log, ...options });
    return { passed: Math.max(0, judged - failures.length), failed: failures.length, failures };
  };
  const { result, check } = checks();
  const whole = await killed({ kills });
  const halves = await killed({ kills: tornKills, halves: true });
  // With another user agent Chromium is not recognised, and its logs are not protected.
  await check("torn logs lose files where nothing guards them", async () => {
    const { failures } = await killed({ kills: 3, halves: true, agent: "Somebody/1.0" });
    for (const kind of ["indexeddb", "opfs"]) {
      const lost = failures.some(
        (text) => text.startsWith(`${kind}, `) && text.includes("found 0"),
      );
      ok(lost, `${kind} was not lost, so this Chromium needs no guard: ${failures}`);
    }
  });
  return sum([whole, halves, result]);
}

export default {
  about: "50 kills of a browser that writes: whole versions only",
  needs: ["npm", "build", "chromium"],
  minutes: 10,
  soakMinutes: 75,
  run: (ctx) => run(ctx, 50, 10),
  soak: (ctx) => run(ctx, 500, 100),
};
