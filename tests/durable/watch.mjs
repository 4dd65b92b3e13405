// watch on PostgreSQL and PGlite: every committed change is told, by whomever it was made; whenever
// listening begins, a rescan is told; and nothing is told that is not of this namespace.

import { listening } from "../lib/listening.mjs";
import { dependency, kitbag, pooled, Tally } from "./lib.mjs";
import { Postgres } from "./postgres.mjs";

export async function run() {
  const tally = new Tally();
  await tally.part("PGlite", () => pglite(tally));
  const server = await Postgres.start();
  const { default: pg } = await dependency("pg");
  const pool = pooled(pg, { connectionString: server.url });
  try {
    await tally.part("pg", () => changes(tally, "pg", pool, { client: pool, listen: true }));
    await tally.part("postgres.js", () => postgresJs(tally, server, pool));
    await tally.part("triggers", () => triggers(tally, pool));
    await tally.part("bulk", () => bulk(tally, pool));
    await tally.part("kill -9", () => killed(tally, server, pool));
  } finally {
    await pool.end();
    await server.stop();
  }
  return tally.result;
}

/** Every kind of change, through kitbag and past it, in this namespace and in others. */
async function changes(tally, what, sql, options) {
  const { PostgresBackend, withPolicy } = await kitbag();
  const table = `watch_${what.replace(/\W/g, "").toLowerCase()}`;
  const backend = new PostgresBackend({ table, migrate: true, namespace: "a", ...options });
  const other = new PostgresBackend({ table, client: sql, namespace: "b" });
  tally.check(`${what}: capability`, backend.capability.watch === true);
  tally.check(`${what}: without listen there is none`, other.watch === undefined);
  tally.check(`${what}: and the capability says so`, other.capability.watch === undefined);
  const all = listening(backend);
  const below = listening(backend, "/d/");
  await Promise.all([all.begun(), below.begun()]);

  await backend.write("/a.txt", "one");
  await all.has("/a.txt");
  await withPolicy(backend, {}).edit("/a.txt", "one", "two");
  await backend.uploadFiles([["/d/b.txt", new TextEncoder().encode("b")]]);
  await all.has("/d/b.txt");
  all.seen.paths.clear();
  await backend.move("/d/b.txt", "/d/c.txt");
  await backend.copy("/d/c.txt", "/e.txt");
  await all.has("/d/b.txt", "/d/c.txt", "/e.txt");
  all.seen.paths.clear();
  await backend.delete("/d");
  await all.has("/d/c.txt");

  all.seen.paths.clear();
  await other.write("/b-only.txt", "x");
  await sql.query(`UPDATE ${table} SET content = 'z', version = version + 1 WHERE path = '/e.txt'`);
  await all.has("/e.txt");
  tally.check(`${what}: no other namespace's`, !all.seen.paths.has("/b-only.txt"));
  tally.check(`${what}: only what is below the path`, !below.seen.paths.has("/a.txt"));
  tally.check(`${what}: all that is below it`, below.seen.paths.has("/d/c.txt"));
  const before = all.seen.rescans;
  await sql.query(`TRUNCATE ${table}`);
  await all.until((seen) => seen.rescans > before);

  below.stop();
  all.stop();
  const later = listening(backend);
  await later.begun();
  all.seen.paths.clear();
  await backend.write("/later.txt", "x");
  await later.has("/later.txt");
  tally.check(`${what}: nothing is told after the end`, all.seen.paths.size === 0);
  backend.dispose();
  tally.check(`${what}: every change was told`, true);
}

async function pglite(tally) {
  const { PGlite } = await dependency("@electric-sql/pglite");
  const client = await PGlite.create();
  const listen = (channel, heard) => client.listen(channel, heard);
  await changes(tally, "PGlite", client, { client, listen });
  await client.close();
}

async function postgresJs(tally, server, pool) {
  const { default: postgres } = await dependency("postgres");
  const sql = postgres(server.url, { onnotice: () => {} });
  const listen = (...args) => sql.listen(...args);
  await changes(tally, "postgres.js", pool, { client: pool, listen });
  await sql.end();
}

