// SqlBackend on real databases: PostgreSQL, PGlite, SQLite.

import { twoAgents } from "../lib/two-agents.mjs";
import { dependency, kitbag, pooled, raceCreates, raceEdits, Tally } from "./lib.mjs";
import { outline } from "./outline.mjs";
import { Postgres } from "./postgres.mjs";
import { plans, searchHistories } from "./search-index.mjs";
import { writers } from "./search-index-writers.mjs";

export async function run() {
  const tally = new Tally();
  await tally.part("SQLite", () => sqlite(tally));
  await tally.part("node:sqlite", () => ofNode(tally));
  await tally.part("PGlite", () => pglite(tally));
  const server = await Postgres.start();
  try {
    await tally.part("PostgreSQL", () => postgres(tally, server));
    await agents(tally, server, 10);
    await tally.part("kill -9", () => killed(tally, server));
  } finally {
    await server.stop();
  }
  return tally.result;
}

/** Two agents that work on one table in turns, each with a pool of its own. */
async function agents(tally, server, turns) {
  const { PostgresBackend, begin } = await kitbag();
  const { default: pg } = await dependency("pg");
  const pools = [];
  await tally.part(`two agents of ${turns} turns on PostgreSQL`, async () => {
    const make = async (namespace) => {
      pools.push(pooled(pg, { connectionString: server.url, max: 2 }));
      return new PostgresBackend({
        client: pools.at(-1),
        table: "agents",
        namespace,
        migrate: true,
      });
    };
    const { failures, ...seen } = await twoAgents(begin, make, turns);
    tally.check(
      "PostgreSQL: nothing is lost, and conflicts are real",
      failures.length === 0,
      failures,
    );
    console.log(`PostgreSQL: ${JSON.stringify(seen)}`);
  });
  await Promise.all(pools.map((pool) => pool.end()));
}

/** Long: two hundred turns each. */
export async function soak() {
  const tally = new Tally();
  const server = await Postgres.start();
  try {
    await agents(tally, server, 200);
  } finally {
    await server.stop();
  }
  return tally.result;
}

/** A new namespace for each case, so that it starts empty. */
let last = 0;
const fresh = () => `case-${++last}`;

/** Searches with the index in the database, compared with searches without. */
async function searched(tally, what, given) {
  await tally.part(`the search index in ${what}`, async () => {
    const seen = await searchHistories(given);
    tally.passed += seen.searches;
    for (const failure of seen.failures) tally.check(`${what}: ${failure}`, false);
    tally.check(`${what}: the index is used`, seen.used > seen.searches / 4, seen);
    tally.check(`${what}: and is missing at times`, seen.scanned > given.seeds, seen);
    tally.check(`${what}: it excludes files`, seen.excluded > seen.used / 4, seen);
    tally.check(`${what}: it has blocks`, seen.blocks > 1, seen);
    if (given.plans) await plans(tally, what, given);
    if (given.plans) await writers(tally, what, await kitbag(), given);
  });
}

async function sqlite(tally) {
  const { SqlBackend } = await kitbag();
  const { default: wasm } = await dependency("node-sqlite3-wasm");
  const file = new wasm.Database(":memory:");
  const query = (sql, params) => file.all(sql, params);
  const make = ({ writeMode }) =>
    new SqlBackend({ query, dialect: "sqlite", namespace: fresh(), migrate: true, writeMode });
  await tally.conform("SqlBackend on SQLite", make);
  await tally.index("SQLite", () => make({ writeMode: "overwrite" }), 60);

  const own = new wasm.Database(":memory:");
  await searched(tally, "SQLite", {
    dialect: "sqlite",
    query: (sql, params) => own.all(sql, params),
    make: (options) => new SqlBackend({ dialect: "sqlite", migrate: true, ...options }),
    seeds: 25,
    vacuum: true,
    plans: true,
  });

  const { createClient } = await dependency("@libsql/client");
  const client = createClient({ url: ":memory:" });
  const send = (sql, args) => client.execute({ sql, args });
  await tally.conform(
    "SqlBackend on libsql",
    ({ writeMode }) =>
      new SqlBackend({
        query: send,
        dialect: "sqlite",
        namespace: fresh(),
        migrate: true,
        writeMode,
      }),
  );

  const older = new wasm.Database(":memory:");
  older.run(
    "CREATE TABLE files (namespace TEXT, path TEXT, content BLOB, PRIMARY KEY (namespace, path))",
  );
  older.run("INSERT INTO files VALUES ('t', '/old.txt', x'6f6c64')");
  const upgraded = new SqlBackend({
    query: (sql, params) => older.all(sql, params),
    dialect: "sqlite",
    namespace: "t",
  });
  await upgraded.migrate();
  await upgraded.migrate();
  tally.check("an older table is upgraded", (await upgraded.read("/old.txt")).content === "old");
  const edited = await upgraded.edit("/old.txt", "old", "new");
  tally.check("and can be edited", edited.occurrences === 1, edited);
  await searched(tally, "libsql", {
    dialect: "sqlite",
    query: send,
    make: (options) =>
      new SqlBackend({ dialect: "sqlite", migrate: true, table: "main.files", ...options }),
    seeds: 6,
  });
  client.close();

  const hand = new wasm.Database(":memory:");
  await outline(
    tally,
    "SQLite",
    "sqlite",
    (sql, params) => hand.all(sql, params),
    (query) => new SqlBackend({ query, dialect: "sqlite", namespace: ["acme", "user-7"] }),
  );
}

