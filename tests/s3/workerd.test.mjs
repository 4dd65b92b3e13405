// S3Backend and R2Backend in workerd, by miniflare: R2 by its binding, S3 by fetch.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { dist, location, root, servers } from "./lib.mjs";
import { held } from "./work.mjs";

let worker;
let folder;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "kb-worker-"));
  await build({
    entryPoints: [join(root, "tests/s3/worker.mjs")],
    outdir: folder,
    bundle: true,
    format: "esm",
    logLevel: "error",
    loader: { ".wasm": "copy" },
    assetNames: "[name]",
    alias: {
      "kitbag-under-test": `${dist}/workerd.js`,
      "kitbag-under-test/conformance": `${dist}/conformance.js`,
    },
  });
  worker = new Miniflare({
    compatibilityDate: "2026-04-01",
    modules: [
      { type: "ESModule", path: "worker.js", contents: readFileSync(join(folder, "worker.js")) },
      ...readdirSync(folder)
        .filter((path) => path.endsWith(".wasm"))
        .map((path) => ({
          type: "CompiledWasm",
          path,
          contents: readFileSync(join(folder, path)),
        })),
    ],
    r2Buckets: ["suite", "edits", "creates", "names", "many", "pages", "uploads"],
  });
  await worker.ready;
});

after(async () => {
  await worker?.dispose();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(question) {
  const response = await worker.dispatchFetch("http://worker/", {
    method: "POST",
    body: JSON.stringify(question),
  });
  const answer = await response.json();
  assert.equal(answer.threw, undefined);
  return answer;
}

for (const [name, where] of [
  ["R2", async () => undefined],
  ...Object.entries(servers).map(([name, endpoint]) => [`S3 on ${name}`, () => location(endpoint)]),
]) {
  for (const what of ["suite", "edits", "creates", "names", "many", "uploads"]) {
    test(`${name} in workerd: ${what}`, async () => {
      held(assert, what, await ask({ what, s3: await where() }));
    });
  }
}

test("R2 in workerd: pages", async () => {
  held(assert, "pages", await ask({ what: "pages" }));
});
