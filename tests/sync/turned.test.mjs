// Folders in which a directory became a file, or a file a directory: real directories are in the way of files.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { kitbag, sync } from "./lib.mjs";

const { FilesystemBackend, StateBackend } = kitbag;

/** Two folders that are in step, and a function that syncs them until nothing is left to do. */
async function folders(t, files) {
  const roots = ["a", "b"].map(() => mkdtempSync(join(tmpdir(), "kitbag-turned-")));
  t.after(() => {
    for (const root of roots) rmSync(root, { recursive: true });
  });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(roots[0], name, ".."), { recursive: true });
    writeFileSync(join(roots[0], name), text);
  }
  const keepIn = { backend: new StateBackend({ scope: "instance" }), path: "/s" };
  const settled = async () => {
    for (let run = 0; run < 4; run++) {
      const [a, b] = roots.map((rootDir) => new FilesystemBackend({ rootDir }));
      const { changed, refused, error } = await sync(a, b, { keepIn });
      assert.equal(error, undefined);
      if (changed.length === 0 && refused.length === 0) return;
    }
    assert.fail("it is not settled after four runs");
  };
  await settled();
  const read = (side, name) => readFileSync(join(roots[side], name), "utf8");
  return { roots, settled, read };
}

for (const same of [true, false]) {
  const how = same ? "with the same text" : "with another text";

  test(`a directory became a file ${how}`, async (t) => {
    const { roots, settled, read } = await folders(t, { "x/y/z": "1", "x/w": "2", k: "k" });
    rmSync(join(roots[1], "x"), { recursive: true });
    writeFileSync(join(roots[1], "x"), same ? "1" : "3");
    await settled();
    assert.equal(read(0, "x"), same ? "1" : "3");
  });

  test(`a file became a directory ${how}`, async (t) => {
    const { roots, settled, read } = await folders(t, { x: "1", k: "k" });
    rmSync(join(roots[1], "x"));
    mkdirSync(join(roots[1], "x/y"), { recursive: true });
    writeFileSync(join(roots[1], "x/y/z"), same ? "1" : "3");
    await settled();
    assert.equal(read(0, "x/y/z"), same ? "1" : "3");
  });
}

test("a conflict of files with the longest names is settled", async (t) => {
  const name = `${"語".repeat(84)}.md`;
  const { roots, settled, read } = await folders(t, { [name]: "one", k: "k" });
  writeFileSync(join(roots[0], name), "mine");
  writeFileSync(join(roots[1], name), "theirs");
  await settled();
  assert.equal(read(0, name), read(1, name));
});
