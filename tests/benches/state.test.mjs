// The benchmark of `StateBackend`, in a short form: all of its rows in Node and in a page.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { measure } from "../../benches/state.mjs";
import { at } from "../../scripts/lib/paths.mjs";

test("every committed figure is measured, in Node and in Chromium, and its bound is printed", async () => {
  const said = [];
  const print = (line) => said.push(line);
  const figures = await measure({ most: [300, 2_000_000], effort: 0.05, print });
  const committed = JSON.parse(readFileSync(at("benches/ratios.json"), "utf8")).state;
  assert.deepEqual(Object.keys(figures).sort(), Object.keys(committed).sort());
  for (const [name, ratio] of Object.entries(figures)) assert.ok(ratio > 0, `${name}: ${ratio}`);
  const rows = said.join("\n").split("### What bounds them").slice(1);
  assert.equal(rows.length, 2);
  const bounded = ["no match", "two words", "some", "many", "in *.ts", "glob **/*.ts", "longer"];
  for (const table of rows) {
    for (const name of [...bounded, "write 1,000"]) assert.ok(table.includes(name), name);
    assert.doesNotMatch(table, /NaN|Infinity/);
  }
});
