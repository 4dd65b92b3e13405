// `serveFiles` with WebDAV: the test programs and clients of others, and attacks.

import { ensurePrograms } from "../../scripts/setup.mjs";

export default {
  about:
    "WebDAV: litmus, cadaver, rclone, locks, and attacks with XML, destinations and other users",
  needs: ["npm", "npm:fs", "build", "webdav"],
  seconds: 40,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("webdav")),
  /** Only root can mount. */
  soak: async (ctx) => {
    await ensurePrograms(["davfs2"]);
    return ctx.nodeTests(["tests/webdav/programs.test.mjs", "tests/webdav/mount.mjs"], {
      env: { KITBAG_DAV_FILES: "10000" },
    });
  },
};
