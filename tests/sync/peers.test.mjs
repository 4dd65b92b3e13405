// The same random histories for kitbag and for other ways to sync two trees: kitbag loses no edit, and the
// checker sees what the others lose. `node tests/sync/peers/run.mjs` prints the figures of docs/sync.md.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { cleared } from "./lib.mjs";
import { ofGit } from "./peers/git.mjs";
import { sums } from "./peers/table.mjs";
import { ofDrive, ofKitbag, ofLastWriter } from "./peers/ways.mjs";

after(cleared);

const COUNT = 60;
/** git takes a quarter of a second each. */
const OF_GIT = 12;

const rows = {};
for (const [name, open, count] of [
  ["kitbag", () => ofKitbag(), COUNT],
  ["kitbag that drops", () => ofKitbag({ onConflict: "b" }), COUNT],
  ["last writer", ofLastWriter, COUNT],
  ["drive", ofDrive, COUNT],
  ["git", () => ofGit(), OF_GIT],
  ["git -X ours", () => ofGit("-X", "ours"), OF_GIT],
]) {
  test(`${count} histories: ${name}`, async (t) => {
    rows[name] = await sums(open, count);
    t.diagnostic(JSON.stringify(rows[name]));
    assert.ok(rows[name].edits > 5 * count, "there are edits to lose");
  });
}

test("kitbag loses no edit, and asks less often than a rule of copies", () => {
  assert.equal(rows.kitbag.lost, 0);
  assert.ok(rows.kitbag.copies <= rows.drive.copies * 0.75, "texts are merged");
  assert.equal(rows.kitbag.copies, rows.kitbag.conflicts);
});

test("what kitbag is told to drop counts as lost", () => {
  assert.ok(rows["kitbag that drops"].lost > 0);
});

test("the others lose edits, or copy whole files", () => {
  assert.ok(rows["last writer"].lost >= COUNT);
  assert.equal(rows.drive.lost, 0);
  assert.ok(rows.git.lost > 0 && rows["git -X ours"].lost > rows.git.lost);
  assert.ok(rows.git.conflicts > rows["git -X ours"].conflicts);
});
