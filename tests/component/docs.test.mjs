// The blocks of docs/component.md run as they are, beside what jco has written.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { must } from "../../scripts/lib/exec.mjs";
import { at, cache } from "../../scripts/lib/paths.mjs";
import "./load.mjs";

const folder = mkdtempSync(join(tmpdir(), "kitbag-component-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const PAGE = readFileSync(at("docs/component.md"), "utf8");
const blocksOf = (text, language) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    ([, code]) => code,
  );
// The second one is a part of the example.
const [block, part, ...others] = blocksOf(PAGE, "mjs");

test("the block prints what its comments say", async () => {
  cpSync(cache("component/jco"), join(folder, "kitbag"), { recursive: true });
  const wanted = [...block.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
  assert.ok(wanted.length > 0);
  const file = join(folder, "block.mjs");
  writeFileSync(file, block);
  const printed = await must(process.execPath, [file], { cwd: folder });
  assert.deepEqual(printed.trim().split("\n"), wanted);
});

test("commands and code of the edge are those of the example, which edge.test.mjs asks", () => {
  const example = (name) => readFileSync(at("examples/edge", name), "utf8");
  assert.deepEqual(others, []);
  assert.ok(example("app.js").includes(part), part);
  const [, commands] = blocksOf(PAGE, "sh");
  assert.ok(example("README.md").includes(commands), commands);
  const { scripts } = JSON.parse(example("package.json"));
  for (const [, name = "start"] of commands.matchAll(/^npm (?:run (\w+)|start)/gm)) {
    assert.ok(scripts[name], name);
  }
});
