// `npm run bench [-- NAME…]`: runs the benchmarks and prints a table for each. Two contenders run
// alternately in one process and their medians are compared, so the ratio is reproducible even
// where the milliseconds are not. `--check` compares the ratios with those in `benches/ratios.json` and
// fails where a quarter is lost, in two runs; `--record` writes them there. `--save FILE` writes the
// ratios of a run to a file, and `--figures FILE` reads them instead of measuring; of several files
// `--record` takes the worst of each.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { better, losses, merged, rounded, worse } from "../benches/lib/check.mjs";
import { at } from "./lib/paths.mjs";
import { ensureAll } from "./setup.mjs";

const all = readdirSync(at("benches"))
  .filter((name) => name.endsWith(".mjs"))
  .map((name) => name.slice(0, -".mjs".length));
// `browser` has its own command and needs a browser, so it runs only on request.
const byDefault = all.filter((name) => name !== "browser");
const { values: given, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: {
    check: { type: "boolean" },
    record: { type: "boolean" },
    save: { type: "string" },
    figures: { type: "string", multiple: true },
  },
});
const strangers = asked.filter((name) => !all.includes(name));
if (strangers.length > 0) {
  console.error(`There is no bench ${strangers.join(", ")}. Benches: ${all.join(", ")}.`);
  process.exit(2);
}

console.log(
  `${new Date().toISOString().slice(0, 10)}, ${process.platform} ${process.arch}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown"}, Node ${process.versions.node}`,
);
const file = at("benches/ratios.json");
const committed = JSON.parse(readFileSync(file, "utf8"));
const read = (given.figures ?? []).map((name) => JSON.parse(readFileSync(name, "utf8")));
const measured = read.reduce((all, one) => merged(all, one, worse), {});
const lost = [];
for (const name of asked.length > 0 ? asked : byDefault) {
  if (given.check && !committed[name]) continue;
  if (!given.figures) measured[name] = await run(name);
  if (!given.check) continue;
  if (!given.figures && losses(committed[name], measured[name]).length > 0) {
    console.log("\nFigures were lost, so they are measured again.");
    measured[name] = better(measured[name], await run(name));
  }
  lost.push(...losses(committed[name], measured[name]));
}
if (given.save) writeFileSync(given.save, `${JSON.stringify(measured, undefined, 2)}\n`);
if (given.record) {
  for (const [name, figures] of Object.entries(measured)) {
    if (figures) committed[name] = rounded(figures);
  }
  writeFileSync(file, `${JSON.stringify(committed, undefined, 2)}\n`);
}
if (given.check) {
  for (const line of lost) console.error(line);
  const [count, have] =
    lost.length === 1 ? ["1 figure", "has"] : [`${lost.length} figures`, "have"];
  console.log(`\n${count} ${have} lost a quarter of the committed ones`);
  process.exitCode = lost.length > 0 ? 1 : 0;
}

/** Runs a benchmark, prints its table, and returns its figures. */
async function run(name) {
  const bench = (await import(pathToFileURL(at("benches", `${name}.mjs`)).href)).default;
  await ensureAll(bench.needs ?? ["build"]);
  console.log(`\n## ${bench.title}\n`);
  return bench.run({ print: (line) => console.log(line) });
}
