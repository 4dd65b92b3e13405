// S3Backend in workerd, Chromium, Deno and Bun on Ceph's object gateway; R2Backend in workerd; the command
// `kitbag` and the playground on a bucket of Ceph. With the package as it is published. What differs between
// servers is tested in Node (suite `s3`); here, moto is in the long form only.

import { withServers } from "./run.mjs";

const FILES = [
  ...["workerd", "chromium", "runtimes", "command", "sync"].map(
    (host) => `tests/s3/${host}.test.mjs`,
  ),
  "tests/playground/gateway.test.mjs",
];

export default {
  about:
    "S3 in workerd, Chromium (CORS), Deno and Bun, R2 in workerd, npx kitbag, its killed syncs",
  needs: ["npm", "npm:runtimes", "build", "ceph", "chromium", "ripgrep", "www"],
  seconds: 150,
  minutes: 20,
  run: (ctx) => withServers(ctx, ["ceph"], FILES),
  soak: async (ctx) => {
    await ctx.ensure("moto");
    const env = { KITBAG_COPIED: "10000", KITBAG_KILLS: "30", KITBAG_WAITS: "1" };
    return withServers(ctx, ["ceph", "moto"], FILES, env);
  },
};
