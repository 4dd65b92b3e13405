// Time of a search over S3 with network latency. It measures, so no other suite runs beside it.

import { withServers } from "./run.mjs";

export default {
  about: "S3 behind 20 ms: 5,000 objects searched cold and warm, lists counted",
  needs: ["npm", "build", "ceph"],
  alone: true,
  minutes: 15,
  run: (ctx) => withServers(ctx, ["ceph"], ["tests/s3/speed.test.mjs"]),
};
