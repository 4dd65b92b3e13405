// Every engine of docs/limits.md gets its worst input of a megabyte, and answers or refuses within a
// second of work.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { slow } from "../lib/work.mjs";
import { ENGINES } from "./engines.mjs";

const at = (path) => new URL(`../../${path}`, import.meta.url);
const docs = readFileSync(at("docs/limits.md"), "utf8");
const section = docs.split("## Engines")[1]?.split("\n## ")[0] ?? "";

/** Rows: name, source, bound, pauses, test. */
const rows = [...section.matchAll(/^\| (.+) \|$/gm)]
  .map(([, line]) => line.split(" | ").map((cell) => cell.replaceAll("`", "")))
  .filter(([, source]) => /^(src|ts)\//.test(source));

/** Seconds of work of one call. */
const MOST = 1;

test("the table names engines, their sources and their tests", () => {
  assert.ok(rows.length >= 12, `${rows.length}`);
  for (const [name, source, , , shown] of rows) {
    for (const path of source.split(", ")) assert.ok(existsSync(at(path)), path);
    if (shown === "tests/limits") {
      assert.ok(ENGINES[name], `${name} has a test here`);
      continue;
    }
    const [path, title] = shown.split(" › ");
    assert.ok(readFileSync(at(path), "utf8").includes(title), `${path} has no "${title}"`);
  }
  const names = rows.map(([name]) => name);
  for (const name of Object.keys(ENGINES))
    assert.ok(names.includes(name), `${name} is in the table`);
});

for (const [engine, prepare] of Object.entries(ENGINES)) {
  test(`${engine}: the worst megabyte takes at most ${MOST} s of work`, async () => {
    assert.deepEqual(await slow(await prepare(), MOST, engine), []);
  });
}
