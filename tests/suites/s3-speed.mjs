// What a search costs over S3 behind latency.

import { withServers } from "../s3/run.mjs";

export default {
  about: "S3 behind 20 ms: 5,000 objects searched cold and warm, lists counted",
  needs: ["npm", "build", "ceph"],
  alone: true,
  minutes: 5,
  run: (ctx) =>
    withServers(ctx, ["ceph"], ["tests/s3/speed.test.mjs"], {
      KITBAG_TEST_DIST: ctx.at("pkg/dist"),
    }),
};
