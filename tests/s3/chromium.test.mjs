// S3Backend in a page of Chromium, which asks another origin: preflights and all.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { dist, kitbag, LONGEST, newBucket, root, servers, suiteHeld } from "./lib.mjs";
import { allowPages, KEYS } from "./servers.mjs";

let browser;
let page;
let server;
let origin;
let location;

before(async () => {
  const built = await build({
    entryPoints: [join(root, "tests/s3/page.mjs")],
    bundle: true,
    format: "esm",
    write: false,
    logLevel: "error",
    alias: {
      "kitbag-under-test": `${dist}/browser.js`,
      "kitbag-under-test/conformance": `${dist}/conformance.js`,
    },
  });
  const script = built.outputFiles[0].contents;
  server = createServer((request, response) => {
    if (request.url === "/sign") return sign(request, response);
    const isScript = request.url === "/page.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? script : '<script type="module" src="/page.js"></script>');
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${server.address().port}`;
  browser = await chromium.launch({
    executablePath: process.env.KITBAG_CHROMIUM,
    args: JSON.parse(readFileSync(join(root, "webdriver.json"), "utf8"))["goog:chromeOptions"].args,
  });
  page = await browser.newPage();
  await page.goto(origin);
  await page.waitForFunction("globalThis.ready");
});

after(async () => {
  await browser?.close();
  server?.closeAllConnections();
  server?.close();
});

/** The user's own server, which holds the keys and signs what a page asks for. */
function sign(request, response) {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const question = JSON.parse(Buffer.concat(chunks));
    response.end(JSON.stringify(kitbag.presignS3(location, question)));
  });
}

async function options(allowed = true) {
  const bucket = await newBucket(servers.ceph);
  if (allowed) await allowPages(servers.ceph, bucket, origin);
  return { endpoint: servers.ceph, region: "us-east-1", bucket, credentials: KEYS };
}

/** Calls a function of the page. */
function call(name, ...args) {
  return page.evaluate(([name, args]) => globalThis[name](...args), [name, args]);
}

test("Chromium: the shared suite holds across origins", async () => {
  suiteHeld(...(await call("suite", await options(), LONGEST)));
});

test("Chromium: of eight clients' fifty edits each, all four hundred arrive", async () => {
  assert.deepEqual(await call("edits", await options()), { errors: [], lines: 401 });
});

test("Chromium: a page without keys has its requests signed by its server", async () => {
  location = await options();
  const { credentials: _, ...open } = location;
  const answers = await call("signedByHost", open, `${origin}/sign`);
  assert.deepEqual(
    answers.map(({ error }) => error),
    [undefined, undefined, undefined, undefined],
  );
  assert.equal(answers[2].content, "two");
});

test("Chromium: a bucket that pages may not use is told as a matter of CORS", async () => {
  const closed = { ...(await options(false)), retry: false };
  const answer = await call("read", closed);
  assert.equal(answer.code, "unavailable");
  assert.match(answer.error, /CORS: the bucket must allow this origin/);
});
