// S3Backend over an unreliable network with seeded faults; `npm run soak` uses many seeds.

import { withServers } from "./run.mjs";

const FILES = ["tests/s3/faults.test.mjs"];

export default {
  about: "S3 through a proxy that drops, cuts, corrupts, delays and refuses",
  needs: ["npm", "build", "ceph"],
  seconds: 60,
  minutes: 6,
  run: (ctx) => withServers(ctx, ["ceph"], FILES),
  soak: async (ctx) => {
    const results = [];
    for (let seed = 1; seed <= 30; seed++) {
      results.push(await withServers(ctx, ["ceph"], FILES, { KITBAG_TEST_SEED: String(seed) }));
    }
    return ctx.sum(results);
  },
};
