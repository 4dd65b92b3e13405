// `npm run bench:browser`: 10,000 files of 50 MB in one Chromium page after another, each
// question asked of every contender in turn, in a page that has just been opened.

import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { must } from "../../scripts/lib/exec.mjs";
import { ensureAll } from "../../scripts/setup.mjs";
import { launch } from "../../tests/browser/lib/browsers.mjs";
import { serve } from "../../tests/browser/lib/server.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const ROUNDS = 5;

/** What the issue asks for, in milliseconds. */
const QUESTIONS = [
  {
    title: "ls of a directory of 100",
    question: "ls",
    argument: "/src/dir7",
    limit: 20,
    size: 100,
  },
  { title: "glob **/*.ts", question: "globTs", limit: 150, size: 5_000 },
  { title: "grep, 20 matches", question: "grep", argument: "needle_in_", limit: 3_000, size: 20 },
  { title: "first page of 20 MB", question: "read", argument: "/large.txt", limit: 150 },
];

if (!process.env.KITBAG_BENCH_NO_BUILD) await ensureAll(["chromium", "build"]);
if (!existsSync(join(here, "node_modules"))) await must("npm", ["install"], { cwd: here });
const { default: os } = await import("node:os");
const folder = await mkdtemp(join(tmpdir(), "kitbag-bench-"));
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
const module = "/bench/bench.js";

/** Asks in a page of its own. */
async function inPage(name, argument) {
  const page = await browser.page(`${server.origin}/pages/blank.html`);
  try {
    return await page.call(module, name, argument);
  } finally {
    await page.close();
  }
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const shown = (ms) => (ms < 10 ? ms.toFixed(2) : ms.toFixed(0));

try {
  console.log(
    `Chromium ${browser.context.browser()?.version() ?? ""}, ${os.cpus().length} cores; ms, medians of ${ROUNDS}`,
  );
  const names = process.argv[2]?.split(",") ?? [
    "kitbag IndexedDB",
    "kitbag OPFS",
    "idb-keyval",
    "@zenfs/dom",
  ];
  const contenders = [];
  for (const name of names) {
    try {
      const took = await inPage("fill", name);
      console.log(`stored 10,001 files, 70 MB: ${name} ${shown(took)}`);
      contenders.push(name);
    } catch (error) {
      console.log(`${name} could not store the corpus: ${error.message.split("\n")[0]}`);
    }
  }
  let missed = 0;
  for (const { title, question, argument, limit, size } of QUESTIONS) {
    const seen = new Map(contenders.map((name) => [name, { first: [], later: [] }]));
    for (let round = 0; round < ROUNDS; round++) {
      for (const name of contenders) {
        // The slow ones are asked once; nobody would wait for more.
        const times = seen.get(name);
        if (times.first[0] > 5_000) continue;
        const answer = await inPage("ask", { name, question, argument, again: 2 });
        if (size !== undefined && answer.size !== size) {
          throw new Error(`${title}: ${name} answered ${answer.size}, not ${size}`);
        }
        times.first.push(answer.first);
        times.later.push(...answer.later);
      }
    }
    console.log(`\n${title} (at most ${limit})`);
    const ours = median(seen.get("kitbag IndexedDB")?.first ?? [Infinity]);
    if (ours > limit) missed++;
    for (const [name, { first, later }] of seen) {
      const ratio = name.startsWith("kitbag")
        ? ""
        : `  kitbag IndexedDB is ${(median(first) / ours).toFixed(1)} times as fast`;
      console.log(
        `  ${name.padEnd(18)} first ${shown(median(first)).padStart(7)}  again ${shown(median(later)).padStart(7)}${ratio}`,
      );
    }
  }
  if (missed > 0) process.exitCode = 1;
} finally {
  await browser.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
}
