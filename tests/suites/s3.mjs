// S3Backend in Node on Ceph's object gateway and moto.

import { withServers } from "../s3/run.mjs";

export default {
  about: "S3 in Node, on Ceph's object gateway and moto",
  needs: ["npm", "build:testing", "ceph", "moto"],
  minutes: 6,
  run: (ctx) => withServers(ctx, ["ceph", "moto"], ["tests/s3/node.test.mjs"]),
};
