// Suites: where they are, the properties they declare, and what counts as a result.

import { readdirSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { at } from "./paths.mjs";

const directory = at("tests/suites");

/** The names of all suites, sorted. */
export function suiteNames() {
  return readdirSync(directory)
    .filter((file) => file.endsWith(".mjs"))
    .map((file) => file.slice(0, -4))
    .sort();
}

/**
 * Loads a suite by name. Its module's default export:
 *
 * - `about`: one line for `--list`;
 * - `needs`: what `setup.mjs` must install or build first;
 * - `uses`: resources that no other suite may use at the same time, such as "cargo";
 * - `alone`: no other suite runs at the same time, because this one measures;
 * - `onRequest`: runs only if it is named;
 * - `minutes`: time limit, after which it has failed (default 10);
 * - `run(ctx)`: returns `{ passed, failed, failures }`;
 * - `soak(ctx)`: likewise, the long loops of `npm run soak`.
 */
export async function loadSuite(name) {
  const { default: suite } = await import(pathToFileURL(`${directory}/${name}.mjs`).href);
  if (typeof suite?.run !== "function" && typeof suite?.soak !== "function") {
    throw new Error(`tests/suites/${name}.mjs exports neither run() nor soak()`);
  }
  return { needs: [], uses: [], alone: false, minutes: 10, about: "", ...suite, name };
}

/** Validates a result; an invalid one counts as one failure. */
export function counted(result) {
  const whole = (n) => Number.isSafeInteger(n) && n >= 0;
  const { passed, failed, failures = [] } = result ?? {};
  if (!whole(passed) || !whole(failed) || !Array.isArray(failures)) {
    return { passed: 0, failed: 1, failures: ["the suite gave no result"] };
  }
  if (passed + failed === 0) return { passed: 0, failed: 1, failures: ["the suite ran no test"] };
  return { passed, failed, failures: failures.map(String) };
}
