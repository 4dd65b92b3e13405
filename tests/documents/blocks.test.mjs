// The blocks of the documents as they stand there, in `blocks.md`: each compiles under `strict`, and
// what it makes is used, beside both versions of deepagents.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { at } from "../../scripts/lib/paths.mjs";
import { uses } from "./blocks.mjs";
import { compiled, makeProject } from "./project.mjs";

const BLOCK = /^## (.+)\n\n```ts\n([\s\S]*?)```$/gm;
const source = readFileSync(at("tests/documents/blocks.md"), "utf8");
const blocks = [...source.matchAll(BLOCK)].map(([, title, code]) => ({ title, code }));
const fileOf = (at) => `block-${at}.ts`;

/** A block as a module: `deepagents` is what stands for it, and what it makes is exported. */
function moduleOf({ title, code }) {
  const { makes = [], also = "" } = uses[title];
  const imported = code.replaceAll('from "deepagents"', 'from "./documented.js"');
  const whole = imported.replace(/^\s*\.\.\.$/gm, '    throw new Error("left out");');
  return `${whole}${also}\nexport { ${makes.join(", ")} };\n`;
}

test("each of the 20 blocks has a use", () => {
  assert.deepEqual(
    blocks.map(({ title }) => title),
    Object.keys(uses),
  );
  assert.equal(blocks.length, 20);
});

for (const [version, name] of [
  ["latest", "1.14.1"],
  ["older", "1.10.7"],
]) {
  const project = await makeProject(version, `blocks-${version}`);
  const sources = join(project, "sources");
  mkdirSync(sources);
  for (const file of ["documented.ts", "given.d.ts", "model.ts"]) {
    cpSync(at("tests/documents", file), join(sources, file));
  }
  blocks.forEach((block, at) => {
    writeFileSync(join(sources, fileOf(at)), moduleOf(block));
  });
  const files = [...blocks.map((_, at) => fileOf(at)), "documented.ts", "given.d.ts"];
  const { output } = await compiled(
    project,
    { rootDir: sources, noImplicitOverride: false, noUncheckedIndexedAccess: false },
    ...files.map((file) => join(sources, file)),
  );
  describe(`beside deepagents ${name}`, () => {
    for (const [at, { title }] of blocks.entries()) {
      const { use, error } = uses[title];
      test(`${title}: compiles under strict${error ? ", but for a type it leaves out" : ""}`, () => {
        const found = output.split("\n").filter((line) => line.includes(fileOf(at)));
        const codes = found.map((line) => line.replace(/^.*\): error (TS\d+: .*)$/, "$1"));
        assert.deepEqual(codes, error ? [error] : []);
      });
      const load = (file) => import(pathToFileURL(join(project, file.replace(".ts", ".js"))).href);
      test(`${title}: works`, async () => use(() => load(fileOf(at)), await load("documented.ts")));
    }
  });
}
