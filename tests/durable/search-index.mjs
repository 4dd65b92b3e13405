// The search index in a database: what a backend finds with it is what one without it finds, in random
// histories with other writers and with an index that is dropped or damaged half-way. Runs on each
// database; nothing here is particular to Node.

import { change, dice, QUERIES } from "../lib/histories.mjs";

const BODIES = [
  "a line with a NUL \0 and retry after it\n",
  "caf\u00e9 STRASSE \u0130stanbul kelvin\n",
  "back\\slash 100% under_score \\303\\251\n",
  "日本語の文章 retry_budget\n",
  // One that is over the limit of the index.
  `${"x".repeat(1_100_000)} nowhere at all\n`,
];
/** Not valid as UTF-8: a byte that a lenient decoder takes for a part of the character before it. */
const BROKEN = [0x63, 0x61, 0x66, 0xc3, 0xa9, 0x80, 0x20, 0xff, 0x72, 0x65, 0x74, 0x72, 0x79, 0x0a];
const MORE = [
  ["caf\u00e9", {}],
  ["CAF", { ignoreCase: true }],
  ["100%", {}],
  ["under_score", {}],
  ["\\303", {}],
  ["retry after", {}],
  ["at all", {}],
  ["日本語", {}],
  ["strasse|\u0130stanbul", { regex: true, ignoreCase: true }],
];
const NAMES = ["/a.ts", "/b.md", "/src/c.ts", "/src/deep/d.rs", "/src/e.txt", "/image.png"];
/** So many more that they are taken into blocks of the index; fewer than 64 are not. */
const MANY = Array.from({ length: 90 }, (_, n) => `/${n % 2 ? "src/" : ""}many/${n}.txt`);
/** Of each kind some: long ones have a larger set of trigrams. */
const MANY_BODIES = [
  ...BODIES.slice(0, 4),
  ...["retry_budget of many\n", "kelvin \u212aelvin\n", "the end 0123456789\n", "", "ab\n"],
  Array.from({ length: 700 }, (_, n) => `${(n * 7919).toString(36)} the end\n`).join(""),
];

export const shown = ({ matches, error, code }) =>
  JSON.stringify(error ? { error, code } : matches);

/** What other programs do to the table, in their own statements. */
const OTHERS = {
  sqlite: {
    replace:
      "INSERT OR REPLACE INTO files (namespace, path, content) VALUES (NS, PATH, CAST(TEXT AS BLOB))",
    ignore:
      "INSERT OR IGNORE INTO files (namespace, path, content) VALUES (NS, PATH, CAST(TEXT AS BLOB))",
    set: "UPDATE files SET content = CAST(TEXT AS BLOB) WHERE namespace = NS AND path = PATH",
    type: "UPDATE files SET mime_type = 'text/plain' WHERE namespace = NS AND path = PATH",
    move: "UPDATE OR REPLACE files SET path = PATH WHERE namespace = NS AND path = '/a.ts'",
    vacuum: "VACUUM",
  },
  postgres: {
    replace:
      "INSERT INTO files (namespace, path, content) VALUES (NS, PATH, convert_to(TEXT, 'UTF8')) " +
      "ON CONFLICT (namespace, path) DO UPDATE SET content = excluded.content",
    set: "UPDATE files SET content = convert_to(TEXT, 'UTF8') WHERE namespace = NS AND path = PATH",
    type: "UPDATE files SET mime_type = 'text/plain' WHERE namespace = NS AND path = PATH",
  },
};

/** Whether a statement asks the index. */
export const isOfIndex = (sql) => sql.includes("AS gram");

export const rowsOf = (answer) =>
  Array.isArray(answer) ? answer : (answer.rows ?? answer.results);

/** The triggers of indexes. */
const TRIGGERS = {
  sqlite: "SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name",
  postgres: "SELECT tgname AS name FROM pg_trigger WHERE tgname LIKE 'kitbag\\_index%' ORDER BY 1",
};

/** Removes a part of the index behind the back of every backend. */
async function damage(roll, dialect, query) {
  const found = rowsOf(await query(TRIGGERS[dialect], []));
  if (found.length === 0) return undefined;
  const { name } = found[roll(found.length)];
  if (dialect === "sqlite") return query(`DROP TRIGGER "${name}"`, []);
  const disable = roll(2) === 0 ? `ALTER TABLE files DISABLE TRIGGER ${name}` : undefined;
  return query(disable ?? `DROP TRIGGER ${name} ON files`, []);
}

