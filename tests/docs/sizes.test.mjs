// The sizes that the documentation states are those of the package.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { documented, IMPORTS, rows } from "./sizes.mjs";

/** By which part a figure may be out of date. `node tests/docs/sizes.mjs --write` measures again. */
const OFF = 0.05;
const quick = process.env.KITBAG_DEV_BUILD === "1";

let measured;
before(async () => {
  measured = await rows();
});

test("the table has a row for each import, and one for everything", () => {
  assert.equal(documented().size, IMPORTS.length + 1);
  assert.deepEqual(
    [...documented().keys()],
    measured.map(({ label }) => label),
  );
});

for (const [which, names] of [...IMPORTS, ["everything"]].entries()) {
  test(`the size of ${names.join(", ")} is about what docs/sizes.md says`, () => {
    const { label, gzip } = measured[which];
    const stated = documented().get(label);
    // A build for development is neither cut nor optimised.
    const most = quick ? Number.POSITIVE_INFINITY : OFF * stated;
    assert.ok(Math.abs(gzip / 1024 - stated) < most, `${(gzip / 1024).toFixed(1)}, not ${stated}`);
  });
}
