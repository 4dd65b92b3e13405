// `migrate` beside other processes, and on a database that fails: another one makes or upgrades the
// table between any two statements, and any statement is lost. A failure is told as it is, and never
// taken for the answer that there is no such column. Nothing here is particular to Node.

const OLDER = {
  postgres:
    "CREATE TABLE files (namespace text, path text, content bytea, PRIMARY KEY (namespace, path))",
  sqlite:
    "CREATE TABLE files (namespace TEXT, path TEXT, content BLOB, PRIMARY KEY (namespace, path))",
};
const HAND = {
  postgres:
    "CREATE TABLE files (path text PRIMARY KEY, content text, created_at timestamptz, modified_at timestamptz)",
  sqlite: "CREATE TABLE files (path TEXT PRIMARY KEY, content TEXT, created_at, modified_at)",
};
const FAILURES = [
  ["Connection terminated unexpectedly", "ECONNRESET"],
  ["permission denied for table files", "42501"],
  ["canceling statement due to statement timeout", "57014"],
];

/** As `outline` has them. */
export async function migrating(tally, what, dialect, query, make) {
  const check = (about, holds, seen) => tally.check(`${what}: migrate: ${about}`, holds, seen);
  const refusal = (migration) =>
    migration.then(
      () => undefined,
      (error) => error.message,
    );
  const starts = {
    nothing: undefined,
    "an older table": OLDER[dialect],
    "a table made by hand": HAND[dialect],
  };
  const reset = async (start) => {
    for (const name of ["files", "files_outline", "files_kitbag"])
      await query(`DROP TABLE IF EXISTS ${name}`, []);
    if (starts[start]) await query(starts[start], []);
  };

  let raced = 0;
  for (const start of ["nothing", "an older table"]) {
    for (let at = 0; ; at++) {
      await reset(start);
      let left = at;
      const racing = make(async (sql, params) => {
        if (left-- === 0) await make(query).migrate();
        return query(sql, params);
      });
      const said = await refusal(racing.migrate());
      check(`on ${start}, another is faster at ${at}`, said === undefined, said);
      const wrote = await racing.write(`/${at}.txt`, "");
      check(`on ${start}, the table is usable after ${at}`, wrote.error === undefined, wrote);
      if (left >= 0) break;
      raced += 1;
    }
  }
  check("others were faster at several points", raced >= 8, raced);

  let lost = 0;
  for (const start of Object.keys(starts)) {
    for (const [message, code] of FAILURES) {
      for (let at = 0; ; at++) {
        await reset(start);
        let left = at;
        const since = [];
        const broken = make(async (sql, params) => {
          if (left < 0) since.push(sql);
          if (left-- === 0) throw Object.assign(new Error(message), { code });
          return query(sql, params);
        });
        const said = await refusal(broken.migrate());
        if (left >= 0) break;
        lost += 1;
        check(`on ${start}, "${message}" at ${at} is told`, said?.includes(message), said);
        const changes = since.filter((sql) => !/^SELECT/.test(sql));
        check(`on ${start}, nothing is changed after that`, changes.length === 0, changes);
        if (start === "a table made by hand") continue;
        const again = await refusal(make(query).migrate());
        check(`on ${start}, it goes on after ${at}`, again === undefined, again);
      }
    }
  }
  check("statements were lost at several points", lost >= 20, lost);

  await query("DROP TABLE IF EXISTS files", []);
  await query("CREATE TABLE files (id integer, size integer)", []);
  const other = await refusal(make(query).migrate());
  check("a table without paths is refused", /Pass another `table`/.test(other ?? ""), other);
  const columns = await refusal((async () => query("SELECT mime_type FROM files", []))());
  check("and gets no columns", columns !== undefined, columns);
  await query("DROP TABLE files", []);
}
