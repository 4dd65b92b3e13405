// D1Backend on miniflare's D1, inside workerd: conformance, and 8 concurrent writers.

import { mkdirSync } from "node:fs";
import { at, cache } from "../../scripts/lib/paths.mjs";
import { Tally } from "./lib.mjs";

export async function run() {
  const tally = new Tally();
  const { build } = await import("esbuild");
  const { Miniflare } = await import("miniflare");
  const folder = cache("d1-worker");
  mkdirSync(folder, { recursive: true });
  await build({
    entryPoints: [at("tests/durable/d1-worker.mjs")],
    outfile: `${folder}/worker.mjs`,
    bundle: true,
    format: "esm",
    assetNames: "[name]",
    loader: { ".wasm": "copy" },
    logLevel: "error",
  });
  const miniflare = new Miniflare({
    host: "127.0.0.1",
    modules: true,
    modulesRoot: folder,
    scriptPath: `${folder}/worker.mjs`,
    modulesRules: [
      { type: "CompiledWasm", include: ["**/*.wasm"] },
      { type: "ESModule", include: ["**/*.mjs"] },
    ],
    compatibilityDate: "2026-04-01",
    d1Databases: ["DB", "OLD", "OWN"],
  });
  try {
    await tally.part("D1", () => suite(tally, miniflare));
  } finally {
    await miniflare.dispose();
  }
  return tally.result;
}

async function suite(tally, miniflare) {
  const ask = async (path, query = {}) => {
    const answer = await miniflare.dispatchFetch(
      `http://worker/${path}?${new URLSearchParams(query)}`,
    );
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };
  const report = await ask("conformance");
  tally.passed += report.passed;
  for (const failure of report.failures) tally.check(`D1: ${failure}`, false);
  tally.check("D1: cases were run", report.passed > 100, report.passed);
  console.log(`D1: ${report.passed} passed, left out: ${report.leftOut.join(", ")}`);

  const searched = await ask("index");
  tally.passed += searched.searches;
  for (const failure of searched.failures) tally.check(`D1: ${failure}`, false);
  tally.check("D1: the search index excludes files", searched.excluded > 12, searched.excluded);
  const own = await ask("search");
  tally.passed += own.searches + own.plans.passed;
  for (const failure of [...own.failures, ...own.plans.failures])
    tally.check(`D1: ${failure}`, false);
  tally.check("D1: its own search index is used", own.used > own.searches / 4, own);
  tally.check("D1: and is missing at times", own.scanned > 6, own);
  const carried = await ask("outline");
  tally.passed += carried.passed;
  for (const failure of carried.failures) tally.check(failure, false);
  tally.check("D1: the outline was carried over", carried.passed > 50, carried.passed);

  const writers = Array.from({ length: 8 }, (_, writer) => writer);
  const began = await ask("start");
  tally.check("D1: the file is made", began.error === undefined, began);
  const edited = await Promise.all(writers.map((writer) => ask("edits", { writer })));
  tally.check(
    "D1: no edit is given up",
    edited.every((one) => one.refused === 0),
    edited,
  );
  const { content } = await ask("log");
  const lines = new Set(content.trim().split("\n"));
  tally.check("D1: no edit is lost", lines.size === 401, lines.size);
  for (let file = 0; file < 20; file++) {
    const path = `/race/${file}.txt`;
    const answers = await Promise.all(writers.map((writer) => ask("create", { writer, path })));
    const winners = writers.filter((writer) => answers[writer].error === undefined);
    const refused = answers.filter((answer) => answer.code === "already_exists").length;
    const seen = await ask("look", { path });
    tally.check(
      `D1: ${path} has one winner`,
      winners.length === 1 && refused === 7 && seen.content === `writer ${winners[0]}`,
      answers,
    );
  }
}
