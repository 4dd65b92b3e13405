// A shell over files in S3, on Ceph's object gateway.

import { startCeph } from "../s3/servers.mjs";
import { named, toolTests } from "./install.mjs";

export default {
  about: "just-bash over S3Backend: thirty commands on a real gateway",
  needs: ["npm:agents", "build", "ceph"],
  uses: ["deps-agents"],
  minutes: 6,
  run: async (ctx) => {
    const server = await startCeph();
    try {
      return await toolTests(ctx, named("bash-s3"), { KITBAG_TEST_CEPH: server.endpoint });
    } finally {
      await server.stop();
    }
  },
};
