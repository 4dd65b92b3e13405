// `npm run bench:browser [-- 'NAME;…']`: 10,000 files of 50 MB in all and one of 20 MB in Chromium.
// Every contender answers each question in turn, in a new page. Exits with 1 if a limit is missed,
// or if another library is faster than kitbag on the same storage.

import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { must } from "../../scripts/lib/exec.mjs";
import { ensureAll } from "../../scripts/setup.mjs";
import { launch } from "../../tests/browser/lib/browsers.mjs";
import { serve } from "../../tests/browser/lib/server.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const ROUNDS = 7;
/** A contender that takes longer (ms) is asked only once. */
const SLOW = 5_000;

/** Contenders on the same storage as one of kitbag's backends, and which time is compared. */
const GROUNDS = [
  { ours: "kitbag IndexedDB", others: ["idb-keyval", "@zenfs/dom IndexedDB"], judged: "first" },
  // zenfs reads the whole tree when it opens, and later answers from that copy, whatever other tabs
  // have written. So its opening time counts here. If others may write, kitbag asks the browser
  // about each file; a limit that the browser's own API misses too cannot be met.
  { ours: "kitbag OPFS", others: ["@zenfs/dom OPFS"], judged: "opening", floor: "OPFS itself" },
];
/** Contenders that use the files stored by "kitbag OPFS". */
const GUESTS = ["OPFS itself", "@zenfs/dom OPFS"];
/** How much slower than the browser's own API kitbag may be, if that decides. */
const FLOOR = 1.25;

/** The operations, with limits in milliseconds for an open store. */
const QUESTIONS = [
  {
    title: "`ls` of a directory of 100",
    question: "ls",
    argument: "/src/dir7",
    limit: 20,
    size: 100,
  },
  { title: '`glob("**/*.ts")`, 5,000', question: "globTs", limit: 150, size: 5_000 },
  { title: "`grep`, 20 matches", question: "grep", argument: "needle_in_", limit: 3_000, size: 20 },
  { title: "first page of 20 MB", question: "read", argument: "/large.txt", limit: 150 },
];

if (!process.env.KITBAG_BENCH_NO_BUILD) await ensureAll(["chromium", "build"]);
if (!existsSync(join(here, "node_modules"))) {
  await must("npm", ["install", "--no-package-lock"], { cwd: here });
}
const folder = await mkdtemp(join(os.tmpdir(), "kitbag-bench-"));
await build({
  entryPoints: [join(here, "contenders.mjs")],
  bundle: true,
  format: "esm",
  target: "es2022",
  external: ["/pkg/*"],
  outfile: join(folder, "bench.js"),
  logLevel: "error",
});
const server = await serve({ mounts: { "/bench/": folder } });
const browser = await launch("chromium");

/** Calls a function in a new page. */
async function inPage(name, argument) {
  const page = await browser.page(`${server.origin}/pages/blank.html`);
  try {
    return await page.call("/bench/bench.js", name, argument);
  } finally {
    await page.close();
  }
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

function shown(ms) {
  if (ms === undefined) return "–";
  return ms < 10 ? ms.toFixed(1) : Math.round(ms).toLocaleString("en");
}

/** Stores the corpus with each contender. */
async function filled(names) {
  const there = [];
  for (const name of names) {
    if (GUESTS.includes(name)) {
      if (there.includes("kitbag OPFS")) there.push(name);
      continue;
    }
    const took = await inPage("fill", name);
    console.log(`10,001 files of 70 MB stored by ${name}: ${shown(took)} ms`);
    there.push(name);
  }
  return there;
}

/** Asks all in turn. The order alternates, because each one leaves the system's cache warm. */
async function asked({ question, argument, size, title }, names) {
  const seen = new Map(names.map((name) => [name, { opening: [], first: [], again: [] }]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const times = seen.get(name);
      if (times.opening[0] > SLOW || times.first[0] > SLOW) continue;
      const atOnce = await inPage("askAtOnce", { name, question, argument });
      const again = atOnce.took > SLOW ? 0 : 2;
      const open = await inPage("ask", { name, question, argument, again });
      for (const answer of [atOnce, open]) {
        if (size !== undefined && answer.size !== size) {
          throw new Error(`${title}: ${name} answered ${answer.size}, not ${size}`);
        }
      }
      times.opening.push(atOnce.took);
      times.first.push(open.first);
      times.again.push(...open.later);
    }
  }
  const medians = ([name, times]) => [
    name,
    Object.fromEntries(Object.entries(times).map(([kind, all]) => [kind, median(all)])),
  ];
  return new Map(Array.from(seen, medians));
}

try {
  const version = browser.context.browser()?.version() ?? "";
  const date = new Date().toISOString().slice(0, 10);
  const load = os.loadavg()[0].toFixed(1);
  console.log(
    `${date}, Chromium ${version}, ${os.cpus().length} × ${os.cpus()[0]?.model}, load ${load}; ms, medians of ${ROUNDS}`,
  );
  const all = new Set(
    GROUNDS.flatMap(({ ours, others, floor }) => [ours, floor, ...others]).filter(Boolean),
  );
  const contenders = await filled(process.argv[2]?.split(";") ?? all);
  const missed = [];
  console.log("\n| | limit | store open | opening it too | again |\n|---|---:|---:|---:|---:|");
  for (const question of QUESTIONS) {
    const { title, limit } = question;
    console.log(`| **${title}** | ${limit.toLocaleString("en")} | | | |`);
    const times = await asked(question, contenders);
    for (const [name, { first, opening, again }] of times) {
      console.log(`| ${name} | | ${shown(first)} | ${shown(opening)} | ${shown(again)} |`);
    }
    for (const { ours, others, judged, floor } of GROUNDS) {
      const own = times.get(ours);
      const least = times.get(floor)?.first ?? 0;
      if (own?.first > Math.max(limit, least * FLOOR))
        missed.push(`${title}: ${ours} took ${shown(own.first)} of ${limit} ms`);
      for (const other of others) {
        const theirs = times.get(other)?.[judged];
        if (own?.[judged] >= theirs) {
          missed.push(
            `${title}: ${other} is quicker, ${shown(theirs)} to ${shown(own[judged])} ms`,
          );
        }
      }
    }
  }
  console.log(`\n${missed.length === 0 ? "Nothing missed." : `Missed:\n- ${missed.join("\n- ")}`}`);
  if (missed.length > 0) process.exitCode = 1;
} finally {
  await browser.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
}
