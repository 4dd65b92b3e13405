// S3Backend in Node on Ceph's object gateway and moto, with the package as it is published.

import { withServers } from "./run.mjs";

export default {
  about: "S3 in Node, on Ceph's object gateway and moto",
  needs: ["npm", "npm:fs", "build", "build:testing", "ceph", "moto"],
  seconds: 250,
  minutes: 10,
  run: (ctx) =>
    withServers(
      ctx,
      ["ceph", "moto"],
      [
        "signing",
        "r2",
        "node",
        "copying",
        "large",
        "resuming",
        "watching",
        "agents",
        "broken-off",
        "git",
        "served",
      ].map((name) => `tests/s3/${name}.test.mjs`),
    ),
  soak: (ctx) =>
    withServers(
      ctx,
      ["ceph"],
      ["agents", "broken-off", "served"].map((name) => `tests/s3/${name}.test.mjs`),
      { KITBAG_TURNS: "200", KITBAG_KILLS: "50", KITBAG_CLIENTS: "all" },
    ),
};
