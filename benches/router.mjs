// The cost of rules and routes: a policy with ten rules, and a composite with five mounts, against
// a composite without mounts. Reads are timed by the thousand, alternating between them.

import { pathToFileURL } from "node:url";
import { at } from "../scripts/lib/paths.mjs";
import { corpus } from "./lib/corpus.mjs";

const READS = 2_000;
const ROUNDS = 60;

async function timed(call) {
  const began = performance.now();
  await call();
  return performance.now() - began;
}

/** The fastest run of each contender, run in turn: the added cost is below the machine's noise. */
async function inTurn(contenders, rounds) {
  const times = contenders.map(() => []);
  for (let round = 0; round < rounds + 2; round++) {
    for (const [which, call] of contenders.entries()) {
      const took = await timed(call);
      // The first rounds warm up the compilers.
      if (round >= 2) times[which].push(took);
    }
  }
  return times.map((all) => Math.min(...all));
}

async function run({ print }) {
  const kitbag = await import(pathToFileURL(at("pkg/dist/node.js")).href);
  const { StateBackend, CompositeBackend, withPolicy } = kitbag;
  const { files, count } = corpus(10_000, 92_000_000);
  const state = new StateBackend({ files });
  const permissions = Array.from({ length: 10 }, (_, n) => ({
    operations: ["read", "write"],
    paths: [n % 2 ? `/never${n}/**` : `/**/*.never${n}`],
    mode: "deny",
  }));
  const routes = Object.fromEntries(
    [1, 2, 3, 4, 5].map((n) => [`/mount${n}/`, new StateBackend()]),
  );
  const bare = new CompositeBackend(state, {});
  const named = {
    "a policy with ten rules": withPolicy(state, { permissions }),
    "a composite with five mounts": new CompositeBackend(state, routes),
    "both, one over the other": withPolicy(new CompositeBackend(state, routes), { permissions }),
  };
  const path = Object.keys(files).find((one) => files[one].length < 4_000);
  const reading = (backend) => async () => {
    for (let n = 0; n < READS; n++) await backend.read(path);
  };
  const all = [bare, ...Object.values(named)];
  const reads = (await inTurn(all.map(reading), ROUNDS)).map((ms) => (ms * 1000) / READS);
  const greps = await inTurn(
    all.map((backend) => () => backend.grep("createDeepAgent")),
    ROUNDS,
  );
  print(
    `Over ${count} files. "Bare" is a router without mounts, which answers with promises too.\n`,
  );
  print("| | read, µs | added, µs (≤ 2) | grep, ms | added (≤ 10 %) |");
  print("|---|---|---|---|---|");
  print(`| bare | ${reads[0].toFixed(2)} | | ${greps[0].toFixed(2)} | |`);
  for (const [which, name] of Object.keys(named).entries()) {
    const [read, grep] = [reads[which + 1], greps[which + 1]];
    const more = ((grep / greps[0] - 1) * 100).toFixed(1);
    print(
      `| ${name} | ${read.toFixed(2)} | ${(read - reads[0]).toFixed(2)} | ${grep.toFixed(2)} | ${more} % |`,
    );
  }
}

export default { title: "Routes and rules", needs: ["build"], run };
