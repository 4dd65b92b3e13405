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

const blocks = [
  ...readFileSync(at("docs/component.md"), "utf8").matchAll(/^```mjs\n([\s\S]*?)^```$/gm),
].map(([, code]) => code);

test("every block prints what its comments say", async () => {
  assert.equal(blocks.length, 1);
  cpSync(cache("component/jco"), join(folder, "kitbag"), { recursive: true });
  for (const [number, code] of blocks.entries()) {
    const wanted = [...code.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
    assert.ok(wanted.length > 0);
    const file = join(folder, `block${number}.mjs`);
    writeFileSync(file, code);
    const printed = await must(process.execPath, [file], { cwd: folder });
    assert.deepEqual(printed.trim().split("\n"), wanted);
  }
});
