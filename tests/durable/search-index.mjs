// The search index of the database's own engine: what a backend finds with it is what one without it
// finds, in random histories with other writers and with an index that is dropped or damaged half-way.
// Runs on each database; nothing here is particular to Node.

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

const shown = ({ matches, error, code }) => JSON.stringify(error ? { error, code } : matches);

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
const isOfIndex = (sql) => /MATCH|LIKE '%kitbag/.test(sql);

const rowsOf = (answer) => (Array.isArray(answer) ? answer : (answer.rows ?? answer.results));

/** Removes a part of the index behind the back of every backend. */
async function damage(roll, dialect, query) {
  if (dialect === "postgres") return query("DROP INDEX IF EXISTS files_trigrams", []);
  const found = rowsOf(
    await query("SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name", []),
  );
  if (found.length === 0) return undefined;
  const { name } = found[roll(found.length)];
  return query(`DROP TRIGGER "${name}"`, []);
}

/**
 * @param dialect its dialect
 * @param query sends one statement, with values, and returns what a backend takes
 * @param make makes a backend with these options over `query`
 * @param seeds how many histories
 * @param vacuum whether the database has VACUUM
 */
export async function searchHistories({ dialect, query, make, seeds, vacuum = false }) {
  const seen = { failures: [], searches: 0, used: 0, scanned: 0 };
  const others = Object.entries(OTHERS[dialect]).filter(([name]) => vacuum || name !== "vacuum");
  const all = [...QUERIES, ...MORE];
  for (let seed = 1; seed <= seeds; seed++) {
    const roll = dice(seed * 7919);
    const pick = (from) => from[roll(from.length)];
    const namespace = `search-${seed}`;
    let narrowed = false;
    const watched = (sql, params) => {
      if (isOfIndex(sql)) narrowed = true;
      return query(sql, params);
    };
    const plain = make({ query, namespace });
    const open = () => make({ query: watched, namespace, searchIndex: true });
    const files = open();
    await files.migrate();
    for (let step = 0; step < 12; step++) {
      const what = roll(12);
      if (what === 0) await damage(roll, dialect, query);
      else if (what === 1) await pick([open(), files]).migrate();
      else if (what < 5) {
        const [, sql] = pick(others);
        const values = { NS: namespace, PATH: pick(NAMES), TEXT: pick(BODIES.slice(1, 4)) };
        const quoted = (text) => `'${text.replaceAll("'", "''")}'`;
        await query(
          sql.replace(/\b(?:NS|PATH|TEXT)\b/g, (name) => quoted(values[name])),
          [],
        );
      } else if (what < 8) {
        const body =
          roll(6) === 0 ? new Uint8Array(BROKEN) : new TextEncoder().encode(pick(BODIES));
        await pick([plain, files]).uploadFiles([[pick(NAMES), body]]);
      } else
        await change((sides) => (sides === 9 ? roll(6) : roll(sides)), undefined, plain, [files]);
      const reader = pick([files, files, open()]);
      for (const [pattern, options] of [pick(all), pick(all)]) {
        const root = pick(["/", "/", "/src", "/a.ts"]);
        narrowed = false;
        const found = await reader.grep(pattern, root, null, null, options);
        if (narrowed) seen.used += 1;
        else seen.scanned += 1;
        const scan = await plain.grep(pattern, root, null, null, options);
        seen.searches += 1;
        if (shown(found) !== shown(scan)) {
          seen.failures.push(
            `seed ${seed}, step ${step}, ${pattern}: ${shown(found).slice(0, 300)} ${shown(scan).slice(0, 300)}`,
          );
        }
      }
    }
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
  // PostgreSQL scans a table that is smaller than this, which is faster then.
  const [count, length] = dialect === "postgres" ? [2_000, 40] : [1_200, 6];
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
  if (dialect === "postgres") await query("ANALYZE files", []);
  sent.length = 0;
  const found = await files.grep("retry_budget");
  check("with the index it is found", shown(found) === shown(scan), found);
  const { indexed } = files.capability;
  check("capability says that there is an index", indexed === true, indexed);
  const search = sent.find(([sql]) => isOfIndex(sql));
  const plan = await planOf(dialect, query, search);
  if (dialect === "postgres") {
    check("EXPLAIN shows the index", /Bitmap Index Scan on files_trigrams/.test(plan), plan);
    check(
      "and few rows",
      !/rows=\d{3,}/.test(plan) && !/Removed by Filter: \d{3,}/.test(plan),
      plan,
    );
  } else {
    const steps = plan.split("\n").filter((line) => /SCAN|SEARCH/.test(line));
    check("EXPLAIN begins with the index", /VIRTUAL TABLE INDEX/.test(steps[0]), plan);
    const seeks = /SEARCH d USING/.test(steps[1]) && /SEARCH files USING/.test(steps[3]);
    check("and then seeks", seeks && !/SCAN (d|files)\b/.test(plan), plan);
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
  const left = await query(
    dialect === "postgres"
      ? "SELECT indexname AS name FROM pg_indexes WHERE indexname LIKE '%trigrams%'"
      : "SELECT name FROM sqlite_master WHERE name LIKE 'files\\_%' ESCAPE '\\'",
    [],
  );
  check("it is removed without a trace", rowsOf(left).length === 0, rowsOf(left));
  const after = await files.grep("retry_budget");
  check("and searches scan again", shown(after) === shown(scan), after);
}
