// Every engine of docs/limits.md gets its worst input of a megabyte, and answers or refuses within a
// second of work.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { slow } from "../lib/work.mjs";
import { ENGINES } from "./engines.mjs";
import { MODULES } from "./places.mjs";

const at = (path) => new URL(`../../${path}`, import.meta.url);
const docs = readFileSync(at("docs/limits.md"), "utf8");
const section = docs.split("## Engines")[1]?.split("\n## ")[0] ?? "";

/** The names of the rows. */
const names = [...section.matchAll(/^\| (.+) \|$/gm)]
  .map(([, line]) => line.split(" | "))
  .filter((cells) => cells.length === 3 && cells[0] !== "engine")
  .map(([name]) => name);

/** Seconds of work of one call. */
const MOST = 1;

test("every engine of the table has a module and a test", () => {
  assert.ok(names.length >= 12, `${names.length}`);
  assert.deepEqual(names, Object.keys(MODULES), "places.mjs says where they are");
  for (const [name, { source, test: shown }] of Object.entries(MODULES)) {
    assert.ok(existsSync(at(source)), source);
    if (shown === undefined) {
      assert.ok(ENGINES[name], `${name} has a test here`);
      continue;
    }
    const [path, title] = shown.split(" › ");
    assert.ok(readFileSync(at(path), "utf8").includes(title), `${path} has no "${title}"`);
  }
  for (const name of Object.keys(ENGINES))
    assert.ok(names.includes(name), `${name} is in the table`);
});

for (const [engine, prepare] of Object.entries(ENGINES)) {
  test(`${engine}: the worst megabyte takes at most ${MOST} s of work`, async () => {
    assert.deepEqual(await slow(await prepare(), MOST, engine), []);
  });
}
