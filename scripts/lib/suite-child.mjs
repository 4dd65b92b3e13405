// Runs one suite in a new process, so that a crash, a leak or an endless loop affects no other. The
// parent reads the result from the file in the last argument; a suite without a result has failed.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { ensure } from "../setup.mjs";
import { must, run, start } from "./exec.mjs";
import * as tools from "./outputs.mjs";
import { at, cache, root } from "./paths.mjs";
import { loadSuite } from "./suites.mjs";

const [name, mode, resultFile] = process.argv.slice(2);
const suite = await loadSuite(name);
// Deno of before September 2026 runs what it kept of a file after another of the same length took its place.
process.env.DENO_DIR = cache("deno", name);
rmSync(process.env.DENO_DIR, { recursive: true, force: true });
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
  /** Runs a command and prints its output to the log. */
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
writeFileSync(resultFile, JSON.stringify(result && { ...result, cpu: cpuSeconds() }));
// Resources that a suite forgot to close must not keep the process running.
process.exit(0);

/** Processor seconds of this process and of those it has waited for, where the system counts them. */
function cpuSeconds() {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  let children = 0;
  try {
    // After the name in parentheses: the 14th and 15th value, in hundredths of a second.
    const stat = readFileSync("/proc/self/stat", "utf8").replace(/^.*\) /s, "");
    children = stat
      .split(" ")
      .slice(13, 15)
      .reduce((sum, ticks) => sum + Number(ticks), 0);
  } catch {
    // Other systems do not have this file.
  }
  return (userCPUTime + systemCPUTime) / 1e6 + children / 100;
}
