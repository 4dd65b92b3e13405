// Parses the output of other test runners: cargo, wasm-bindgen and node:test. A command that failed
// without naming a test counts as one failure.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "./exec.mjs";
import { at, cache } from "./paths.mjs";
import { REPORTING } from "./waiting.mjs";

/** The most lines of what a failed test printed; the smallest input of a property is among them. */
const MOST_LINES = 60;

export function judged(passed, failed, failures, { code, output, timedOut }, what) {
  if (timedOut) return { passed, failed: failed + 1, failures: [...failures, `${what} timed out`] };
  if (code !== 0 && failed === 0) {
    const tail = output.trimEnd().split("\n").slice(-30).join("\n");
    return { passed, failed: 1, failures: [`${what} ended with code ${code}:\n${tail}`] };
  }
  return { passed, failed, failures };
}

/** Parses the output of `cargo test` and of wasm-bindgen's runner. */
export function parseCargo(output) {
  let passed = 0;
  let failed = 0;
  // Ignored tests count as failed.
  let skipped = 0;
  for (const line of output.matchAll(
    /^test result: .*?(\d+) passed; (\d+) failed; (\d+) ignored/gm,
  )) {
    passed += Number(line[1]);
    failed += Number(line[2]);
    skipped += Number(line[3]);
  }
  const failures = [...output.matchAll(/^test (.+?) \.\.\. FAIL(?:ED)?$/gm)].map(
    ([, name]) => `${name}${saidBy(name, output)}`,
  );
  if (skipped > 0) failures.push(`${skipped} ignored`);
  return { passed, failed: failed + skipped, failures };
}

/** What a failed test of Rust printed: its first lines, which say what was wrong. */
function saidBy(name, output) {
  const start = output.indexOf(`---- ${name} stdout ----\n`);
  if (start < 0) return "";
  const [said] = output.slice(start).split(/\nstack backtrace:|\n\n---- |\n\n\nfailures:/, 1);
  const lines = said.split("\n").slice(1).filter(Boolean).slice(0, MOST_LINES);
  return lines.map((line) => `\n  ${line}`).join("");
}

/** Runs `cargo test` and counts the results. */
export async function cargoTests(command, args, options) {
  const done = await run(command, args, { show: true, ...options });
  const { passed, failed, failures } = parseCargo(done.output);
  return judged(passed, failed, failures, done, [command, ...args].join(" "));
}

/** Parses the TAP output of node:test. Skipped and unfinished tests count as failed. */
export function parseTap(output) {
  const number = (name) => Number(new RegExp(`^# ${name} (\\d+)$`, "m").exec(output)?.[1] ?? 0);
  const unrun = number("skipped") + number("todo") + number("cancelled");
  const failures = [...output.matchAll(/^\s*not ok \d+ - (.*)$/gm)].map((m) => m[1]);
  return { passed: number("pass"), failed: number("fail") + unrun, failures };
}

/** A file with all tests of these, for one process, which imports once what they share. */
function joined(files) {
  const text = files.map((file) => `import ${JSON.stringify(at(file))};\n`).join("");
  const path = cache("joined", `${createHash("sha256").update(text).digest("hex")}.test.mjs`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/**
 * Runs files of node:test, each in a new process, by default one at a time, or all in one process (`together`);
 * `node` is the program.
 */
export async function nodeTests(
  files,
  { node = process.execPath, nodeArgs = [], concurrency = 1, together = false, ...options } = {},
) {
  const args = [
    ...nodeArgs,
    ...REPORTING,
    "--test",
    `--test-concurrency=${concurrency}`,
    "--test-reporter=tap",
    ...(together ? [joined(files)] : files),
  ];
  const done = await run(node, args, { show: true, ...options });
  const { passed, failed, failures } = parseTap(done.output);
  return judged(passed, failed, failures, done, `node --test ${files.join(" ")}`);
}

/** The `*.test.mjs` files of a folder of `tests/`. */
export function testFiles(folder) {
  return readdirSync(at("tests", folder))
    .filter((file) => file.endsWith(".test.mjs"))
    .sort()
    .map((file) => join("tests", folder, file));
}

/** Adds up several results. */
export function sum(results) {
  return results.reduce(
    (all, one) => ({
      passed: all.passed + one.passed,
      failed: all.failed + one.failed,
      failures: [...all.failures, ...(one.failures ?? [])],
    }),
    { passed: 0, failed: 0, failures: [] },
  );
}

/** Counts checks, for a suite that uses no test runner. */
export function checks() {
  const result = { passed: 0, failed: 0, failures: [] };
  return {
    result,
    /** Runs one check, which fails if it throws. */
    async check(name, body) {
      try {
        await body();
        result.passed += 1;
        console.log(`ok - ${name}`);
      } catch (error) {
        result.failed += 1;
        result.failures.push(`${name}: ${error?.message ?? error}`);
        console.log(`not ok - ${name}\n${error?.stack ?? error}`);
      }
    },
  };
}
