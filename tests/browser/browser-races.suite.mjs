// Several tabs of one origin change the same files at the same time.

import { races } from "./cases/races.mjs";
import { serve } from "./lib/server.mjs";
import { tally } from "./lib/tally.mjs";
import { together } from "./lib/together.mjs";

export default {
  about: "4 tabs × 100 edits, 8 tabs that create one file, two agents that work in turns",
  needs: ["npm", "build", "chromium", "firefox", "webkit"],
  seconds: 90,
  minutes: 15,
  run: (ctx) => raced(ctx, 5),
  soak: (ctx) => raced(ctx, 200),
};

/** With so many turns of each of two agents. */
async function raced(ctx, turns) {
  const server = await serve({ pkg: ctx.at("pkg") });
  const { check, result } = tally(ctx.log);
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
    await together(2, all);
  } finally {
    await server.close();
  }
  return result;
}
