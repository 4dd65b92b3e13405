// Every engine of docs/limits.md gets its worst input of a megabyte, and answers or refuses within a
// second of work. The time of the processor is measured, because the machine may be busy with others;
// what they take from its caches is measured too, by a loop whose time is known.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
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
/** Seconds that the loop takes on an idle machine. */
const LOOP = 0.015;

const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** How many times slower than an idle machine this one is now. */
function slowness() {
  const table = new Uint32Array(1 << 20);
  const before = cpu();
  let at = 1;
  for (let n = 0; n < 5_000_000; n++) {
    at = (Math.imul(at, 1_664_525) + 1_013_904_223) >>> 0;
    table[at >>> 12] += 1;
  }
  return Math.max(1, (cpu() - before) / LOOP);
}

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
    const slow = [];
    for (const [name, call] of Object.entries(prepare())) {
      const times = slowness();
      const before = cpu();
      await call();
      const seconds = (cpu() - before) / Math.max(times, slowness());
      if (process.env.KITBAG_SHOW) console.log(`${engine}: ${name}: ${seconds.toFixed(3)} s`);
      if (seconds > MOST) slow.push(`${name}: ${seconds.toFixed(2)} s`);
    }
    assert.deepEqual(slow, []);
  });
}
