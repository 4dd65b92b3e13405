// What a search costs over S3 behind latency. It measures the machine as much as the code: the
// cold search has missed its limit on a busy one, so it is run by `npm run soak -- s3-speed` and
// not by every `npm test`.

import { withServers } from "../s3/run.mjs";

export default {
  about: "S3 behind 20 ms: 5,000 objects searched cold and warm, lists counted",
  needs: ["npm", "build", "ceph"],
  alone: true,
  minutes: 5,
  soak: (ctx) =>
    withServers(ctx, ["ceph"], ["tests/s3/speed.test.mjs"], {
      KITBAG_TEST_DIST: ctx.at("pkg/dist"),
    }),
};
