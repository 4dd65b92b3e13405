// Runs one suite in a process of its own, so that a crash, a leak or an endless loop in it is its
// own. The parent reads the result from the file named last; a suite that leaves none has failed.

import { writeFileSync } from "node:fs";
import { ensure } from "../setup.mjs";
import { must, run, start } from "./exec.mjs";
import * as tools from "./outputs.mjs";
import { at, cache, root } from "./paths.mjs";
import { loadSuite } from "./suites.mjs";

const [name, mode, resultFile] = process.argv.slice(2);
const suite = await loadSuite(name);
const ctx = {
  name,
  root,
  at,
  cache,
  ensure,
  start,
  must,
  soak: mode === "soak",
  log: (text) => console.log(text),
  /** Runs a command, its output shown in the log. */
  run: (command, args, options) => run(command, args, { show: true, ...options }),
  ...tools,
};

let result;
try {
  result = await (mode === "soak" ? suite.soak(ctx) : suite.run(ctx));
} catch (error) {
  console.error(error);
  result = { passed: 0, failed: 1, failures: [error?.stack ?? String(error)] };
}
writeFileSync(resultFile, JSON.stringify(result ?? null));
// Whatever a suite forgot to close must not keep the run waiting.
process.exit(0);
