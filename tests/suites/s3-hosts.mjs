// S3Backend in workerd and in Chromium on Ceph's object gateway; R2Backend in workerd.

import { withServers } from "../s3/run.mjs";

export default {
  about: "S3 in workerd and Chromium (CORS), R2 in workerd",
  needs: ["npm", "build:testing", "ceph", "chromium"],
  minutes: 6,
  run: (ctx) =>
    withServers(ctx, ["ceph"], ["tests/s3/workerd.test.mjs", "tests/s3/chromium.test.mjs"]),
};
