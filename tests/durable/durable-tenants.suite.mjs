// Tenants in one database, and SQL injections. No tenant can read or change the files of another,
// on any of the three kinds of durable backend.

import { run } from "./tenants.mjs";

export default {
  about: "60 ways to a sibling's files, 40 injections, each of them in vain",
  needs: ["build", "npm:durable", "postgres"],
  minutes: 4,
  run,
};
