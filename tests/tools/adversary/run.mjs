// `node tests/tools/adversary/run.mjs --seed 7` prints the history of one seed, `--seeds N --from N` runs many,
// `--bug NAME` with a deliberate bug, `--bugs` looks for a seed that catches each. With `--json` the last line has
// the totals.

import { parseArgs } from "node:util";
import { run } from "./history.mjs";
import { MUTATIONS } from "./mutations.mjs";
import { load } from "./room.mjs";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string", default: "300" },
    from: { type: "string", default: "0" },
    bug: { type: "string" },
    bugs: { type: "boolean", default: false },
    most: { type: "string", default: "300" },
    json: { type: "boolean", default: false },
  },
});

// What a server says about roots that it ignores is no answer.
console.warn = () => {};
process.setMaxListeners(0);

const mutationOf = (name) => {
  const found = MUTATIONS[name];
  if (found) return found;
  throw new Error(`there is no bug ${name}; there are ${Object.keys(MUTATIONS).join(", ")}`);
};

const log = values.json ? () => {} : (text) => console.log(text);

const range = (from, count) => Array.from({ length: count }, (_, at) => from + at);

/** Runs seeds until one is broken, if `isFirst`; returns those that were. */
async function many(api, seeds, isFirst) {
  const failed = [];
  for (const seed of seeds) {
    const broken = await run(api, seed);
    if (!broken) continue;
    failed.push(seed);
    log(`seed ${seed}: ${broken}`);
    if (isFirst) break;
  }
  return failed;
}

if (values.seed !== undefined) {
  const api = await load(values.bug && mutationOf(values.bug));
  const broken = await run(api, Number(values.seed), (line) => console.log(line));
  console.log(broken ? `broken: ${broken}` : "nothing was broken");
  process.exitCode = broken ? 1 : 0;
} else {
  const [from, count, most] = [values.from, values.seeds, values.most].map(Number);
  const only = values.bug;
  const failed = only ? [] : await many(await load(), range(from, count), false);
  const bugs = {};
  for (const name of only ? [only] : values.bugs ? Object.keys(MUTATIONS) : []) {
    const began = performance.now();
    const bug = mutationOf(name);
    // The seed that caught it once is tried first.
    const seeds = [...(bug.seed === undefined ? [] : [bug.seed]), ...range(0, most)];
    const [seed] = await many(await load(bug), seeds, true);
    bugs[name] = seed ?? null;
    log(
      `${name}: ${seed === undefined ? "not caught" : `seed ${seed}`}, ${Math.round(performance.now() - began)} ms`,
    );
  }
  const missed = Object.values(bugs).filter((seed) => seed === null);
  console.log(JSON.stringify({ seeds: count, failed, bugs }));
  process.exitCode = failed.length + missed.length > 0 ? 1 : 0;
}
process.exit();
