// `npm run bench [-- NAME…]`: runs the benchmarks and prints a table for each. Two contenders run
// alternately in one process and their medians are compared, so the ratio is reproducible even
// where the milliseconds are not. `--check` compares the ratios with those in `benches/ratios.json` and
// fails where a quarter is lost; `--record` writes them there.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
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
const [check, record] = ["--check", "--record"].map((flag) => process.argv.includes(flag));
const file = at("benches/ratios.json");
const committed = JSON.parse(readFileSync(file, "utf8"));
const lost = [];
for (const name of asked.length > 0 ? asked : byDefault) {
  if (check && !committed[name]) continue;
  const bench = (await import(pathToFileURL(at("benches", `${name}.mjs`)).href)).default;
  await ensureAll(bench.needs ?? ["build"]);
  console.log(`\n## ${bench.title}\n`);
  const figures = await bench.run({ print: (line) => console.log(line) });
  if (check) lost.push(...losses(committed[name], figures));
  if (record && figures) committed[name] = rounded(figures);
}
if (record) writeFileSync(file, `${JSON.stringify(committed, undefined, 2)}\n`);
if (check) {
  for (const line of lost) console.error(line);
  console.log(`\n${lost.length} figures have lost a quarter of the committed ones`);
  process.exitCode = lost.length > 0 ? 1 : 0;
}

/** Figures that are less than three quarters of the committed ones, or missing. */
function losses(before, now) {
  return Object.entries(before).flatMap(([name, was]) => {
    const is = now[name];
    if (is >= was * 0.75) return [];
    return [`${name}: ${is === undefined ? "not measured" : is.toFixed(2)}, committed ${was}`];
  });
}

function rounded(figures) {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, Number(value.toPrecision(3))]),
  );
}
