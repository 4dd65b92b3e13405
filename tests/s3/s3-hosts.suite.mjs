// S3Backend in workerd, Chromium, Deno and Bun on Ceph's object gateway and moto; R2Backend in
// workerd; the command `kitbag` on Ceph's gateway; a bucket of Ceph in the playground. With the
// package as it is published.

import { withServers } from "./run.mjs";

const FILES = [
  ...["workerd", "chromium", "runtimes", "command"].map((host) => `tests/s3/${host}.test.mjs`),
  "tests/playground/gateway.test.mjs",
];

export default {
  about: "S3 in workerd, Chromium (CORS), Deno and Bun, R2 in workerd, npx kitbag",
  needs: ["npm", "npm:runtimes", "build", "ceph", "moto", "chromium", "ripgrep", "www"],
  seconds: 300,
  minutes: 20,
  run: (ctx) => withServers(ctx, ["ceph", "moto"], FILES),
  soak: (ctx) =>
    withServers(
      ctx,
      ["ceph", "moto"],
      ["command", "runtimes"].map((name) => `tests/s3/${name}.test.mjs`),
      { KITBAG_COPIED: "10000", KITBAG_EVERY_SERVER: "1" },
    ),
};