/** The names of the tables of indexes. */
export const TABLES = {
  sqlite:
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'files\\_%' ESCAPE '\\'",
  postgres:
    "SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'i') AND relname LIKE 'files\\_%' " +
    "AND relname NOT LIKE '%key'",
};

/** How many blocks a namespace has, and files in them. */
export async function blocks(dialect, query, namespace) {
  const names = rowsOf(await query(TABLES[dialect], [])).map(({ name }) => name);
  const table = names.find((name) => /_grams_[0-9a-f]{12}$/.test(name));
  if (!table) return { blocks: 0, files: 0 };
  const sum = "SELECT count(*) AS blocks, coalesce(sum(files), 0) AS files";
  const [row] = rowsOf(
    await query(`${sum} FROM "${table}" WHERE part = 0 AND namespace = '${namespace}'`, []),
  );
  return { blocks: Number(row.blocks), files: Number(row.files) };
}

/**
 * @param dialect its dialect
 * @param query sends one statement, with values, and returns what a backend takes
 * @param make makes a backend with these options over `query`
 * @param seeds how many histories
 * @param vacuum whether the database has VACUUM
 */
export async function searchHistories({ dialect, query, make, seeds, vacuum = false }) {
  const seen = { failures: [], searches: 0, used: 0, scanned: 0, excluded: 0, blocks: 0 };
  const others = Object.entries(OTHERS[dialect]).filter(([name]) => vacuum || name !== "vacuum");
  const all = [...QUERIES, ...MORE];
  for (let seed = 1; seed <= seeds; seed++) {
    const roll = dice(seed * 7919);
    const pick = (from) => from[roll(from.length)];
    const namespace = `search-${seed}`;
    let narrowed = false;
    let candidates = 0;
    const watched = (sql, params) => {
      if (isOfIndex(sql)) narrowed = true;
      if (sql.includes("AS found")) candidates = JSON.parse(params[0]).length;
      return query(sql, params);
    };
    const some = () => MANY.map((path) => [path, new TextEncoder().encode(pick(MANY_BODIES))]);
    const plain = make({ query, namespace });
    const open = () => make({ query: watched, namespace, searchIndex: true });
    const files = open();
    await files.uploadFiles(some());
    await files.migrate();
    for (let step = 0; step < 14; step++) {
      const what = roll(14);
      if (what === 0) await damage(roll, dialect, query);
      else if (what < 3) await pick([open(), files]).migrate();
      else if (what === 3) {
        // Three times are enough that the writer itself takes them.
        for (const all of [some(), some(), some()]) await pick([plain, files]).uploadFiles(all);
      } else if (what < 6) {
        const [, sql] = pick(others);
        const values = {
          NS: namespace,
          PATH: pick([...NAMES, ...MANY.slice(0, 6)]),
          TEXT: pick(BODIES.slice(1, 4)),
        };
        const quoted = (text) => `'${text.replaceAll("'", "''")}'`;
        await query(
          sql.replace(/\b(?:NS|PATH|TEXT)\b/g, (name) => quoted(values[name])),
          [],
        );
      } else if (what < 9) {
        const body =
          roll(6) === 0 ? new Uint8Array(BROKEN) : new TextEncoder().encode(pick(BODIES));
        await pick([plain, files]).uploadFiles([[pick(NAMES), body]]);
      } else
        await change((sides) => (sides === 9 ? roll(6) : roll(sides)), undefined, plain, [files]);
      const reader = pick([files, files, open()]);
      for (const [pattern, options] of [pick(all), pick(all)]) {
        const root = pick(["/", "/", "/src", "/a.ts"]);
        narrowed = false;
        candidates = 0;
        const found = await reader.grep(pattern, root, null, null, options);
        if (narrowed) seen.used += 1;
        else seen.scanned += 1;
        if (narrowed && candidates < MANY.length) seen.excluded += 1;
        const scan = await plain.grep(pattern, root, null, null, options);
        seen.searches += 1;
        if (shown(found) !== shown(scan)) {
          seen.failures.push(
            `seed ${seed}, step ${step}, ${pattern}: ${shown(found).slice(0, 300)} ${shown(scan).slice(0, 300)}`,
          );
        }
      }
    }
    seen.blocks = Math.max(seen.blocks, (await blocks(dialect, query, namespace)).blocks);
  }
  return seen;
}

