// What a page downloads for what it imports, by three bundlers, and that the bundles run.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { measured, PROGRAMS, stranger, table } from "./measure.mjs";

let place;
let rows;

before(async () => {
  place = await stranger();
  rows = await measured(place.project);
  console.log(table(rows));
});

after(() => place?.remove());

/** Runs a bundle as a script of a host without files. */
function saidBy(code) {
  const done = spawnSync(process.execPath, ["--input-type=module", "-"], {
    input: `${code}\n;console.log(await globalThis.done);`,
    encoding: "utf8",
  });
  assert.equal(done.status, 0, done.stderr);
  return done.stdout.trim();
}

for (const [which, { name, limit, says }] of PROGRAMS.entries()) {
  describe(name, () => {
    for (const [at, bundler] of ["esbuild", "vite", "webpack"].entries()) {
      const row = () => rows[which * 3 + at];
      test(`bundled by ${bundler} it runs, without a warning`, () => {
        assert.deepEqual(row().warnings, []);
        const said = saidBy(row().code);
        if (says instanceof RegExp) assert.match(said, says);
        else assert.equal(said, says);
      });

      test(`bundled by ${bundler} it is within ${limit} KiB after gzip`, () => {
        const { gzip } = row();
        // A build for development is neither cut nor optimised.
        const most = process.env.KITBAG_DEV_BUILD === "1" ? Number.POSITIVE_INFINITY : limit * 1024;
        assert.ok(gzip <= most, `${(gzip / 1024).toFixed(1)} KiB`);
      });
    }
  });
}
