// Chunks in Node, each loaded alone, in pairs and all together: the results of a class must not
// depend on what else is loaded.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, describe, test } from "node:test";
import { runConformance } from "../../pkg/dist/conformance.js";
import { at } from "../../scripts/lib/paths.mjs";
import { alone, LIMIT, pair, together } from "./run.mjs";
import { services } from "./services.mjs";
import { names } from "./subjects.mjs";

const require = createRequire(import.meta.url);
const core = at("pkg/dist/core.cjs");

/** The package with a new instance, in which no chunk is loaded. */
function fresh() {
  delete require.cache[core];
  return require(core);
}

const offered = services();
after(() => offered.stop());
const host = { ...offered, disk: true, runConformance };

const passed = (...reports) =>
  assert.deepEqual(
    reports.flatMap(({ failures }) => failures),
    [],
  );

test("every chunk of the crate is here", () => {
  const { chunkNames } = require(at(".cache/pkg-testing/dist/core.cjs"));
  assert.deepEqual(names, [...chunkNames].sort());
});

describe("alone", () => {
  for (const name of names) {
    test(`${name}: the whole suite`, LIMIT, async () =>
      passed(await alone(name, fresh(), host, { only: undefined })),
    );
  }
});

describe("in pairs", () => {
  for (const [first, one] of names.entries()) {
    for (const other of names.slice(first + 1)) {
      test(`${one} and ${other}: cases of every operation`, LIMIT, async () =>
        passed(...(await pair(one, other, fresh(), host))),
      );
    }
  }
});

describe("all together", () => {
  for (const [how, order] of [
    ["in order", names],
    ["in reverse order", [...names].reverse()],
  ]) {
    test(`loaded ${how}: the whole suite`, LIMIT, async () =>
      passed(...(await together(fresh(), host, order))),
    );
  }
});
