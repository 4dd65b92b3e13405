// What a run of `kitbag/sync` costs: after one change beside the listing of both sides, and the first time
// beside the plain transfer of all files.

import { spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { at } from "../scripts/lib/paths.mjs";
import { roomOf } from "../tests/lib/room.mjs";
import { median } from "./lib/compare.mjs";
import { PAIRS, pathOf } from "./lib/sync-pairs.mjs";

const FILES = 10_000;
/** Files of the first run, if not as many. */
const FIRST = { "two trees in memory": 100_000, "two folders": 100_000 };
/** Files of a batch, and calls at the same time, of the transfers beside it. */
const BATCH = 64;
const PARALLEL = 16;
const ROUNDS = 15;
const MINUTE_MS = 61_000;
const WARM = 5;

const good = (result) => {
  const error = result.error ?? result.refused?.[0]?.error;
  if (error) throw new Error(error);
  return result;
};

async function timed(call) {
  const began = performance.now();
  await call();
  return performance.now() - began;
}

/** A clock that can be set forward: what was written within the last minute is read by each run. */
function movableClock() {
  const now = Date.now;
  let ahead = 0;
  Date.now = () => now() + ahead;
  return {
    passes(ms) {
      ahead += ms;
    },
    end() {
      Date.now = now;
    },
  };
}

async function oneChange({ sync, kitbag }, name) {
  const { a, b, end } = await PAIRS[name](kitbag, FILES, FILES);
  const clock = movableClock();
  try {
    const run = async () => good(await sync(a, b, { keepIn: { backend: a } }));
    await run();
    const times = { list: [], idle: [], change: [] };
    for (let round = -WARM; round < ROUNDS; round++) {
      clock.passes(MINUTE_MS);
      // What was changed before is known as old from now on.
      await run();
      const list = await timed(async () => {
        for (const side of [a, b]) good(await side.glob("**", "/"));
      });
      const idle = await timed(run);
      const file = round + WARM;
      good(await a.edit(pathOf(file), `(${file}, 0,`, `(${file}, 1,`));
      let changed = 0;
      const change = await timed(async () => {
        ({ length: changed } = (await run()).changed);
      });
      if (changed !== 1) throw new Error(`${changed} files were changed`);
      if (round < 0) continue;
      for (const [of, ms] of Object.entries({ list, idle, change })) times[of].push(ms);
    }
    return Object.fromEntries(Object.entries(times).map(([of, all]) => [of, median(all)]));
  } finally {
    clock.end();
    await end();
  }
}

/** All files of a tree read, and written into another one in batches, whatever is there. */
async function uploaded(from, to, paths) {
  for (let at = 0; at < paths.length; at += BATCH) {
    const bodies = await from.downloadFiles(paths.slice(at, at + BATCH));
    const failed = await to.uploadFiles(bodies.map(({ path, content }) => [path, content]));
    for (const { error } of failed) if (error) throw new Error(error);
  }
}

/** The same, but no file is ever written over another one: that takes a call for each. */
async function created(from, to, paths) {
  const rest = paths.values();
  const some = async () => {
    for (const path of rest) {
      const { content } = good(await from.readRaw(path)).data;
      good(await to.write(path, content));
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, some));
}

/** Waits until the disk has what was written to it. */
function written() {
  if (process.platform !== "win32") spawnSync("sync");
}

/** The first run, beside the transfer of all files; and what is kept of them. */
async function first({ sync, kitbag, own }, name) {
  const count = FIRST[name] ?? FILES;
  const paths = Array.from({ length: count }, (_, file) => pathOf(file));
  const times = {};
  const ends = [];
  let share = 0;
  try {
    for (const what of ["uploaded", "created", "sync"]) {
      const { a, b, end } = await PAIRS[name](kitbag, count, 0);
      ends.push(end);
      const keepIn = { backend: new kitbag.StateBackend({ files: {} }), path: "/kept" };
      written();
      times[what] = await timed(async () => {
        if (what === "uploaded") await uploaded(a, b, paths);
        else if (what === "created") await created(a, b, paths);
        else good(await sync(a, b, { keepIn }));
      });
      const bytes = async (backend, at, pattern = "**") =>
        good(await backend.glob(pattern, at)).files.reduce((sum, { size }) => sum + size, 0);
      if (what === "sync") {
        share =
          (await bytes(keepIn.backend, own("/kept/.kitbag"), "**/texts/*")) / (await bytes(b, "/"));
      }
    }
  } finally {
    // Only now: after so many files are deleted, the disk is busy for a while.
    for (const end of ends) await end();
  }
  return { count, ...times, share };
}

async function run({ print }) {
  const load = (entry) => import(pathToFileURL(at(`pkg/dist/${entry}.js`)).href);
  const kitbag = await load("node");
  const { sync } = await load("sync");
  const own = await roomOf(kitbag);
  const figures = {};
  print(
    `| ${FILES.toLocaleString("en")} files | listing, ms | nothing to do, ms | one change, ms | times |`,
  );
  print("|---|---:|---:|---:|---:|");
  for (const name of Object.keys(PAIRS)) {
    const { list, idle, change } = await oneChange({ sync, kitbag }, name);
    print(
      `| ${name} | ${list.toFixed(1)} | ${idle.toFixed(1)} | ${change.toFixed(1)} | ${(change / list).toFixed(2)} |`,
    );
    figures[`one change, ${name}`] = list / change;
  }
  print(
    "\n| the first run | files | `uploadFiles`, s | `write`, s | run, s | times `write` | kept of the bytes |",
  );
  print("|---|---:|---:|---:|---:|---:|---:|");
  for (const name of Object.keys(PAIRS)) {
    const found = await first({ sync, kitbag, own }, name);
    const { count, uploaded: all, created: each, sync: run, share } = found;
    const cells = [
      count.toLocaleString("en"),
      ...[all, each, run].map((ms) => (ms / 1000).toFixed(1)),
      (run / each).toFixed(2),
      `${(share * 100).toFixed(1)} %`,
    ];
    print(`| ${name} | ${cells.join(" | ")} |`);
    figures[`first run, ${name}`] = each / run;
  }
  return figures;
}

export default { title: "Syncs", needs: ["build"], run };