async function triggers(tally, pool) {
  const { PostgresBackend, SqlBackend } = await kitbag();
  await pool.query("CREATE SCHEMA agents");
  const options = { client: pool, table: "agents.files", listen: true };
  const backend = new PostgresBackend(options);
  await Promise.all(
    Array.from({ length: 6 }, () => new PostgresBackend(options).migrate({ watch: true })),
  );
  const made = async () =>
    (await pool.query("SELECT tgname FROM pg_trigger WHERE tgrelid = 'agents.files'::regclass"))
      .rows.length;
  tally.check("six migrations at once make two triggers", (await made()) === 2, await made());
  // A path that is too long for a notification is told as a rescan.
  const { seen, until, stop, begun } = listening(backend);
  await begun();
  const before = seen.rescans;
  // The name is compressed in the index of the key, which takes 2.7 kB.
  await pool.query("INSERT INTO agents.files (namespace, path, content) VALUES ('', $1, '')", [
    `/${"x".repeat(9_000)}`,
  ]);
  await until(() => seen.rescans > before);
  stop();

  await backend.migrate({ watch: false });
  tally.check("and they can be removed", (await made()) === 0);
  // Without a trigger nothing would be told: listeners look for themselves, until there is one.
  const blind = listening(backend);
  await blind.until((now) => now.rescans > 1);
  await backend.migrate({ watch: true });
  await backend.write("/seen.txt", "x");
  const told = blind.seen.rescans;
  await blind.until((now) => now.paths.has("/seen.txt") || now.rescans > told);
  await backend.write("/next.txt", "x");
  await blind.until((now) => now.paths.has("/next.txt") || now.rescans > told + 1);
  blind.stop();

  const refusals = [
    () => new PostgresBackend({ query: () => [], listen: true }),
    () => new PostgresBackend({ client: { query: () => [] }, listen: true }),
    () => new SqlBackend({ dialect: "sqlite", query: () => [], listen: () => {} }),
  ];
  for (const [at, make] of refusals.entries()) {
    let thrown;
    try {
      make();
    } catch (error) {
      thrown = error;
    }
    const named = thrown instanceof TypeError && /"listen"/.test(thrown.message);
    tally.check(`listen ${at} is refused by name`, named, String(thrown));
  }
  const lite = new SqlBackend({ dialect: "sqlite", query: () => [] });
  const refused = await lite.migrate({ watch: true }).catch((error) => error);
  tally.check("SQLite has no triggers of this kind", /"watch"/.test(refused?.message), refused);
}

async function bulk(tally, pool) {
  const { PostgresBackend } = await kitbag();
  const backend = new PostgresBackend({ client: pool, table: "bulk", migrate: true, listen: true });
  const { seen, until, stop, begun } = listening(backend);
  await begun();
  const before = seen.rescans;
  const rows = "SELECT '', '/f' || n, '' FROM generate_series(1, 20000) AS n";
  await pool.query(`INSERT INTO bulk (namespace, path, content) ${rows}`);
  await until(() => seen.rescans > before || seen.paths.size === 20_000);
  tally.check("20,000 changes at once are a rescan", seen.rescans > before, seen.rescans);
  stop();
}

/** The server dies, files change while nobody listens, and the listener is told to look again. */
async function killed(tally, server, pool) {
  const { PostgresBackend } = await kitbag();
  const backend = new PostgresBackend({
    client: pool,
    table: "files",
    migrate: true,
    listen: true,
  });
  const { seen, until, stop, begun, has } = listening(backend);
  await begun();
  await backend.write("/first.txt", "x");
  await has("/first.txt");
  await server.kill();
  await server.begin();
  const { default: pg } = await dependency("pg");
  const past = new pg.Client({ connectionString: server.url });
  await past.connect();
  await past.query("INSERT INTO files (namespace, path, content) VALUES ('', '/missed.txt', '')");
  const before = seen.rescans;
  await until(() => seen.rescans > before || seen.paths.has("/missed.txt"));
  // From then on, changes are named again.
  const listens = async () => {
    const asked = "SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN%'";
    return (await past.query(asked)).rowCount > 0;
  };
  while (!(await listens())) await past.query("SELECT pg_sleep(0.05)");
  await past.query("UPDATE files SET version = version + 1 WHERE path = '/missed.txt'");
  await has("/missed.txt");
  tally.check("changes are named after a restart of the server", true);
  stop();
  await past.end();
}
