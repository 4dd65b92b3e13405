// SqlBackend on real databases: PostgreSQL, PGlite, SQLite.

import { run, soak } from "./sql.mjs";

export default {
  about: "PostgreSQL, PGlite, SQLite: conformance, races, kill -9, EXPLAIN",
  needs: ["build", "npm:durable", "postgres"],
  minutes: 8,
  run,
  soak,
};
