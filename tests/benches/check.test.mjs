// `npm run bench -- --check --figures FILE` compares figures that `--save` has written, here made up
// ones, with those in `benches/ratios.json`.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { better, worse } from "../../benches/lib/check.mjs";
import { Table } from "../../benches/lib/compare.mjs";
import { at } from "../../scripts/lib/paths.mjs";

const folder = mkdtempSync(join(tmpdir(), "kitbag-benches-"));
after(() => rmSync(folder, { recursive: true }));
const committed = () => JSON.parse(readFileSync(at("benches/ratios.json"), "utf8"));
const row = "grep, no match";

function check(figures) {
  const file = join(folder, "figures.json");
  writeFileSync(file, JSON.stringify(figures));
  const flags = ["--check", "--figures", file];
  const { status, stdout, stderr } = spawnSync(process.execPath, ["scripts/bench.mjs", ...flags], {
    cwd: at(),
    encoding: "utf8",
  });
  return { status, said: stdout + stderr };
}

test("figures as committed pass, and so do better ones", () => {
  const same = check(committed());
  assert.equal(same.status, 0, same.said);
  const figures = committed();
  for (const name of Object.keys(figures.state)) figures.state[name] *= 3;
  assert.equal(check(figures).status, 0);
});

test("a figure that lost a little less than a quarter passes", () => {
  const figures = committed();
  figures.state[row] *= 0.76;
  assert.equal(check(figures).status, 0);
});

for (const name of Object.keys(committed().state)) {
  test(`a loss of a quarter fails: ${name}`, () => {
    const figures = committed();
    figures.state[name] *= 0.74;
    const { status, said } = check(figures);
    assert.equal(status, 1);
    assert.ok(said.includes(`${name}: `), said);
    assert.match(said, /1 figure has lost a quarter/);
  });
}

test("a row that is no longer measured fails, and so does a whole benchmark", () => {
  const figures = committed();
  delete figures.state[row];
  const { status, said } = check(figures);
  assert.equal(status, 1);
  assert.match(said, /grep, no match: not measured/);
  assert.equal(check({}).status, 1);
});

test("of two runs the better figure counts", () => {
  assert.deepEqual(better({ a: 1, b: 5 }, { a: 3, c: 2 }), { a: 3, b: 5, c: 2 });
});

test("of several files the worst figure is committed", () => {
  assert.deepEqual(worse({ a: 1, b: 5 }, { a: 3, c: 2 }), { a: 1, b: 5, c: 2 });
});

test("only ratios of contenders in one process are figures", () => {
  const table = new Table("other");
  table.add("grep, some: await (12)", { peer: 10, ours: 2 }, 3, 1);
  table.add("ls /a/b (4)", { peer: 6, ours: 2 }, 3);
  assert.deepEqual(table.figures(), { "grep, some": 5, ls: 3 });
});
