// `kitbag sync A B`, killed again and again by SIGKILL while people edit both trees between the runs; `A` is a
// folder. In the end both trees are equal, and every acknowledged edit is in them. KITBAG_KILLS says how
// often (`npm run soak`: thirty times).
//
// The process that was killed has left the record that it runs, which the next one believes for ten seconds.
// Here it is deleted, as the next one would do then; KITBAG_WAITS lets each third run wait.

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { contents, shown } from "./lib.mjs";
import { act, history, many, marksIn } from "./peers/people.mjs";
import { ofBackend } from "./peers/ways.mjs";

const KILLS = Number(process.env.KITBAG_KILLS ?? 10);
const WAITS = process.env.KITBAG_WAITS !== undefined;
const FILES = many(90);
/** The most that people do between two runs. */
const MOST = 80;
/** Longer than any run that nothing kills. */
const LONGEST_MS = 60_000;

/** The record of a run in a folder, if there is one. */
function running(folder) {
  const rooms = join(folder, ".kitbag/sync");
  const names = existsSync(rooms) ? readdirSync(rooms) : [];
  return names.map((name) => join(rooms, name, "running")).find((file) => existsSync(file));
}

/** Waits until a run has begun; whether it has not ended before. */
async function begun(folder, child) {
  while (child.exitCode === null && !running(folder)) await pause(2);
  return child.exitCode === null;
}

/** How long a run takes once it has begun, in milliseconds. */
async function whole(folder, child) {
  const gone = once(child, "close");
  await begun(folder, child);
  const began = performance.now();
  await gone;
  return performance.now() - began;
}

/** What contradicts the promises in a tree: edits that are lost, and conflict copies that were made twice. */
async function wrong(tree, files, live, moved) {
  const there = new Set((await tree.texts()).flatMap(marksIn));
  const lost = [...live].filter((mark) => !there.has(mark));
  const copies = Object.entries(files)
    .filter(([path, text]) => path.includes("(conflict of ") && !moved.has(text))
    .map(([, text]) => text);
  return { lost, twice: copies.length - new Set(copies).size };
}

/** A run that nothing kills; its exit code. */
async function ended(child) {
  const timer = setTimeout(() => child.kill("SIGKILL"), LONGEST_MS);
  const [code] = await once(child, "close");
  clearTimeout(timer);
  return code;
}

/**
 * `folder` is that of `a`, `b` the backend of the other tree, and `begin` starts the command. Returns how many
 * runs were killed in their midst.
 */
export async function killedAgain({ a, folder, b, begin, seed = Date.now() % 100_000 }) {
  const [first, ...rounds] = history(seed, { files: FILES, rounds: KILLS, most: MOST });
  const trees = [a, b].map(ofBackend);
  const live = new Set();
  const moved = new Set();
  const work = async (steps) => {
    for (const step of steps) {
      const text = await act(trees[step.side], step, live);
      if (text !== undefined) moved.add(shown(text));
    }
  };
  await work(first);
  let takes = (await whole(folder, begin())) / 2;
  let killed = 0;
  for (const [round, steps] of rounds.entries()) {
    await work(steps);
    const child = begin();
    const gone = once(child, "close");
    if (await begun(folder, child)) await pause(Math.random() * takes);
    child.kill("SIGKILL");
    await gone;
    const left = running(folder);
    if (!left) takes *= 0.8;
    else killed++;
    if (left && !(WAITS && round % 3 === 0)) rmSync(left);
  }
  const codes = [];
  for (let last = 0; last < 3; last++) codes.push(await ended(begin()));
  assert.deepEqual([codes.includes(null), codes[2]], [false, 0], `seed ${seed}: ${codes}`);
  const files = await contents(a);
  assert.deepEqual(await contents(b), files, `seed ${seed}`);
  const found = await wrong(trees[0], files, live, moved);
  assert.deepEqual(found, { lost: [], twice: 0 }, `seed ${seed}`);
  assert.ok(killed >= KILLS / 4, `only ${killed} of ${KILLS} were killed in their midst`);
  return { killed, edits: live.size, files: Object.keys(files).length };
}
