// What turns, histories and pins cost beside their goals: beginning a turn, reading through one, its diff
// and undo, and what one change adds to a history. With `--check` the ratios are compared: how far
// below its goal each is.

import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { at } from "../scripts/lib/paths.mjs";
import { roomOf } from "../tests/lib/room.mjs";
import { median } from "./lib/compare.mjs";
import { inTurn } from "./lib/layers.mjs";

const encoder = new TextEncoder();
const number = (value) => Number(value.toPrecision(3)).toLocaleString("en");

/** So many files in a StateBackend; all in one directory. */
async function many(kitbag, count) {
  const backend = new kitbag.StateBackend({ files: {}, writeMode: "overwrite" });
  const files = Array.from({ length: count }, (_, n) => [
    `/many/${n}`,
    encoder.encode(`file ${n}\n`),
  ]);
  await backend.uploadFiles(files);
  return backend;
}

async function timed(rounds, call) {
  const times = [];
  for (let round = 0; round < rounds + 2; round++) {
    const began = performance.now();
    await call(round);
    if (round >= 2) times.push(performance.now() - began);
  }
  return median(times);
}

/** A turn that has changed so many files. */
async function changed(kitbag, backend, count) {
  const turn = kitbag.begin(backend);
  for (let n = 0; n < count; n++) await turn.edit(`/many/${n}`, "file", "line");
  return turn;
}

async function reading(kitbag) {
  const READS = 2_000;
  const backend = await many(kitbag, 1_000);
  // A call of a StateBackend returns its result, that of a turn a promise; so both are awaited.
  const calls = [backend, kitbag.begin(backend)].map((one) => async () => {
    for (let n = 0; n < READS; n++) await one.read("/many/7");
  });
  const [bare, turn] = await inTurn(calls, 60, { per: READS });
  return { bare: bare.time * 1000, added: turn.added * 1000, noise: turn.noise * 1000 };
}

/** The bytes of all files that a history keeps, and those of their names. */
async function sizes(own, backend) {
  const { files } = await backend.glob("**", own("/.kitbag"));
  const sum = (of) => files.reduce((all, file) => all + of(file), 0);
  return [sum(({ size }) => size), sum(({ path }) => path.length)];
}

/** What one change adds to a history, and to a pin, besides the body. */
async function added(kitbag, withHistory) {
  const inner = await many(kitbag, 10_000);
  const keepIn = new kitbag.StateBackend({ files: {} });
  const own = await roomOf(kitbag);
  const world = withHistory(inner, { keepIn: { backend: keepIn }, writeMode: "overwrite" });
  const began = performance.now();
  await world.pin();
  const first = performance.now() - began;
  const [changes, pins, named, later] = [[], [], [], []];
  for (let n = 0; n < 30; n++) {
    const body = `changed ${n}\n`;
    const [before] = await sizes(own, keepIn);
    await world.write(`/many/${n * 331}`, body);
    const [noted, names] = await sizes(own, keepIn);
    const start = performance.now();
    await world.pin();
    later.push(performance.now() - start);
    const [pinned, all] = await sizes(own, keepIn);
    pins.push(pinned - noted);
    named.push(pinned - noted + all - names);
    changes.push(noted - before - body.length);
  }
  return { first, later: median(later), changes, pins, named };
}

async function run({ print }) {
  setFlagsFromString("--expose-gc");
  globalThis.gc = runInNewContext("gc");
  const kitbag = await import(pathToFileURL(at("pkg/dist/node.js")).href);
  const { withHistory } = await import(pathToFileURL(at("pkg/dist/history.js")).href);
  const figures = {};
  print("| | measured | goal |");
  print("|---|---:|---:|");
  const row = (name, value, unit, goal) => {
    print(
      `| ${name} | ${number(value)} ${unit} | ${goal === undefined ? "" : `≤ ${number(goal)} ${unit}`} |`,
    );
    if (goal !== undefined) figures[name] = goal / Math.max(value, 1e-4);
  };
  const large = await many(kitbag, 100_000);
  row("begin on 100,000 files", await timed(50, () => kitbag.begin(large)), "ms", 1);
  const read = await reading(kitbag);
  row("read of a StateBackend", read.bare, "µs");
  row("read through a turn: more", read.added, "µs", 2);
  const small = await many(kitbag, 1_000);
  const turns = {
    "diff of 10 changes, 1,000 files": await changed(kitbag, small, 10),
    "diff of 10 changes, 100,000 files": await changed(kitbag, large, 10),
    "diff of 100 changes, 100,000 files": await changed(kitbag, large, 100),
  };
  const diffs = {};
  for (const [name, turn] of Object.entries(turns)) {
    diffs[name] = await timed(20, () => turn.diff());
    row(name, diffs[name], "ms");
  }
  const [onSmall, onLarge] = Object.values(diffs);
  row("diff, 100,000 files against 1,000: times", onLarge / onSmall, "", 2);
  const undos = [];
  for (let round = 0; round < 8; round++) {
    const { receipt } = await (await changed(kitbag, small, 100)).commit();
    const began = performance.now();
    const { error } = await kitbag.undo(small, receipt);
    if (error) throw new Error(error);
    undos.push(performance.now() - began);
  }
  row("undo of 100 files, in one transaction", median(undos), "ms");
  const kept = await added(kitbag, withHistory);
  row("one change among 10,000 files, history", median(kept.changes), "bytes", 2048);
  row("one change among 10,000 files, pin", median(kept.pins), "bytes", 2048);
  row("the same, the most of 30", Math.max(...kept.pins), "bytes");
  row("the same, with the names of the files", median(kept.named), "bytes");
  row("first pin of 10,000 files", kept.first, "ms");
  row("pin after one change", kept.later, "ms");
  return figures;
}

export default { title: "Turns, histories and pins", needs: ["build"], run };
