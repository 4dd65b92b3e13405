// StateBackend against deepagents' own, over real source files, in Node and in Chromium: the tables in
// docs/performance.md, and what bounds each row.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { at } from "../scripts/lib/paths.mjs";
import { bounds, printBounds, whole } from "./lib/bounds.mjs";
import { corpus } from "./lib/corpus.mjs";
import { native, nativeInWasm } from "./lib/native.mjs";
import { startTimes } from "./lib/start.mjs";
import { inChromium } from "./lib/state-chromium.mjs";
import { PATTERNS, rows } from "./lib/state-rows.mjs";

const require = createRequire(at("tests/deps/latest/package.json"));

const START = "import and first operation, 100 files";

/** At most so many files and bytes; `effort` is the part of the rounds that are run. */
export async function measure({ most = [10_000, 92_000_000], effort = 1, print }) {
  const { StateBackend: Peer } = await import(pathToFileURL(require.resolve("deepagents")).href);
  const { StateBackend } = await import(pathToFileURL(at("pkg/dist/node.js")).href);
  const { files, count, bytes } = corpus(...most);
  print(`Corpus: ${count} files, ${(bytes / 1e6).toFixed(1)} MB.\n`);
  const { sum, found: machine } = await native(Object.values(files), Object.values(PATTERNS));
  const speed = (ms) => `${ms.toFixed(1)} ms, ${(bytes / 1e6 / ms).toFixed(1)} GB/s`;
  print(`The machine, natively, over these bytes end to end: summing them ${speed(sum)}.`);
  for (const [text, ms] of Object.entries(machine)) print(`memmem "${text}": ${speed(ms)}.`);
  const wasm = await nativeInWasm();
  const module = new WebAssembly.Module(readFileSync(wasm));
  const inWasm = ({ sum, memmem }) =>
    `The same in WebAssembly: summing ${speed(sum)}; memmem "${PATTERNS.none}" ${speed(memmem)}.`;
  print(inWasm(await whole({ files, module, effort })));

  print("\n### In Node\n");
  const contenders = { Peer, StateBackend, files };
  const here = await rows({ ...contenders, machine, effort, print });
  const start = startTimes(Math.max(3, Math.round(7 * effort)));
  const row = { peer: start.peer.script, ours: start.ours.script };
  here.table.add(START, row, 15);
  here.table.print(print);
  const more = ({ over }) => `${over.toFixed(1)} ms more than an empty one`;
  const mark = start.ours.over <= 20 ? "" : ", over";
  print(
    `\nA whole process that imports kitbag and searches takes ${more(start.ours)} (goal ≤ 20${mark}); one that only makes an instance of its WebAssembly ${more(start.least)}.`,
  );
  print(`Parts of the start, ms: ${start.parts}.`);
  print("\n### What bounds them, in Node\n");
  const list = await bounds({ ...contenders, ...here, module, rows: here.table.rows(), effort });
  const least = start.least.script;
  const what = "its WebAssembly read, compiled, and made an instance";
  list.push({ name: START, ...row, goal: 15, least, what });
  printBounds(list, print);

  const page = await inChromium({ files, wasm, machine, effort });
  print(`\n### In Chromium ${page.version}\n`);
  print(inWasm(page.limits));
  for (const line of page.said) print(line);
  page.table.print(print);
  print("\n### What bounds them, in Chromium\n");
  printBounds(page.bounds, print);
  const inPage = Object.entries(page.table.figures());
  const named = inPage.map(([name, ratio]) => [`${name}, in Chromium`, ratio]);
  return { ...here.table.figures(), ...Object.fromEntries(named) };
}

export default {
  title: "StateBackend against deepagents' own",
  needs: ["build", "npm:latest", "chromium"],
  run: measure,
};
