// PostgresBackend over 20,000 rows, in a PostgreSQL server that the benchmark starts.

import { dependency, kitbag, pooled } from "../tests/durable/lib.mjs";
import { Postgres } from "../tests/durable/postgres.mjs";

const ROWS = 20_000;

async function run({ print }) {
  const { PostgresBackend } = await kitbag();
  const { default: pg } = await dependency("pg");
  const server = await Postgres.start();
  const pool = pooled(pg, { connectionString: server.url });
  try {
    const backend = new PostgresBackend({ client: pool, namespace: "bench", migrate: true });
    const encoder = new TextEncoder();
    const line = "const value = compute(input, options); // one line of source code\n";
    const files = [];
    for (let n = 0; n < ROWS; n++) {
      const rare = n % 1000 === 0 ? "a rare needle\n" : "";
      const top = n % 4 === 0 ? "src" : "docs";
      files.push([
        `/${top}/d${n % 100}/f${n}.${n % 2 ? "md" : "ts"}`,
        encoder.encode(rare + line.repeat(15)),
      ]);
    }
    const began = performance.now();
    const stored = await backend.uploadFiles(files);
    if (stored.some((one) => one.error)) throw new Error("an upload failed");
    print(
      `${ROWS} files of 1 KB uploaded in ${((performance.now() - began) / 1000).toFixed(1)} s.\n`,
    );
    await pool.query("VACUUM ANALYZE files");
    print("| operation | ms, median | goal |");
    print("|---|---|---|");
    const timed = async (name, goal, call, found) => {
      const times = [];
      for (let round = 0; round < 9; round++) {
        const start = performance.now();
        const answer = await call();
        times.push(performance.now() - start);
        const seen = (answer.files ?? answer.matches).length;
        if (seen !== found) throw new Error(`${name}: found ${seen}, not ${found}`);
      }
      const median = times.sort((a, b) => a - b)[4];
      const mark = goal === undefined || median <= goal ? "" : " (missed)";
      print(`| ${name} | ${median.toFixed(1)} | ${goal === undefined ? "" : `≤ ${goal}`}${mark} |`);
    };
    await timed("ls, the root above all", 10, () => backend.ls("/"), 2);
    await timed("ls, 25 directories", 10, () => backend.ls("/src"), 25);
    await timed("ls, 200 files", 10, () => backend.ls("/src/d4"), 200);
    await timed("grep, a rare literal", 300, () => backend.grep("rare needle"), 20);
    await timed("grep, no match", 300, () => backend.grep("not to be found"), 0);
    await timed("glob src/**/*.ts", undefined, () => backend.glob("src/**/*.ts"), 5000);
  } finally {
    await pool.end();
    await server.stop();
  }
}

export default {
  title: "PostgresBackend, 20,000 rows",
  needs: ["build", "npm:durable", "postgres"],
  run,
};
