// S3Backend and R2Backend in workerd, by miniflare: R2 by its binding, S3 by fetch on Ceph.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { dist, LONGEST, NASTY, newBucket, root, servers, suiteHeld } from "./lib.mjs";
import { KEYS } from "./servers.mjs";

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
      ...["kitbag.wasm", "storages.wasm", "lent.wasm"].map((path) => ({
        type: "CompiledWasm",
        path,
        contents: readFileSync(join(dist, path)),
      })),
    ],
    r2Buckets: ["BUCKET"],
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

async function s3() {
  const bucket = await newBucket(servers.ceph);
  return { endpoint: servers.ceph, region: "us-east-1", bucket, credentials: KEYS };
}

for (const [name, where] of [
  ["R2", async () => undefined],
  ["S3", s3],
]) {
  test(`${name} in workerd: the shared suite holds`, async () => {
    suiteHeld(...(await ask({ what: "suite", s3: await where(), keys: LONGEST })));
  });

  test(`${name} in workerd: of eight clients' fifty edits each, all four hundred arrive`, async () => {
    assert.equal(await ask({ what: "edits", s3: await where() }), 401);
  });

  test(`${name} in workerd: of sixteen creates one wins`, async () => {
    assert.equal(await ask({ what: "creates", s3: await where() }), 1);
  });

  test(`${name} in workerd: nasty keys round-trip`, async () => {
    // The binding's own prefix takes a few of the thousand bytes.
    const keys = NASTY.filter((key) => key.length < 900);
    const answer = await ask({ what: "names", s3: await where(), keys });
    assert.deepEqual(answer, { wrong: [], listed: keys.length });
  });
}

test("R2 in workerd: listings page past a thousand, and directories go in batches", async () => {
  const answer = await ask({ what: "many" });
  assert.deepEqual(answer, { uploaded: 1203, listed: 1203, left: 0 });
});
