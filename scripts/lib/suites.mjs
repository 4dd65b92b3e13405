// Suites: where they stand, what they say of themselves, and what counts as a result.

import { readdirSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { at } from "./paths.mjs";

const directory = at("tests/suites");

/** The names of all suites, in order. */
export function suiteNames() {
  return readdirSync(directory)
    .filter((file) => file.endsWith(".mjs"))
    .map((file) => file.slice(0, -4))
    .sort();
}

/**
 * A suite by name. Its module's default export:
 *
 * - `about`: one line for `--list`;
 * - `needs`: what `setup.mjs` must make sure of first;
 * - `uses`: resources it shares with nobody while it runs, such as "cargo";
 * - `alone`: nothing else runs beside it, since it measures;
 * - `minutes`: after so long it is ended and has failed (10 unless said otherwise);
 * - `run(ctx)`: gives `{ passed, failed, failures }`;
 * - `soak(ctx)`: likewise, the long loops of `npm run soak`.
 */
export async function loadSuite(name) {
  const { default: suite } = await import(pathToFileURL(`${directory}/${name}.mjs`).href);
  if (typeof suite?.run !== "function" && typeof suite?.soak !== "function") {
    throw new Error(`tests/suites/${name}.mjs exports neither run() nor soak()`);
  }
  return { needs: [], uses: [], alone: false, minutes: 10, about: "", ...suite, name };
}

/** A result as the runner counts it; anything that is none counts as one failure. */
export function counted(result) {
  const whole = (n) => Number.isSafeInteger(n) && n >= 0;
  const { passed, failed, failures = [] } = result ?? {};
  if (!whole(passed) || !whole(failed) || !Array.isArray(failures)) {
    return { passed: 0, failed: 1, failures: ["the suite gave no result"] };
  }
  if (passed + failed === 0) return { passed: 0, failed: 1, failures: ["the suite ran no test"] };
  return { passed, failed, failures: failures.map(String) };
}
