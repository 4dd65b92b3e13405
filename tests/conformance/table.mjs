// `npm run conformance`: where other libraries' backends and file systems depart from the cases of
// kitbag/conformance, as `departures.md`. docs/conformance.md sums it up.

import { readFileSync, writeFileSync } from "node:fs";
import { conformanceCases, runConformance } from "../../pkg/dist/conformance.js";
import { at } from "../../scripts/lib/paths.mjs";
import { ensure } from "../../scripts/setup.mjs";

const PAGE = at("tests/conformance/departures.md");
const ABOUT = `# Where other libraries depart

Written by \`npm run conformance\`: the cases of \`kitbag/conformance\` in which backends of each version depart, and how many.
`;

/** Left out: whether another library fails them depends on luck, or on programs of the machine. */
const except = Object.fromEntries(
  [
    "one of many creators wins",
    "no edit is lost",
    "writes of different files do not disturb each other",
    "a reader sees the whole old text or the whole new one",
    "an edit keeps the time of creation",
    "a large text is kept whole",
    "grep finds lines by path, then by line",
    "many entries are all listed",
  ].map((name) => [name, "not the same in each run"]),
);

/** A busy machine changes no table. */
const timeoutMs = 120_000;

async function seen({ make, writeModes }, dispose) {
  const departs = new Set();
  const report = (name, failure) => failure !== undefined && departs.add(name);
  const { leftOut } = await runConformance(make, {
    writeModes,
    report,
    dispose,
    except,
    timeoutMs,
  });
  return { departs, ran: conformanceCases().length - leftOut.length };
}

/** The tables of a fresh run. */
export async function tables() {
  for (const set of ["latest", "older", "filesystems"]) await ensure(`npm:${set}`);
  const { dispose, peers } = await import("./peers.mjs");
  const results = [];
  for (const [name, peer] of Object.entries(peers)) {
    results.push({ name, ...(await seen(peer, dispose)) });
  }
  const lines = ["| backend | cases | departs in |", "|---|---:|---:|"];
  for (const { name, ran, departs } of results) {
    lines.push(`| ${name} | ${ran} | ${departs.size} |`);
  }
  const libraries = [...new Set(results.filter((one) => one.departs.size > 0).map(libraryOf))];
  const titles = libraries.map((library) => ` ${library} |`).join("");
  lines.push("", `| behaviour |${titles}`, `|---|${"---|".repeat(libraries.length)}`);
  for (const { name } of conformanceCases()) {
    const who = results.filter(({ departs }) => departs.has(name));
    const cells = libraries.map((library) => cell(library, results, who));
    if (who.length > 0) lines.push(`| ${name} |${cells.join("")}`);
  }
  return lines.join("\n");
}

const libraryOf = ({ name }) => name.split(": ")[0];

/** Which backends of a library depart, by the first part of their names. */
function cell(library, results, who) {
  const of = (list) => list.filter((one) => libraryOf(one) === library);
  const departing = of(who);
  if (departing.length === 0) return " |";
  if (departing.length === of(results).length) return " all |";
  return ` ${departing.map(({ name }) => name.split(": ")[1].replace(/Backend$/, "")).join(", ")} |`;
}

/** The tables as they are written. */
export const written = () => readFileSync(PAGE, "utf8").slice(ABOUT.length).trim();

if (process.argv.includes("--write")) writeFileSync(PAGE, `${ABOUT}\n${await tables()}\n`);
