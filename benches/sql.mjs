// The search index of SqlBackend and PostgresBackend: searches with and without it, and its price, in
// SQLite (in memory) and in a PostgreSQL server that the benchmark starts. The tables of
// docs/performance.md.

import { dependency, kitbag, pooled } from "../tests/durable/lib.mjs";
import { Postgres } from "../tests/durable/postgres.mjs";
import { dice } from "../tests/lib/histories.mjs";

const FILES = 20_000;
const ROUNDS = 9;
const EDITS = 600;

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];

/** 20,000 files, 24 MB of random words; another `edition` has other words in them. */
function corpus(edition) {
  const roll = dice(edition);
  const letters = dice(7);
  const words = Array.from({ length: 4_000 }, () =>
    String.fromCharCode(...Array.from({ length: 3 + letters(8) }, () => 97 + letters(26))),
  );
  const encoder = new TextEncoder();
  return Array.from({ length: FILES }, (_, n) => {
    let text = n === 12_345 ? "the retry_budget = 3\n" : "";
    while (text.length < 1_200) {
      text += roll(6) === 0 ? "common " : `${words[roll(words.length)]} `;
      if (roll(8) === 0) text = `${text.trimEnd()}\n`;
    }
    return [`/d${n % 100}/f${n}.txt`, encoder.encode(`${text}\n`)];
  });
}

const SEARCHES = [
  ["a rare text, 1 match", "retry_budget", {}, null, 1],
  ["a rare text, ignoring case", "RETRY_budget", { ignoreCase: true }, null, 1],
  ["`retry_\\w+ = \\d`", "retry_\\w+ = \\d", { regex: true }, null, 1],
  ["a word in every file, the first 100 matches", "common", {}, 100, 100],
  ["a word in every file, all matches", "common", {}, null, undefined],
];

/** What one backend takes, in ms, by the name of the row. */
async function measured(make, bytes, { searchIndex }) {
  const backend = make({ namespace: "bench", searchIndex });
  await backend.migrate({ searchIndex: false });
  const [first, second] = [corpus(1), corpus(2)];
  const all = (answers) => {
    const failed = answers.find((one) => one.error);
    if (failed) throw new Error(failed.error);
  };
  const figures = {};
  const timed = async (name, call) => {
    const start = performance.now();
    const answer = await call();
    figures[name] = performance.now() - start;
    return answer;
  };
  all(await backend.uploadFiles(first));
  await timed("migrate", () => backend.migrate());
  figures["table, MB"] = (await bytes()) / 1e6;
  const searched = async (suffix) => {
    for (const [name, pattern, options, most, matches] of SEARCHES) {
      const times = [];
      for (let round = 0; round < ROUNDS; round++) {
        const start = performance.now();
        const found = await backend.grep(pattern, "/", null, most, options);
        times.push(performance.now() - start);
        if (matches !== undefined && found.matches.length !== matches) {
          throw new Error(`${name}: ${JSON.stringify(found).slice(0, 200)}`);
        }
      }
      figures[`${name}${suffix}`] = median(times);
    }
  };
  await searched("");
  // Twice, in turn: the first time has to grow the table.
  const times = [];
  for (const files of [second, first, second]) {
    const start = performance.now();
    all(await backend.uploadFiles(files));
    times.push(performance.now() - start);
  }
  figures["overwriting all files"] = median(times);
  await searched(", then");
  const began = performance.now();
  for (let n = 0; n < EDITS; n++) {
    const path = `/d${n % 100}/f${n}.txt`;
    const edited = await backend.edit(path, "common", "rarer", true);
    if (edited.error && edited.code !== "invalid_argument") throw new Error(edited.error);
  }
  figures["one edit"] = (performance.now() - began) / EDITS;
  await searched(", after edits");
  figures["table after all that, MB"] = (await bytes()) / 1e6;
  return figures;
}

function show(print, title, plain, indexed) {
  print(`\n${title}\n\n| ms | scan | with the index | times |\n|---|---:|---:|---:|`);
  for (const name of Object.keys(indexed)) {
    const [a, b] = [plain[name], indexed[name]].map((ms) =>
      ms < 100 ? ms.toFixed(2) : ms.toFixed(0),
    );
    print(`| ${name} | ${a} | ${b} | ${(indexed[name] / plain[name]).toFixed(2)} |`);
  }
}

async function run({ print }) {
  const { PostgresBackend, SqlBackend } = await kitbag();
  const { default: wasm } = await dependency("node-sqlite3-wasm");
  const sqlite = async (options) => {
    const file = new wasm.Database(":memory:");
    const query = (sql, params) => file.all(sql, params);
    const make = (more) => new SqlBackend({ query, dialect: "sqlite", ...more });
    const size = "SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size";
    const figures = await measured(make, async () => query(size, [])[0].bytes, options);
    file.close();
    return figures;
  };
  const server = await Postgres.start();
  const { default: pg } = await dependency("pg");
  const pool = pooled(pg, { connectionString: server.url, max: 2 });
  try {
    const plain = await sqlite({ searchIndex: false });
    const indexed = await sqlite({ searchIndex: true });
    show(print, "SQLite (node-sqlite3-wasm, in memory)", plain, indexed);
    const postgres = async (options) => {
      const table = options.searchIndex ? "indexed" : "plain";
      const make = (more) => new PostgresBackend({ client: pool, table, ...more });
      const size = async () => {
        await pool.query("VACUUM FULL");
        const { rows } = await pool.query(
          "SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_class WHERE relkind = 'r' AND relname LIKE $1",
          [`${table}%`],
        );
        return Number(rows[0].bytes);
      };
      return measured(make, size, options);
    };
    const [scan, index] = [
      await postgres({ searchIndex: false }),
      await postgres({ searchIndex: true }),
    ];
    show(print, "PostgreSQL", scan, index);
  } finally {
    await pool.end();
    await server.stop();
  }
}

export default {
  title: "The search index in SQLite and PostgreSQL, 20,000 files",
  needs: ["build", "npm:durable", "postgres"],
  run,
};
