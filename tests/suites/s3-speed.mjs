// What a search costs over S3 behind latency. It measures the machine as much as the code, and the
// cold search misses its limit today, so `npm run soak -- s3-speed` runs it and `npm test` does not.

import { withServers } from "../s3/run.mjs";

export default {
  about: "S3 behind 20 ms: 5,000 objects searched cold and warm, lists counted",
  needs: ["npm", "build:testing", "ceph"],
  alone: true,
  minutes: 5,
  soak: (ctx) => withServers(ctx, ["ceph"], ["tests/s3/speed.test.mjs"]),
};
