// IndexedDbBackend and OpfsBackend of the built package, in real browsers: the conformance suite in
// pages and in workers, and what only browsers do to their storages.

import { conforms } from "./cases/conformance.mjs";
import { special } from "./cases/special.mjs";
import { serve } from "./lib/server.mjs";
import { tally } from "./lib/tally.mjs";
import { together } from "./lib/together.mjs";

export default {
  about: "IndexedDB, OPFS and HttpBackend in Chromium, Firefox and WebKit",
  needs: ["npm", "build", "chromium", "firefox", "webkit"],
  seconds: 155,
  minutes: 15,
  run: async (ctx) => {
    const server = await serve({ pkg: ctx.at("pkg") });
    // It needs the built package.
    const { memory, serving } = await import("../clients/lib.mjs");
    const remote = await serving(memory, {}, { origins: [server.origin] });
    const { check, add, result } = tally(ctx.log);
    try {
      const both = ["indexeddb", "opfs"];
      const all = (browser, kinds, files) =>
        check(`${browser}: ran to its end`, async () => {
          await conforms({ browser, kinds, server, files, add, log: ctx.log });
          await special({ browser, kinds, server, check });
        });
      await together(2, [
        () => all("firefox", both, remote.files),
        () => all("chromium", both, remote.files),
        // WebKitGTK has no OPFS; the error message is tested instead.
        () => all("webkit", ["indexeddb"]),
      ]);
    } finally {
      await remote.close();
      await server.close();
    }
    return result;
  },
};
