// `npm run simulate`: builds the simulator and runs it with the given options (`-- --help` lists
// them). `npm run simulate -- --page` serves the playground, whose view of the simulator draws histories;
// `npm run simulate -- --index` and `--notes` run the histories of a search index, `--turns` those of turns, `--sync` those of synced trees,
// `--adversary` agents that try to get round rules and labels, and `--scale` prints what searches of large buckets cost by the simulated clock.

import { spawn } from "node:child_process";
import { at } from "./lib/paths.mjs";
import { buildSimulator } from "./lib/simulation.mjs";

const options = process.argv.slice(2);
/** Runs a program in place of this one. */
function become(program, args) {
  const child = spawn(program, args, { stdio: "inherit" });
  child.once("close", (code) => {
    process.exitCode = code ?? 1;
  });
}
if (options.includes("--page")) {
  const own = options.filter((option) => option !== "--page");
  become(process.execPath, [at("scripts/start.mjs"), "--simulator", ...own]);
} else {
  const programs = ["--index", "--notes", "--turns", "--sync", "--adversary", "--scale"];
  const named = options.find((option) => programs.includes(option));
  const program = await buildSimulator(named?.slice(2));
  const own = options.filter((option) => option !== named);
  become(program, own);
}
