// Time of a search over S3 with network latency. It measures, so no other suite runs beside it.

import { withServers } from "./run.mjs";

export default {
  about: "S3 behind 20 ms: 5,000 objects searched cold and warm, lists counted",
  needs: ["npm", "build"],
  alone: true,
  minutes: 15,
  run: (ctx) => ctx.nodeTests(["tests/s3/speed.test.mjs"]),
  // Also on Ceph's gateway, whose own work is most of it there, and with ten times the objects in the index.
  soak: async (ctx) => {
    await ctx.ensure("ceph");
    return withServers(ctx, ["ceph"], ["tests/s3/speed.test.mjs"], { KITBAG_INDEXED: "50000" });
  },
};
