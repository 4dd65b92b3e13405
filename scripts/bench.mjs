// `npm run bench [-- NAME…]`: runs the benchmarks and prints a table for each. Two contenders run
// alternately in one process and their medians are compared, so the ratio is reproducible even
// where the milliseconds are not.

import { readdirSync } from "node:fs";
import { cpus } from "node:os";
import { pathToFileURL } from "node:url";
import { at } from "./lib/paths.mjs";
import { ensureAll } from "./setup.mjs";

const all = readdirSync(at("benches"))
  .filter((name) => name.endsWith(".mjs"))
  .map((name) => name.slice(0, -".mjs".length));
// `browser` has its own command and needs a browser, so it runs only on request.
const byDefault = all.filter((name) => name !== "browser");
const asked = process.argv.slice(2).filter((arg) => !arg.startsWith("-"));
const strangers = asked.filter((name) => !all.includes(name));
if (strangers.length > 0) {
  console.error(`There is no bench ${strangers.join(", ")}. Benches: ${all.join(", ")}.`);
  process.exit(2);
}

console.log(
  `${new Date().toISOString().slice(0, 10)}, ${process.platform} ${process.arch}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown"}, Node ${process.versions.node}`,
);
for (const name of asked.length > 0 ? asked : byDefault) {
  const bench = (await import(pathToFileURL(at("benches", `${name}.mjs`)).href)).default;
  await ensureAll(bench.needs ?? ["build"]);
  console.log(`\n## ${bench.title}\n`);
  await bench.run({ print: (line) => console.log(line) });
}
