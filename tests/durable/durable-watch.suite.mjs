// watch on PostgreSQL and PGlite, by LISTEN and NOTIFY.

import { run } from "./watch.mjs";

export default {
  about:
    "watch on PostgreSQL (pg, postgres.js) and PGlite: writers past kitbag, broken connections",
  needs: ["build", "npm:durable", "postgres"],
  seconds: 30,
  run,
};
