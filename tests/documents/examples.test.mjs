// The examples of the documents, compiled under `strict` and run against the packed package, with
// both versions of deepagents.

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { at } from "../../scripts/lib/paths.mjs";
import { compiled, makeProject } from "./project.mjs";

const FILES = ["examples.ts", "model.ts"].map((file) => at("tests/documents", file));
let counted = 0;

for (const [version, name] of [
  ["latest", "1.14.1"],
  ["older", "1.10.7"],
]) {
  const project = await makeProject(version);
  const { code, output } = await compiled(project, {}, ...FILES);
  describe(`beside deepagents ${name}`, async () => {
    test("the examples compile under strict", () => assert.equal(code, 0, output));

    const { examples } = await import(pathToFileURL(join(project, "examples.js")).href);
    for (const [title, run] of Object.entries(examples)) test(title, run);
    counted = Object.keys(examples).length;
  });
}

test("every document has its examples", () => {
  console.log(`# ${counted} examples of 5 documents`);
  assert.ok(counted >= 70, `${counted}`);
});
