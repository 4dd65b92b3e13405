// kitbag/sync of a browser's storages with trees behind HTTP, while the browser is killed. After a kill the next
// run waits ten seconds, in which the killed one could say that it goes on.

import { checks } from "../../scripts/lib/outputs.mjs";

async function run(ctx, kills) {
  // It needs the built package.
  const { killedPages } = await import("./killed-pages.mjs");
  const { result, check } = checks();
  await check(`${kills} kills of Chromium amid syncs: equal trees, every edit`, async () => {
    const ended = await killedPages({ kills, log: ctx.log });
    const most = Math.max(...Object.values(ended));
    if (most === kills) throw new Error("a storage was never killed amid a sync");
  });
  return result;
}

export default {
  about: "sync of OPFS with R2 in workerd, and of IndexedDB with PostgreSQL; Chromium is killed",
  needs: ["npm", "npm:fs", "npm:runtimes", "npm:durable", "build", "chromium", "postgres"],
  seconds: 90,
  minutes: 10,
  soakMinutes: 30,
  run: (ctx) => run(ctx, 4),
  soak: (ctx) => run(ctx, 30),
};
