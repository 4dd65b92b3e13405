// The cases as tests of Bun and Deno, with a declared deviation. `node:test` is in
// `deviations.test.mjs`; Vitest and Jest take the same arguments as Bun.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { run } from "../../scripts/lib/exec.mjs";
import { at } from "../../scripts/lib/paths.mjs";

const file = (name) => JSON.stringify(pathToFileURL(at("pkg/dist", name)).href);

/** A test file; the backend overwrites, and says so. */
const source = (head, test, allow) => `
  ${head}
  import { conformanceTests } from ${file("conformance.js")};
  import { StateBackend } from ${file("node.js")};
  conformanceTests(${test}, () => new StateBackend({ writeMode: "overwrite" }), {
    only: ["create is refused", "an existing empty file", "overwrite replaces"],
    allow: ${JSON.stringify(allow)},
  });
`;

const FRAMEWORKS = {
  Bun: ["bun", ["test"], 'import { test } from "bun:test";', "test"],
  Deno: ["deno", ["test", "-A", "--no-check"], "", "Deno.test"],
};

for (const [name, [program, args, head, test_]] of Object.entries(FRAMEWORKS)) {
  test(`${name} runs the cases, and passes only with the deviation declared`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "kitbag-framework-"));
    const path = join(folder, "backend.test.mjs");
    const bin = at("tests/deps/runtimes/node_modules/.bin", program);
    const tried = async (allow) => {
      writeFileSync(path, source(head, test_, allow));
      return run(bin, [...args, path], { cwd: folder });
    };
    try {
      const declared = await tried(["create-only-write"]);
      assert.equal(declared.code, 0, declared.output);
      assert.match(declared.output, /deviation: create-only-write/);
      const silent = await tried([]);
      assert.notEqual(silent.code, 0);
      assert.match(silent.output, /3 fail/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
