// Declared deviations of kitbag/conformance, and its cases as tests of a framework.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  conformanceDeviations,
  conformanceTests,
  runConformance,
} from "../../pkg/dist/conformance.js";
import { StateBackend } from "../lib/kitbag.mjs";
import { tables, written } from "./table.mjs";

const overwriting = () => new StateBackend({ writeMode: "overwrite" });
const only = ["create is refused", "an existing empty file", "overwrite replaces"];

test("an undeclared deviation is a failure, and a declared one is reported", async () => {
  const strict = await runConformance(overwriting, { only });
  assert.equal(strict.failed, 3);
  assert.deepEqual(strict.deviations, []);
  const declared = await runConformance(overwriting, { only, allow: ["create-only-write"] });
  assert.deepEqual(declared.failures, []);
  assert.equal(declared.deviations.length, 3);
  for (const told of declared.deviations) assert.match(told, /^create-only-write: .+: /);
  assert.equal(declared.passed, strict.passed);
});

test("a single case has a name, too", async () => {
  const allow = ["create-is-refused-for-the-same-content-too"];
  const report = await runConformance(overwriting, { only, allow });
  assert.equal(report.failed, 2);
  assert.equal(report.deviations.length, 1);
});

test("a declared deviation that does not show is a failure", async () => {
  const make = ({ writeMode }) => new StateBackend({ writeMode });
  const report = await runConformance(make, { only, allow: ["create-only-write"] });
  assert.equal(report.failed, 1);
  assert.match(report.failures[0], /create-only-write is declared .* take the name out/);
});

test("an unknown name is refused, with those that there are", async () => {
  const run = runConformance(overwriting, { allow: ["nonsense"] });
  await assert.rejects(run, /no deviation "nonsense". There are: .*create-only-write/);
});

test("every name stands for cases", () => {
  const all = Object.entries(conformanceDeviations());
  assert.ok(all.length >= 140);
  for (const [name, cases] of all) {
    assert.match(name, /^[\p{L}\p{N}]+(-[\p{L}\p{N}]+)*$/u);
    for (const one of cases) assert.ok(conformanceDeviations()[name].includes(one));
  }
});

/** A framework that runs its tests one after another, and keeps what they threw. */
async function framework(make, options) {
  const tests = [];
  conformanceTests((name, run, timeout) => tests.push({ name, run, timeout }), make, options);
  const failed = {};
  for (const { name, run } of tests) {
    await run().catch((error) => {
      failed[name] = error.message;
    });
  }
  return { tests, failed };
}

test("each case is a test of the framework, with a time limit above its own", async () => {
  const { tests, failed } = await framework(overwriting, { only, timeoutMs: 5_000 });
  assert.equal(Object.keys(failed).length, 3);
  assert.ok(tests.length > 4);
  for (const { timeout } of tests) assert.ok(timeout > 5_000);
});

test("declared deviations hold in a framework, too", async () => {
  const declared = await framework(overwriting, { only, allow: ["create-only-write"] });
  assert.deepEqual(declared.failed, {});
  const make = ({ writeMode }) => new StateBackend({ writeMode });
  const { failed } = await framework(make, { only, allow: ["create-only-write"] });
  assert.deepEqual(Object.keys(failed), ["conformance: declared deviations"]);
});

describe("in node:test", () => {
  conformanceTests(test, ({ writeMode }) => new StateBackend({ writeMode }), { only: ["write"] });
});

test("departures.md says where other libraries depart now", async () => {
  // A search of deepagents' FilesystemBackend was seen to depart once more on a busy machine, so a difference
  // counts when it is seen three times.
  let now = await tables();
  for (let again = 0; again < 2 && now !== written(); again++) now = await tables();
  assert.equal(now, written(), "run `npm run conformance`");
});
