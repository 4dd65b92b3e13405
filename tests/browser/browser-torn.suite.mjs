// Kills Chromium sixteen times while it writes versions of a file, mostly of 5 MB; and some more
// times, each followed by what a kill at the worst moment leaves in the browser's own logs.

import { ok } from "node:assert/strict";
import { checks, sum } from "../../scripts/lib/outputs.mjs";
import { torn } from "./cases/torn.mjs";
import { together } from "./lib/together.mjs";

async function run(ctx, kills, tornKills) {
  const killed = async (options) => {
    const { judged, failures } = await torn({ pkg: ctx.at("pkg"), log: ctx.log, ...options });
    return { passed: Math.max(0, judged - failures.length), failed: failures.length, failures };
  };
  const { result, check } = checks();
  const reports = [result];
  const half = Math.ceil(kills / 2);
  const protectedKills = (options) => async () => {
    reports.push(await killed({ crashProtection: true, ...options }));
  };
  await together(3, [
    protectedKills({ kills: half }),
    protectedKills({ kills: kills - half }),
    protectedKills({ kills: tornKills, halves: true }),
    () =>
      check("without crashProtection torn logs lose files", async () => {
        const { failures } = await killed({ kills: 3, halves: true, crashProtection: false });
        for (const kind of ["indexeddb", "opfs"]) {
          const lost = failures.some(
            (text) => text.startsWith(`${kind}, `) && text.includes("found 0"),
          );
          ok(lost, `${kind} was not lost, so this Chromium needs no protection: ${failures}`);
        }
      }),
  ]);
  return sum(reports);
}

export default {
  about: "16 kills of a browser that writes: whole versions only",
  needs: ["npm", "build", "chromium"],
  seconds: 70,
  minutes: 10,
  soakMinutes: 75,
  run: (ctx) => run(ctx, 16, 4),
  soak: (ctx) => run(ctx, 500, 100),
};
