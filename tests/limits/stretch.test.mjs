// No engine that pauses, by docs/limits.md, keeps the host from other work for longer than a frame of a page, over
// backends with promises, on its worst input of a megabyte; and a signal and a time limit end it within
// one such stretch.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MapStorage } from "../chunks/doubles.mjs";
import { CustomBackend, StateBackend, withPolicy } from "../lib/kitbag.mjs";
import { ENDS, FRAME, idle, overrun, stretches } from "../lib/stretches.mjs";
import { measured } from "../lib/work.mjs";
import { ENGINES } from "./engines.mjs";

/** The best of so many: what else the machine does is not what is measured. */
const ATTEMPTS = 10;
const utf8 = new TextEncoder();

/** Backends whose methods return promises that are settled at once, which is the worst case. */
const BACKENDS = {
  "a storage of promises": (files) => {
    const storage = new MapStorage();
    for (const [path, text] of Object.entries(files)) {
      storage.put(path, { content: utf8.encode(text) });
    }
    return new CustomBackend(storage, { writeMode: "overwrite" });
  },
  "a policy over memory": (files) =>
    withPolicy(new StateBackend({ files, writeMode: "overwrite" }), {}),
};

/** The engines that pause within one file, by the table. */
const PAUSING = [
  "ignore files",
  "glob patterns",
  "differences",
  "merges",
  "patches",
  "V4A patches",
];
/** Those whose calls here take options. */
const GIVEN_UP = ["ignore files", "differences", "merges", "patches"];
/** What answers at once. */
const AT_ONCE = ["a patch that is written"];

const rounded = (times) => times.map((time) => time.toFixed(1)).join(", ");

/** Several times; ends early if one is short enough. */
async function best(measure) {
  const seen = await measured(FRAME, measure, ATTEMPTS);
  if (process.env.KITBAG_SHOW) console.log(`# ${rounded(seen)} ms`);
  return seen;
}

for (const [name, make] of Object.entries(BACKENDS)) {
  describe(name, () => {
    for (const engine of PAUSING) {
      const prepare = ENGINES[engine];
      test(`${engine}: no stretch is longer than a frame`, async () => {
        const long = [];
        for (const [input, call] of Object.entries(await prepare(make))) {
          if (AT_ONCE.includes(input)) continue;
          if (process.env.KITBAG_SHOW) console.log(`# ${engine}: ${input}`);
          const seen = await best(async () => (await stretches(call)).longest);
          if (Math.min(...seen) > FRAME) long.push(`${input}: ${rounded(seen)} ms`);
        }
        assert.deepEqual(long, []);
      });
    }
  });
}

for (const engine of GIVEN_UP) {
  test(`${engine}: a signal and a time limit end it within a stretch`, async () => {
    let ended = 0;
    for (const [input, call] of Object.entries(
      await ENGINES[engine](BACKENDS["a policy over memory"]),
    )) {
      if (AT_ONCE.includes(input)) continue;
      const began = performance.now();
      await call();
      // In the midst of it, and of the first of two calls.
      const early = (performance.now() - began) / 4;
      for (const by of ENDS) {
        const once = async () => {
          const took = await overrun(call, early, by);
          if (took !== undefined) ended += 1;
          return took ?? 0;
        };
        const seen = await best(() => idle(once));
        assert.ok(Math.min(...seen) <= FRAME, `${input}, by ${by}: ${rounded(seen)} ms`);
      }
    }
    assert.ok(ended > 0, "some calls were ended");
  });
}
