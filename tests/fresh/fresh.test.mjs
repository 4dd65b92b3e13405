// The first steps on a new machine; and for each folder of tests, that a suite in it installs the packages
// of `tests/deps` that its files use.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { promisify } from "node:util";
import { at } from "../../scripts/lib/paths.mjs";
import { loadSuite, suiteNames } from "../../scripts/lib/suites.mjs";

test("a new machine lists the suites, runs one that needs nothing, and installs the crates", async () => {
  const fresh = promisify(execFile)(process.execPath, [at("scripts/fresh.mjs"), "--short"]);
  const { stdout } = await fresh.catch((error) => error);
  assert.match(stdout, /the crates of all systems are there/);
});

/** The folders of `tests/deps`. */
const DEPS = readdirSync(at("tests/deps"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** The folders of packages that the files of a folder of tests name. */
function named(folder) {
  const files = readdirSync(at("tests", folder), { recursive: true }).filter(
    (name) => /\.mjs$/.test(name) && !name.includes("node_modules"),
  );
  const text = files.map((name) => readFileSync(at("tests", folder, name), "utf8")).join("\n");
  return DEPS.filter((name) => new RegExp(`deps/${name}\\b(?!-)`).test(text));
}

const suites = await Promise.all(suiteNames().map(async (name) => [name, await loadSuite(name)]));

/** What the suites of each folder install. */
const installed = new Map();
for (const file of readdirSync(at("tests"), { recursive: true })) {
  const [, folder, name] = /^([^/]+)\/([^/]+)\.suite\.mjs$/.exec(file) ?? [];
  if (!name) continue;
  const suite = suites.find(([one]) => one === name)?.[1];
  const all = installed.get(folder) ?? new Set();
  for (const need of suite?.needs ?? []) all.add(need);
  installed.set(folder, all);
}

test("there are suites and packages to compare", () => {
  assert.ok(installed.size > 30 && DEPS.length > 8, `${installed.size}, ${DEPS}`);
  assert.ok(named("fs").includes("fs"));
});

for (const [folder, needs] of installed) {
  test(`the suites in tests/${folder} install the packages that their files name`, () => {
    const missing = named(folder).filter((name) => !needs.has(`npm:${name}`));
    assert.deepEqual(missing, []);
  });
}