/** The plan of a statement, as one text. */
async function planOf(dialect, query, [sql, params]) {
  const explain = dialect === "postgres" ? "EXPLAIN (ANALYZE, COSTS OFF)" : "EXPLAIN QUERY PLAN";
  const rows = rowsOf(await query(`${explain} ${sql}`, params));
  return rows.map((row) => row.detail ?? row["QUERY PLAN"]).join("\n");
}

/** The index is used, reads few rows, is made and removed, and `capability` says so. */
export async function plans(tally, what, { dialect, query, make }) {
  const check = (about, holds, seen) => tally.check(`${what}: ${about}`, holds, seen);
  const namespace = "plans";
  const sent = [];
  const watched = (sql, params) => {
    sent.push([sql, params]);
    return query(sql, params);
  };
  const plain = make({ query, namespace });
  const files = make({ query: watched, namespace, searchIndex: true, migrate: false });
  await plain.migrate({ searchIndex: false });
  const roll = dice(20);
  const line = () => `const v${roll(5000)} = call${roll(300)}(${roll(900)});\n`;
  const [count, length] = [1_200, 6];
  const text = () => new TextEncoder().encode(Array.from({ length }, line).join(""));
  const all = Array.from({ length: count }, (_, n) => [`/d${n % 7}/f${n}.ts`, text()]);
  all[377][1] = new TextEncoder().encode("the one retry_budget = 3\n");
  await plain.uploadFiles(all);
  const scan = await plain.grep("retry_budget");
  check("a scan finds it", scan.matches?.length === 1, scan);

  const before = await files.grep("retry_budget");
  check("without an index it is found as well", shown(before) === shown(scan), before);
  const missing = files.capability;
  check("capability says that there is none", missing.indexed !== true, missing);
  check(
    "and what to do",
    missing.notes?.some((note) => /migrate/.test(note)),
    missing,
  );
  await Promise.all([plain, files].map((one) => one.migrate({ searchIndex: true })));
  await files.migrate({ searchIndex: true });
  sent.length = 0;
  const found = await files.grep("retry_budget");
  check("with the index it is found", shown(found) === shown(scan), found);
  const { indexed } = files.capability;
  check("capability says that there is an index", indexed === true, indexed);
  const [search, page] = sent;
  check("one statement asks the index, one its candidates", sent.length === 3, sent);
  check("of which there are few", JSON.parse(page[1][0]).length <= 3, page[1]);
  if (dialect === "postgres") {
    const plan = await planOf(dialect, query, page);
    check("EXPLAIN shows seeks", !/Seq Scan|rows=\d{3,}/.test(plan), plan);
  } else {
    const [first, second] = [
      await planOf(dialect, query, search),
      await planOf(dialect, query, page),
    ];
    const tables = /\b(?:SCAN (?:d|b|files)|SCAN "?files_)\b/;
    check(
      "EXPLAIN shows seeks in the index",
      /SEARCH b USING/.test(first) && !tables.test(first),
      first,
    );
    const seeks = /SEARCH d USING/.test(second) && /SEARCH files USING/.test(second);
    check("and in the files", seeks && !tables.test(second), second);
  }
  for (const [pattern, options] of [
    ["RETRY_budget", { ignoreCase: true }],
    ["retry_\\w+ = \\d", { regex: true }],
  ]) {
    sent.length = 0;
    const found = await files.grep(pattern, "/", null, null, options);
    const read = sent.filter(([sql]) => / IN \(/.test(sql) && /, content FROM/.test(sql));
    check(`${pattern} is found`, found.matches?.length === 1, found);
    const paths = read.map(([, params]) => params.length - 1);
    check(`${pattern} reads one file`, paths.join() === "1", paths);
  }
  sent.length = 0;
  const common = await files.grep("const", "/", null, 5);
  const expected = await plain.grep("const", "/", null, 5);
  check("a common word is found", shown(common) === shown(expected), common);
  const [first, second] = sent.map(([sql]) => sql);
  const scans = second?.includes(dialect === "postgres" ? "position(" : "instr(");
  check("with too many candidates it scans", isOfIndex(first) && scans && !isOfIndex(second), sent);
  const other = make({ query, namespace: "other", searchIndex: true });
  check("other tenants see nothing of it", (await other.grep("retry_budget")).matches.length === 0);

  await files.migrate({ searchIndex: false });
  const left = [
    ...rowsOf(await query(TABLES[dialect], [])),
    ...rowsOf(await query(TRIGGERS[dialect], [])),
  ];
  check("it is removed without a trace", left.length === 0, left);
  const after = await files.grep("retry_budget");
  check("and searches scan again", shown(after) === shown(scan), after);
}
