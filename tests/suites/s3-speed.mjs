// What a search costs over S3 behind latency. It measures, so nothing else runs beside it.

import { withServers } from "../s3/run.mjs";

export default {
  about: "S3 behind 20 ms: 5,000 objects searched cold and warm, lists counted",
  needs: ["npm", "build", "ceph"],
  alone: true,
  minutes: 10,
  run: (ctx) => withServers(ctx, ["ceph"], ["tests/s3/speed.test.mjs"]),
};
