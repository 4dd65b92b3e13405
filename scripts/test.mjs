// `npm test`: runs every suite, in parallel where possible, and prints the totals in one line.
// `npm test -- NAME…` runs some, `--list` prints their names, `--dev` uses a quick build,
// `--node 22,24` runs them on other versions of Node; `npm run soak` runs the long loops instead.

import { mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { passed } from "./lib/checked.mjs";
import { end, start } from "./lib/exec.mjs";
import { environmentOf, nodeOf, onNodes, SHORT } from "./lib/nodes.mjs";
import { at, results } from "./lib/paths.mjs";
import { prepare } from "./lib/prepare.mjs";
import { counted, loadSuite, suiteNames } from "./lib/suites.mjs";
import { clockOf, REPORTING, unfinished, waitsFor } from "./lib/waiting.mjs";

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    soak: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    dev: { type: "boolean", default: false },
    jobs: { type: "string" },
    node: { type: "string" },
  },
});

/** How many lines of a failed suite's output are repeated at the end. */
const TAIL = 20;

/** How often it is looked whether a suite is over its limit. */
const LOOKS = 5_000;

const all = suiteNames();
const strangers = positionals.filter((name) => !all.includes(name));
if (strangers.length > 0) {
  console.error(`There is no suite ${strangers.join(", ")}. Suites: ${all.join(", ")}.`);
  process.exit(2);
}
if (flags.dev) process.env.KITBAG_DEV_BUILD = "1";
const mode = flags.soak ? "soak" : "run";

const failedToLoad = [];
const loaded = [];
const named = positionals.length > 0 ? [...new Set(positionals)] : flags.node ? SHORT : all;
for (const name of named) {
  try {
    const suite = await loadSuite(name);
    if (suite.onRequest && positionals.length === 0 && !flags.list) continue;
    if (typeof suite[mode] === "function") loaded.push(suite);
    else if (positionals.length > 0) throw new Error(`suite ${name} has no ${mode}()`);
  } catch (error) {
    failedToLoad.push({ name, error });
  }
}

