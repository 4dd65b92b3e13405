// IndexedDbBackend and OpfsBackend of the built package, in real browsers: the conformance suite in
// pages and in workers, and what only browsers do to their storages.

import { conforms } from "./cases/conformance.mjs";
import { special } from "./cases/special.mjs";
import { serve } from "./lib/server.mjs";
import { tally } from "./lib/tally.mjs";

export default {
  about: "IndexedDB and OPFS in Chromium, Firefox and WebKit",
  needs: ["npm", "build", "chromium", "firefox", "webkit"],
  minutes: 15,
  run: async (ctx) => {
    const server = await serve({ pkg: ctx.at("pkg") });
    const { check, add, result } = tally(ctx.log);
    try {
      const both = ["indexeddb", "opfs"];
      for (const [browser, kinds] of [
        ["chromium", both],
        ["firefox", both],
        // WebKitGTK has no OPFS; the error message is tested instead.
        ["webkit", ["indexeddb"]],
      ]) {
        await check(`${browser}: ran to its end`, async () => {
          await conforms({ browser, kinds, server, add, log: ctx.log });
          await special({ browser, kinds, server, check });
        });
      }
    } finally {
      await server.close();
    }
    return result;
  },
};
