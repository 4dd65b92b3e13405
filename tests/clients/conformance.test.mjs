// The conformance suite through `HttpBackend` in Deno, Bun and workerd, over one server in Node, and in Node over
// R2 and D1 that workerd serves; in browsers the suite browser-conformance does it, over S3 `s3`.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { promisify } from "node:util";
import { at } from "../../scripts/lib/paths.mjs";
import { workerModules } from "../lib/bundle.mjs";
import { startWorker } from "../lib/workerd.mjs";
import * as reach from "../reach/lib.mjs";
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

test("over R2 and D1, served by workerd", async () => {
  const source = `
    import { D1Backend, R2Backend } from "./dist/workerd.js";
    import { serveFiles } from "./dist/serve_files.js";
    const made = new Map();
    let migrated;
    async function backendOf({ url, headers }, env) {
      const [, host, name, writeMode] = /^(\\S+) (\\S+) (\\S+)$/.exec(headers.get("authorization"));
      const of = new URL(url).pathname.split("/")[1];
      const key = of + name;
      if (of === "d1") await (migrated ??= new D1Backend({ database: env.DB }).migrate());
      if (!made.has(key)) {
        const options = { writeMode };
        made.set(key, of === "d1"
          ? new D1Backend({ database: env.DB, namespace: "case-" + name, ...options })
          : new R2Backend({ bucket: env.BUCKET, prefix: name + "/", ...options }));
      }
      return made.get(key);
    }
    const served = (path, env) => serveFiles((request) => backendOf(request, env), { path, maxParallel: 1000 });
    let r2, d1;
    export default {
      fetch(request, env) {
        r2 ??= served("/r2", env);
        d1 ??= served("/d1", env);
        return new URL(request.url).pathname.startsWith("/d1") ? d1(request) : r2(request);
      },
    };
  `;
  const alias = { kitbag: at("pkg/dist/workerd.js") };
  const worker = await startWorker(await workerModules(source, at("pkg"), { alias }), {
    r2Buckets: ["BUCKET"],
    d1Databases: ["DB"],
  });
  try {
    const { runConformance } = await import("../../pkg/dist/conformance.js");
    const except = { "a path of 1,024 bytes is the longest": "the key has a prefix" };
    for (const of of ["r2", "d1"]) {
      const url = `${String(worker.url).replace(/\/$/, "")}/${of}`;
      // A row of D1 has at most 2 MB.
      const own = of === "r2" ? { except } : { size: 1_500_000 };
      const asked = { url, host: "node", whole, ...own };
      passes(await conform({ ...reach, runConformance }, asked));
    }
  } finally {
    await worker.stop();
  }
});