let suites = loaded;
if (flags.node !== undefined) {
  try {
    suites = onNodes(loaded, flags.node);
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
}

if (flags.list) {
  for (const { name, about } of suites) console.log(`${name.padEnd(16)} ${about}`);
  for (const { name, error } of failedToLoad)
    console.error(`${name} cannot be loaded: ${error.stack}`);
  process.exit(failedToLoad.length > 0 ? 1 : 0);
}

const totals = { passed: 0, failed: 0, cpu: 0 };
/** What failed, once more at the end, where a reader looks first. */
const repeated = [];
mkdirSync(results("reports"), { recursive: true });
for (const { name, error } of failedToLoad) {
  report({ name, seconds: 0, ...counted({ passed: 0, failed: 1, failures: [error.stack] }) });
}
const began = performance.now();
await runAll();
const minutes = ((performance.now() - began) / 60_000).toFixed(1);
if (totals.passed + totals.failed === 0) totals.failed = 1;
process.exitCode = totals.failed > 0 ? 1 : 0;
const whole = mode === "run" && positionals.length === 0 && !flags.dev && !flags.node;
if (whole && totals.failed === 0) passed("test");
for (const line of repeated) console.log(line);
console.log(`${minutes} minutes, ${totals.cpu.toFixed(0)} s of processors in the suites`);
console.log(`${totals.passed} passed, ${totals.failed} failed`);

/**
 * Starts suites when what they need is there and places and resources are free, the longest first. There
 * is one place more than processors, because suites also wait for timers, servers and browsers. With two more,
 * the whole takes as long and a tenth more of the processors (2026-11-28).
 */
async function runAll() {
  const places = Number(flags.jobs) || Math.min(4, availableParallelism()) + 1;
  const waiting = [...suites].sort((a, b) => lengthOf(b) - lengthOf(a));
  const preparation = prepare(waiting);
  const running = new Map();
  while (waiting.length > 0 || running.size > 0) {
    for (const suite of [...waiting]) {
      const taken = running.size + (preparation.compiling ? 1 : 0);
      if (taken >= places || !fits(suite, running, waiting)) continue;
      if (!preparation.over(suite)) continue;
      waiting.splice(waiting.indexOf(suite), 1);
      running.set(
        suite,
        runOne(suite, preparation.missing(suite)).then((outcome) => {
          running.delete(suite);
          report(outcome);
        }),
      );
    }
    await Promise.race([...running.values(), preparation.step]);
  }
}

/** Those that run alone come last. */
function lengthOf({ alone, seconds }) {
  return alone ? -1 : seconds;
}

function fits(suite, running, waiting) {
  if (suite.alone) return running.size === 0 && waiting.every((other) => other.alone);
  return [...running.keys()].every(
    (other) => !other.alone && !other.uses.some((used) => suite.uses.includes(used)),
  );
}

async function runOne(suite, missing) {
  // The log of an earlier run must not be mistaken for one of this run.
  rmSync(results(`${suite.name}.log`), { force: true });
  if (missing) {
    const failures = [`what it needs is not there: ${missing.message}`];
    return { name: suite.name, seconds: 0, passed: 0, failed: 1, failures };
  }
  const started = performance.now();
  const result = await inChild(suite);
  const seconds = (performance.now() - started) / 1000;
  return { name: suite.name, seconds, ...result };
}

/** Runs a suite in a child process and writes its output to its log. */
function inChild(suite) {
  const log = results(`${suite.name}.log`);
  const resultFile = results(`${suite.name}.json`);
  rmSync(resultFile, { force: true });
  const out = openSync(log, "w");
  const minutes = mode === "soak" ? (suite.soakMinutes ?? 60) : suite.minutes;
  return new Promise((resolve) => {
    const args = ["--unhandled-rejections=strict", ...REPORTING, at("scripts/lib/suite-child.mjs")];
    const node = suite.node ? nodeOf(suite.node) : process.execPath;
    const child = start(node, [...args, suite.suite ?? suite.name, mode, resultFile], {
      stdio: ["ignore", out, out],
      env: suite.node ? environmentOf(suite.node) : {},
    });
    let late;
    const had = clockOf(child.pid);
    const timer = setInterval(async () => {
      if (had() < minutes * 60_000) return;
      clearInterval(timer);
      late = await tooLong(child, log, minutes);
      // First SIGTERM, so that it can end its own children, then SIGKILL.
      end(child, "SIGTERM");
      setTimeout(() => end(child), 2000).unref();
    }, LOOKS);
    child.once("close", (code, signal) => {
      clearInterval(timer);
      end(child);
      resolve(outcomeOf(resultFile, late, code, signal));
    });
  });
}

/** Says of a suite over its limit what it was in the midst of. */
async function tooLong(child, log, minutes) {
  const tests = unfinished(readFileSync(log, "utf8"));
  return [
    `it took over ${minutes} minutes, without the time for which others had the processors`,
    `tests that have not ended: ${tests.join(" > ") || "unknown, see the end of the output"}`,
    "its processes:",
    ...(await waitsFor(child.pid)),
  ].join("\n");
}

function outcomeOf(resultFile, late, code, signal) {
  if (late) return counted({ passed: 0, failed: 1, failures: [late] });
  try {
    return counted(JSON.parse(readFileSync(resultFile, "utf8")));
  } catch {
    const why = `it ended with ${signal ?? `code ${code}`} and left no result`;
    return counted({ passed: 0, failed: 1, failures: [why] });
  }
}

function report({ name, seconds, cpu, passed, failed, failures, notes = [] }) {
  totals.passed += passed;
  totals.failed += failed;
  totals.cpu += cpu ?? 0;
  const mark = failed > 0 ? "FAIL" : "ok  ";
  const count = failed > 0 ? `${failed} of ${passed + failed} failed` : `${passed} tests`;
  const worked = cpu === undefined ? "" : `, ${cpu.toFixed(0)} s of processors`;
  console.log(`${mark} ${name.padEnd(16)} ${count.padEnd(22)} ${seconds.toFixed(1)} s${worked}`);
  for (const note of notes) console.log(indented(note));
  if (failed === 0) return;
  for (const failure of failures) console.log(indented(failure));
  const log = logOf(name);
  if (log) console.log(`---- ${name}: its whole output\n${log}\n---- end of ${name}`);
  const tail = log?.split("\n").slice(-TAIL).join("\n") ?? "";
  repeated.push(
    `FAIL ${name}\n${indented(failures.join("\n"))}\n     the end of its output:`,
    indented(tail),
  );
}

function indented(text) {
  return text.replace(/^/gm, "       ");
}

function logOf(name) {
  try {
    return readFileSync(results(`${name}.log`), "utf8").trimEnd();
  } catch {
    return undefined;
  }
}
