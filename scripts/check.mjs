// `npm run check`, which `.ci/run` runs before `npm test`: lint. On a new machine most of what the suites
// need comes from the network or takes a compiler minutes, so it is provided beside the lint; what is
// left then, beside the suites.

import { run } from "./lib/exec.mjs";
import { at } from "./lib/paths.mjs";
import { BUILT, TOOLS } from "./lib/prepare.mjs";
import { loadSuite, suiteNames } from "./lib/suites.mjs";
import { ensure, ensurePrograms } from "./setup.mjs";

let linted = false;

/** Provides these things one after another, and begins with none once the lint is over. */
async function provide(needs) {
  for (const need of needs) {
    if (linted) return;
    // What fails is tried again for the suites, which then say why.
    await ensure(need).catch(() => {});
  }
}

// Suites import packages, and what could not be imported once cannot be imported later.
await ensure("npm").catch(() => {});
const suites = await Promise.all(suiteNames().map((name) => loadSuite(name).catch(() => {})));
const asked = suites.filter((suite) => suite && !suite.onRequest);
const needed = [...new Set(asked.flatMap(({ needs }) => needs))];
const tools = needed.filter((need) => TOOLS.has(need));
// What is built of the sources is built when the lint has passed.
const installed = needed.filter((need) => !TOOLS.has(need) && !BUILT.has(need));

const lanes = [
  ensurePrograms(needed)
    .catch(() => {})
    .then(() => provide(installed)),
  provide(tools),
];
const { code } = await run(process.execPath, [at("scripts/lint.mjs")], { show: true });
linted = true;
// What has begun is not broken off.
if (code === 0) await Promise.all(lanes);
process.exit(code);