/** Node's own SQLite, on the versions that have it. */
export async function ofNode(tally) {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 22 || (major === 22 && minor < 13)) {
    console.log(`Node ${process.versions.node} has no node:sqlite`);
    return;
  }
  const { DatabaseSync } = await import("node:sqlite");
  const { SqlBackend } = await kitbag();
  const db = new DatabaseSync(":memory:");
  const query = (sql, params) => db.prepare(sql).all(...params);
  const make = (options) =>
    new SqlBackend({ query, dialect: "sqlite", namespace: fresh(), migrate: true, ...options });
  await tally.conform("SqlBackend on node:sqlite", ({ writeMode }) => make({ writeMode }));
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const one = make({ namespace: "bytes" });
  await one.uploadFiles([["/a.bin", bytes]]);
  const [{ content }] = await make({ namespace: "bytes" }).downloadFiles(["/a.bin"]);
  tally.check("node:sqlite: bytes are kept", Buffer.from(content ?? "").equals(bytes), content);
  const namespace = "race";
  await raceEdits(tally, "node:sqlite", [make({ namespace }), make({ namespace })], 20);
  db.close();
}

async function pglite(tally) {
  const { PostgresBackend } = await kitbag();
  const { PGlite } = await dependency("@electric-sql/pglite");
  const { pg_trgm } = await dependency("@electric-sql/pglite/contrib/pg_trgm");
  const client = await PGlite.create({ extensions: { pg_trgm } });
  await new PostgresBackend({ client }).migrate();
  await tally.conform(
    "PostgresBackend on PGlite",
    ({ writeMode }) => new PostgresBackend({ client, namespace: fresh(), writeMode }),
  );
  await tally.index("PGlite", () => new PostgresBackend({ client, namespace: fresh() }), 12);
  await outline(
    tally,
    "PGlite",
    "postgres",
    (sql, params) => client.query(sql, params),
    (query) => new PostgresBackend({ query, namespace: "user-7" }),
  );
  await searched(tally, "PGlite", {
    dialect: "postgres",
    query: (sql, params) => client.query(sql, params),
    make: (options) => new PostgresBackend(options),
    seeds: 4,
    plans: true,
  });
  await client.close();
}

