// The conformance suite through `HttpBackend` in Deno, Bun and workerd, over one server in Node; in browsers
// the suite browser-conformance does it.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { promisify } from "node:util";
import { at } from "../../scripts/lib/paths.mjs";
import { workerModules } from "../lib/bundle.mjs";
import { startWorker } from "../lib/workerd.mjs";
import * as reach from "../reach/lib.mjs";
import { KEYS, makeBucket, startMoto } from "../s3/servers.mjs";
import { conform } from "./client.mjs";
import { memory, serving, whole } from "./lib.mjs";

/** Fewer cases mean that the suite did not look. */
const LEAST = whole ? 100 : 15;

let server;
before(async () => {
  server = await serving(memory);
});
after(() => server?.close());

function passes({ passed, failures }) {
  assert.deepEqual(failures, []);
  assert.ok(passed >= LEAST, `only ${passed} cases ran`);
}

for (const [name, args] of [
  ["deno", ["run", "-A"]],
  ["bun", ["run"]],
]) {
  test(`in ${name}`, async () => {
    const program = at(join("tests/deps/runtimes/node_modules/.bin", name));
    const asked = JSON.stringify({ url: server.files, host: name, whole });
    const script = at("tests/clients/runtime.mjs");
    const { stdout } = await promisify(execFile)(program, [...args, script, at("pkg"), asked]);
    passes(JSON.parse(stdout.trim().split("\n").at(-1)));
  });
}

test("in workerd", async () => {
  const source = `
    import * as kitbag from "./dist/workerd.js";
    import { runConformance } from "./dist/conformance.js";
    import { conform } from "${at("tests/clients/client.mjs")}";
    export default {
      async fetch(request) {
        return Response.json(await conform({ ...kitbag, runConformance }, await request.json()));
      },
    };
  `;
  const worker = await startWorker(await workerModules(source, at("pkg")));
  try {
    const body = JSON.stringify({ url: server.files, host: "workerd", whole });
    passes(JSON.parse((await worker.fetch("/", { method: "POST", body })).text));
  } finally {
    await worker.stop();
  }
});

test("over a bucket", async () => {
  const moto = await startMoto();
  let behind;
  try {
    const bucket = `files-${process.pid}`;
    await makeBucket(moto.endpoint, bucket);
    behind = await serving((writeMode, name) => {
      const where = { endpoint: moto.endpoint, region: "us-east-1", bucket, credentials: KEYS };
      return new reach.S3Backend({ ...where, prefix: name, writeMode });
    });
    const { runConformance } = await import("../../pkg/dist/conformance.js");
    const except = { "a path of 1,024 bytes is the longest": "the key has a prefix" };
    const asked = { url: behind.files, host: "node", whole, except };
    passes(await conform({ ...reach, runConformance }, asked));
  } finally {
    await behind?.close();
    await moto.stop();
  }
});
