// A table that was made by hand, with text and timestamps: `migrate` refuses it, and carries its rows
// over if asked to, also after an interruption at any statement. Runs on each database; nothing here
// is particular to Node.

import { migrating } from "./migrating.mjs";

const TABLES = {
  postgres:
    "CREATE TABLE files (path text PRIMARY KEY, content text, " +
    "created_at timestamptz DEFAULT now(), modified_at timestamptz DEFAULT now())",
  sqlite:
    "CREATE TABLE files (path TEXT PRIMARY KEY, content TEXT, " +
    "created_at timestamptz DEFAULT CURRENT_TIMESTAMP, modified_at timestamptz DEFAULT CURRENT_TIMESTAMP)",
};

const TIMES = ["2024-02-03T04:05:06.789Z", "2025-06-07T08:09:10.250Z"];

const ROWS = {
  "/a.txt": "one\ntwo\n",
  "/empty.txt": "",
  "/ä/日本.md": "déjà vu 🙂",
  "/quote's/x.json": '{"a": "\\\\"}',
  "/large.txt": "0123456789\n".repeat(5_000),
};

/** Values as parts of a statement, since each driver has its own placeholders. */
const quoted = (text) => `'${text.replaceAll("'", "''")}'`;

/**
 * @param tally what counts
 * @param what name of the database
 * @param dialect its dialect
 * @param query sends one statement, with values, and returns what a backend takes
 * @param make makes a backend with that `query`
 */
export async function outline(tally, what, dialect, query, make) {
  const check = (about, holds, seen) => tally.check(`${what}: outline: ${about}`, holds, seen);
  const reset = async () => {
    for (const name of ["files", "files_outline", "files_kitbag"])
      await query(`DROP TABLE IF EXISTS ${name}`, []);
    await query(TABLES[dialect], []);
    for (const [path, content] of Object.entries(ROWS)) {
      const values = [path, content, ...TIMES].map(quoted).join(", ");
      await query(`INSERT INTO files VALUES (${values})`, []);
    }
    await query("INSERT INTO files (path) VALUES ('/nothing.txt')", []);
  };
  const rowsOf = (answer) => (Array.isArray(answer) ? answer : (answer.rows ?? answer.results));
  const count = async (table) =>
    Number(rowsOf(await query(`SELECT count(*) AS n FROM ${table}`, []))[0].n);
  const complete = async (about, backend) => {
    const found = await backend.glob("**");
    const paths = found.files?.map((file) => file.path) ?? [];
    const expected = [...Object.keys(ROWS), "/nothing.txt"];
    check(`${about}: every file`, paths.length === expected.length, found);
    for (const [path, content] of Object.entries(ROWS)) {
      const [one] = await backend.downloadFiles([path]);
      const text = one.content && new TextDecoder().decode(one.content);
      check(`${about}: ${path}`, text === content, one.error ?? text?.length);
    }
    const { data } = await backend.readRaw("/a.txt");
    const times = [data?.created_at, data?.modified_at].map((time) => Date.parse(time));
    check(`${about}: times`, times.join() === TIMES.map((time) => Date.parse(time)).join(), data);
    check(`${about}: the old rows are kept`, (await count("files_outline")) === expected.length);
    const edited = await backend.edit("/a.txt", "one", "1");
    check(`${about}: it can be changed`, edited.error === undefined, edited);
  };
  const refusal = (migration) =>
    migration.then(
      () => undefined,
      (error) => error.message,
    );

  await reset();
  const sent = [];
  const plain = make((sql, params) => {
    sent.push(sql);
    return query(sql, params);
  });
  const said = await refusal(plain.migrate());
  check("migrate() refuses it and says what to do", /from: "outline"/.test(said ?? ""), said);
  const changes = sent.filter((sql) => !/^SELECT/.test(sql));
  check("and changes nothing", changes.length === 0, changes);
  check("its rows are as before", (await count("files")) === Object.keys(ROWS).length + 1);
  await plain.migrate({ from: "outline" });
  await complete("carried over", plain);
  await plain.delete("/a.txt");
  await plain.migrate({ from: "outline" });
  await plain.migrate();
  check("once more is harmless", (await plain.glob("**")).files.length === 5);

  await reset();
  await query("INSERT INTO files (path, content) VALUES ('no/slash', 'x')", []);
  const odd = await refusal(plain.migrate({ from: "outline" }));
  check("a path that could not be read is named", /"no\/slash"/.test(odd ?? ""), odd);
  check("and nothing is changed", (await count("files")) === Object.keys(ROWS).length + 2);

  // It ends before, and after, each statement that changes something.
  let points = 0;
  for (let end = 0; ; end++) {
    await reset();
    let left = end;
    const broken = make(async (sql, params) => {
      if (/^SELECT/.test(sql)) return query(sql, params);
      if (left-- === 0) throw new Error("the process was killed");
      const answer = await query(sql, params);
      if (left-- === 0) throw new Error("the process was killed");
      return answer;
    });
    const cause = await refusal(broken.migrate({ from: "outline" }));
    if (left >= 0) {
      check("it ends by itself", cause === undefined, cause);
      break;
    }
    points += 1;
    const tables = ["files", "files_outline", "files_kitbag"];
    const counts = await Promise.all(tables.map((table) => count(table).catch(() => 0)));
    check(`interrupted at ${end}: every row is there`, counts.includes(6), counts);
    const again = make(query);
    if (!counts[0]) {
      const held = await refusal(again.migrate());
      check(`interrupted at ${end}: migrate() says so`, /interrupted/.test(held ?? ""), held);
    }
    await again.migrate({ from: "outline" });
    await complete(`interrupted at ${end}`, again);
  }
  check("there were points to interrupt it", points >= 2, points);

  await reset();
  const both = [make(query), make(query)];
  await Promise.all(both.map((one) => one.migrate({ from: "outline" })));
  await complete("two at once", both[0]);

  await query("DROP TABLE files", []);
  await query("CREATE TABLE files (path text, size integer)", []);
  const other = await refusal(plain.migrate());
  check("another table is refused", /Pass another `table`/.test(other ?? ""), other);
  await query("DROP TABLE files", []);
  await query("DROP TABLE files_outline", []);
  await migrating(tally, what, dialect, query, make);
}
