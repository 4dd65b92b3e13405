// The task in every framework, in Node, over a tree of memory and a folder of the disk.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { FilesystemBackend } from "kitbag";
import { commonNames } from "../cases/tree.mjs";
import { drivers } from "../drivers/index.mjs";
import { run } from "../drivers/run.mjs";

const place = mkdtempSync(join(tmpdir(), "kitbag-task-"));
after(() => rmSync(place, { recursive: true, force: true }));

const left = {};

for (const [name, driver] of Object.entries(drivers)) {
  test(`${name}: every message of the task, and the files it leaves`, async () => {
    const mounted = new FilesystemBackend({ rootDir: join(place, name.replace(/\W+/g, "-")) });
    const { faults, files } = await run(driver, mounted);
    assert.deepEqual(faults, []);
    left[name] = commonNames(files);
  });
}

test("createAgent and createDeepAgent leave the same files", () => {
  const one = left["langchain, middleware"];
  const other = left.deepagents;
  assert.equal(Object.keys(one).length, 6);
  assert.deepEqual(Object.keys(one), Object.keys(other));
  for (const path of Object.keys(one)) assert.equal(one[path], other[path], path);
});
