// Times of the component beside those of the npm package, in one process, in turns: the shortest of many, so
// that other work of the machine counts for neither. A process of its own, because in that of a test Node follows
// each promise, of which jco makes some for a call: 1.7 µs of the 4 that a short read takes there.

import { StateBackend } from "../lib/kitbag.mjs";
import { instance } from "./load.mjs";
import { stateOptions } from "./protocol.mjs";

const encoder = new TextEncoder();

/** Forty files with a thousand matching lines each. */
const FILES = Array.from({ length: 40 }, (_, file) => {
  const lines = Array.from({ length: 1000 }, (_, line) => `const value${line} = find(${file});`);
  return [`/src/file${file}.ts`, encoder.encode(`${lines.join("\n")}\n`)];
});

/** A page of 500 lines, and a short text. */
const PATHS = { page: "/src/file7.ts", note: "/notes.txt" };

const { Backend } = instance();
const component = Backend.state(stateOptions());
const npm = new StateBackend();
for (const files of [FILES, [[PATHS.note, encoder.encode("a short note\n")]]]) {
  component.upload(files);
  npm.uploadFiles(files);
}

const linesOf = ({ files }) => files.map(({ text }) => text.split("\n"));

const query = { pattern: "find(", before: 0, after: 0, switches: {} };

/** What is timed, as both are called: how often for one measurement, and both calls. */
const SUBJECTS = {
  "read of a short file": [200, () => component.read(PATHS.note), () => npm.read(PATHS.note)],
  "read of 500 lines": [100, () => component.read(PATHS.page), () => npm.read(PATHS.page)],
  // The npm package makes the objects of matches when they are looked at.
  "grep with 40,000 matches, each looked at": [
    1,
    () => {
      let length = 0;
      for (const lines of linesOf(component.grep(query))) {
        for (const line of lines) length += line.length;
      }
      return length;
    },
    () => {
      let length = 0;
      for (const { text } of npm.grep("find(").matches) length += text.length;
      return length;
    },
  ],
};

function timed(times, call) {
  const start = performance.now();
  for (let time = 0; time < times; time += 1) call();
  return (performance.now() - start) / times;
}

/** Rounds at least and at most: more of them while the component took more than `times` of the npm package. */
const ROUNDS = { least: 30, most: 400 };

/** For each subject the shortest time of both in milliseconds. */
function measured(times) {
  return Object.entries(SUBJECTS).map(([name, [calls, ours, theirs]]) => {
    const best = { name, component: Number.POSITIVE_INFINITY, npm: Number.POSITIVE_INFINITY };
    for (let round = 0; round < ROUNDS.most; round += 1) {
      if (round >= ROUNDS.least && best.component <= times * best.npm) break;
      best.component = Math.min(best.component, timed(calls, ours));
      best.npm = Math.min(best.npm, timed(calls, theirs));
    }
    return best;
  });
}

const [, , times] = process.argv;
if (times) {
  const found = linesOf(component.grep(query)).flat().length;
  console.log(JSON.stringify({ found, measured: measured(Number(times)) }));
} else {
  for (const { name, component, npm } of measured(1)) {
    const [a, b] = [component, npm].map((ms) => (ms * 1000).toFixed(1));
    console.log(`${name}: component ${a} µs, npm ${b} µs, ${(component / npm).toFixed(2)} times`);
  }
}
