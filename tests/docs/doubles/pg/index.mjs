// A pool of `pg` over PGlite, which is PostgreSQL without a server.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(new URL("../../../deps/durable/package.json", import.meta.url));
const { PGlite } = await import(pathToFileURL(require.resolve("@electric-sql/pglite")).href);
let database;

export class Pool {
  query(sql, params) {
    database ??= new PGlite();
    return database.query(sql, params);
  }
}

export default { Pool };
