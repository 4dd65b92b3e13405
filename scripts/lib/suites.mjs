// Suites: where they are, the properties they declare, and what counts as a result.

import { readdirSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { at } from "./paths.mjs";

const ENDING = ".suite.mjs";

/** The files of all suites by name: `tests/SUBJECT/NAME.suite.mjs`. */
const files = new Map(
  readdirSync(at("tests"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: subject }) =>
      readdirSync(at("tests", subject))
        .filter((file) => file.endsWith(ENDING))
        .map((file) => [file.slice(0, -ENDING.length), `tests/${subject}/${file}`]),
    ),
);

/** The names of all suites, sorted. */
export function suiteNames() {
  return [...files.keys()].sort();
}

/**
 * Loads a suite by name. Its module's default export:
 *
 * - `about`: one line for `--list`;
 * - `needs`: what `setup.mjs` must install or build first;
 * - `uses`: resources that no other suite may use at the same time, such as "cargo";
 * - `alone`: no other suite runs at the same time, because this one measures;
 * - `onRequest`: runs only if it is named;
 * - `seconds`: about how long it takes, as the longest suites start first (default 30);
 * - `minutes`: time limit, after which it has failed (default 10); time for which it was ready to run
 *   and others had the processors does not count;
 * - `run(ctx)`: returns `{ passed, failed, failures, notes? }`; notes are printed in any case;
 * - `soak(ctx)`: likewise, the long loops of `npm run soak`.
 */
export async function loadSuite(name) {
  const { default: suite } = await import(pathToFileURL(at(files.get(name))).href);
  if (typeof suite?.run !== "function" && typeof suite?.soak !== "function") {
    throw new Error(`${files.get(name)} exports neither run() nor soak()`);
  }
  return { needs: [], uses: [], alone: false, seconds: 30, minutes: 10, about: "", ...suite, name };
}

/** Validates a result; an invalid one counts as one failure. */
export function counted(result) {
  const whole = (n) => Number.isSafeInteger(n) && n >= 0;
  const { passed, failed, failures = [], notes = [], cpu } = result ?? {};
  const none = (why) => ({ passed: 0, failed: 1, failures: [why], notes: [] });
  if (!whole(passed) || !whole(failed) || !Array.isArray(failures)) {
    return none("the suite gave no result");
  }
  if (passed + failed === 0) return none("the suite ran no test");
  return { passed, failed, failures: failures.map(String), notes: notes.map(String), cpu };
}
