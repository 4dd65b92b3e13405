// A production build of Nitro, moved to a folder of its own and asked. Nuxt, TanStack Start, SolidStart and
// Analog build their servers with it. It leaves `import … from "kitbag"` as it is and copies the files.

import assert from "node:assert/strict";
import { cpSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { must } from "../../scripts/lib/exec.mjs";
import { at } from "../../scripts/lib/paths.mjs";
import { packedProject } from "../lib/packed.mjs";
import { freePort, withServer } from "../stacks/lib.mjs";
import { NITRO_ANSWERS, nitroFiles } from "../stacks/templates.mjs";

const CLI = at("tests/deps/servers/node_modules/nitropack/dist/cli/index.mjs");

let project;
let elsewhere;
before(async () => {
  project = await packedProject({ set: "servers", files: nitroFiles() });
  cpSync(at("tests/stacks/programs"), project.root, { recursive: true });
  const output = await must(process.execPath, [CLI, "build"], { cwd: project.root });
  assert.doesNotMatch(output, /warn|error/i);
  elsewhere = mkdtempSync(join(tmpdir(), "kitbag-nitro-"));
  const built = join(elsewhere, "output");
  try {
    renameSync(join(project.root, ".output"), built);
  } catch {
    cpSync(join(project.root, ".output"), built, { recursive: true });
  }
});
after(() => {
  project?.remove();
  if (elsewhere) rmSync(elsewhere, { recursive: true, force: true });
});

test("its routes answer, with kitbag and with subpaths", async () => {
  const port = await freePort();
  const env = { PORT: String(port), HOST: "127.0.0.1" };
  const args = [join(elsewhere, "output/server/index.mjs")];
  await withServer({ cwd: elsewhere, args, port, env }, async (origin) => {
    for (const [path, text] of Object.entries(NITRO_ANSWERS)) {
      const answer = await fetch(origin + path);
      assert.equal(answer.status, 200, path);
      assert.equal((await answer.json()).text, text, path);
    }
  });
});

test("the server has the files that Node takes, once", () => {
  const dist = join(elsewhere, "output/server/node_modules/kitbag/dist");
  for (const name of ["node.js", "core.cjs", "history.js", "wasm/kitbag.wasm"]) {
    assert.ok(existsSync(join(dist, name)), name);
  }
  assert.deepEqual(
    readdirSync(dist).filter((name) => /^(workerd|edge|slim)/.test(name)),
    [],
  );
});