async function postgres(tally, server) {
  const { PostgresBackend, SqlBackend } = await kitbag();
  const { default: pg } = await dependency("pg");
  const pools = Array.from({ length: 8 }, () =>
    pooled(pg, { connectionString: server.url, max: 2 }),
  );
  const [client] = pools;

  await outline(
    tally,
    "PostgreSQL",
    "postgres",
    (sql, params) => client.query(sql, params),
    (query) => new PostgresBackend({ query, namespace: "user-7" }),
  );
  const unmade = await new PostgresBackend({ client }).read("/a");
  tally.check("a missing table says what to do", /migrate/.test(unmade.error), unmade);
  // All at once: every call must succeed.
  await Promise.all(pools.map((pool) => new PostgresBackend({ client: pool }).migrate()));
  await new PostgresBackend({ client }).migrate();

  await tally.conform(
    "PostgresBackend on PostgreSQL",
    ({ writeMode }) => new PostgresBackend({ client, namespace: fresh(), writeMode }),
  );
  await tally.index("PostgreSQL", () => new PostgresBackend({ client, namespace: fresh() }), 25);
  await searched(tally, "PostgreSQL", {
    dialect: "postgres",
    query: (sql, params) => client.query(sql, params),
    make: (options) => new PostgresBackend(options),
    seeds: 10,
    plans: true,
  });
  const { default: sql } = await dependency("postgres");
  const porsager = sql(server.url, { max: 2 });
  await tally.conform(
    "PostgresBackend on postgres.js",
    ({ writeMode }) =>
      new PostgresBackend({
        query: (q, p) => porsager.unsafe(q, p),
        namespace: fresh(),
        writeMode,
      }),
  );
  await porsager.end();

  const writers = (namespace) =>
    pools.map((pool) => new PostgresBackend({ client: pool, namespace }));
  await raceEdits(tally, "PostgreSQL", writers("edits"));
  await raceCreates(tally, "PostgreSQL", writers("creates"));

  // A glob must read only its range of keys.
  const many = new PostgresBackend({ client, namespace: "range" });
  const body = new TextEncoder().encode("export const x = 1;\n");
  const files = [];
  for (let n = 0; n < 3000; n++)
    files.push([`/${n % 3 ? "docs" : "src"}/d${n % 10}/f${n}.ts`, body]);
  const stored = await many.uploadFiles(files);
  tally.check(
    "3,000 uploads",
    stored.every((one) => one.error === null),
    stored.find((o) => o.error),
  );
  await client.query("ANALYZE files");
  const sent = [];
  const watched = new SqlBackend({
    dialect: "postgres",
    namespace: "range",
    query: (text, params) => {
      sent.push([text, params]);
      return client.query(text, params);
    },
  });
  const found = await watched.glob("src/**/*.ts");
  tally.check("the glob finds its files", found.files.length === 1000, found.files?.length);
  const [text, params] = sent[0];
  const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, params);
  const plan = JSON.stringify(rows[0]["QUERY PLAN"][0].Plan);
  const touched = [...plan.matchAll(/"Actual Rows":(\d+)/g)].map((m) => Number(m[1]));
  const range = /\(path >= '\/src\/'::text\) AND \(path < '\/src0'::text\)/.test(plan);
  tally.check("EXPLAIN shows an index range", range && !/Seq Scan/.test(plan), plan);
  tally.check(
    "and no row beyond it",
    Math.max(...touched) === 1000 && !/Rows Removed by Filter":[1-9]/.test(plan),
    plan,
  );
  sent.length = 0;
  await watched.ls("/src");
  const level = await client.query(`EXPLAIN (FORMAT JSON) ${sent[0][0]}`, sent[0][1]);
  tally.check("ls seeks, never scans", !/"Seq Scan"/.test(JSON.stringify(level.rows)), level.rows);
  await Promise.all(pools.map((pool) => pool.end()));
}

/** 1,000 writes, during which the server is killed and started again. */
async function killed(tally, server) {
  const { PostgresBackend } = await kitbag();
  const { default: pg } = await dependency("pg");
  const options = { connectionString: server.url, max: 8, connectionTimeoutMillis: 5000 };
  const pool = pooled(pg, options);
  const backend = new PostgresBackend({ client: pool, namespace: "crash" });
  const acknowledged = [];
  const refused = [];
  let odd = 0;
  let next = 0;
  let restarted;
  const writer = async () => {
    while (next < 1000) {
      const n = next++;
      if (n === 500) restarted = server.kill().then(() => server.begin());
      const answer = await backend.write(`/f${n}.txt`, `content ${n}`);
      if (answer.error === undefined) acknowledged.push(n);
      else if (typeof answer.error === "string" && answer.code) refused.push(n);
      else odd += 1;
      // While the server is down, further writes would only fail.
      if (answer.error !== undefined && n < 999) await restarted;
    }
  };
  await Promise.all(Array.from({ length: 8 }, writer));
  await restarted;
  await pool.end();
  const again = pooled(pg, options);
  const after = new PostgresBackend({ client: again, namespace: "crash" });
  const paths = acknowledged.map((n) => `/f${n}.txt`);
  const read = await after.downloadFiles(paths);
  const text = new TextDecoder();
  const lost = read.filter(
    (one, at) => text.decode(one.content ?? undefined) !== `content ${acknowledged[at]}`,
  );
  tally.check("every acknowledged write is there", lost.length === 0, lost.slice(0, 3));
  tally.check(
    "every other is an error",
    odd === 0 && acknowledged.length + refused.length === 1000,
    odd,
  );
  tally.check(
    "some were acknowledged after the restart",
    acknowledged.some((n) => n > 600),
    acknowledged.length,
  );
  tally.check("some were refused", refused.length > 0, refused.length);
  console.log(`kill -9: ${acknowledged.length} acknowledged, ${refused.length} refused`);
  await again.end();
}
