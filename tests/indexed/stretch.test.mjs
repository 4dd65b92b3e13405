// With `freshness: "writers"` no call keeps the host from other work for longer than a frame of a page, and a
// signal or a time limit ends it within one such stretch, in a bucket of very many files.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withIndex } from "../../pkg/dist/indexed.js";
import { dice } from "../lib/histories.mjs";
import { R2Backend } from "../lib/kitbag.mjs";
import { ENDS, FRAME, idle, overrun, stretches } from "../lib/stretches.mjs";
import { measured } from "../lib/work.mjs";
import { LargeBucket } from "./large.mjs";

/** The best of so many: what else the machine does is not what is measured. */
const ATTEMPTS = 10;
/** Files in one directory. Their listing is a result of so many entries, which is converted in one stretch. */
const BESIDE = 4_000;

const WORDS = ["const", "await", "read", "value", "budget", "retry", "queue", "render", "token"];

async function filled(count) {
  const bucket = new LargeBucket();
  const roll = dice(count);
  const word = () => `${WORDS[roll(WORDS.length)]}${roll(5_000).toString(36)}`;
  for (let at = 0; at < count; at++) {
    const text = Array.from({ length: 20 }, word).join(" ");
    const rare = at === 777 ? " a_rare_needle" : "";
    const dir = at < BESIDE ? "flat" : `src/d${at % 40}`;
    await bucket.put(`${dir}/f${at}.ts`, new TextEncoder().encode(`${text}${rare}\n`));
  }
  return new R2Backend({ bucket });
}

const good = (answer) => {
  assert.equal(answer.error, undefined, JSON.stringify(answer));
  return answer;
};
const rounded = (times) => times.map((time) => time.toFixed(1)).join(", ");

/** Measures until it is short enough, several times. */
async function short(what, measure) {
  const seen = await measured(FRAME, measure, ATTEMPTS);
  if (process.env.KITBAG_SHOW) console.log(`# ${what}: ${rounded(seen)} ms`);
  return Math.min(...seen) > FRAME ? [`${what}: ${rounded(seen)} ms`] : [];
}

for (const count of [20_000, 100_000]) {
  describe(`${count} files`, async () => {
    const plain = await filled(count);
    let indexes = 0;
    const open = (path = "/.index/0") =>
      withIndex(plain, { freshness: "writers", keepIn: { path } });
    const another = () => open(`/.index/${++indexes}`);
    good(await open().updateIndex());
    const warm = open();
    const searches = {
      "a rare word": (files, options) => files.grep("a_rare_needle", "/", null, options),
      "a word of many files": (files, options) => files.grep("const1", "/", null, 5, options),
      "a pattern of names": (files, options) => files.glob("**/*777.ts", "/", options),
      "a small directory": (files, options) => files.ls("/", options),
      "a large directory": (files, options) => files.ls("/flat", options),
    };
    let written = 0;
    const calls = {
      "the first update": (options) => another().updateIndex(options),
      ...Object.fromEntries(
        Object.entries(searches).flatMap(([what, search]) => [
          [`${what}, cold`, (options) => search(open(), options)],
          [`${what}, warm`, (options) => search(warm, options)],
        ]),
      ),
      "a write": (options) => warm.write(`/new/${++written}.ts`, "some words", options),
      "an update after writes": (options) => warm.updateIndex(options),
      "an update without changes": (options) => warm.updateIndex(options),
    };
    test("no stretch is longer than a frame", async () => {
      const long = [];
      for (const [what, call] of Object.entries(calls)) {
        const look = async () => {
          const { answer, longest } = await stretches(() => call());
          good(answer);
          return longest;
        };
        long.push(...(await short(what, look)));
      }
      assert.deepEqual(long, []);
    });

    test("a signal and a time limit end a call within one", async () => {
      const [long, ended] = [[], new Set()];
      for (const [what, call] of Object.entries(calls)) {
        const began = performance.now();
        good(await call());
        const early = (performance.now() - began) / 4;
        for (const by of ENDS) {
          const look = () =>
            idle(async () => {
              const took = await overrun(call, early, by);
              if (took !== undefined) ended.add(`${what}, by ${by}`);
              return took ?? 0;
            });
          long.push(...(await short(`${what}, by ${by}`, look)));
        }
      }
      assert.deepEqual(long, []);
      for (const by of ENDS) {
        assert.ok(
          [...ended].some((one) => one.endsWith(by)),
          [...ended].join(),
        );
      }
    });
  });
}
