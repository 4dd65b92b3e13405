// S3Backend in a page of Chromium, which asks another origin: preflights and all.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { build } from "esbuild";
import puppeteer from "puppeteer-core";
import { dist, kitbag, location, root, servers } from "./lib.mjs";
import { allowPages } from "./servers.mjs";
import { held } from "./work.mjs";

let browser;
let page;
let server;
let origin;
let signing;

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
  browser = await puppeteer.launch({
    executablePath: process.env.KITBAG_CHROMIUM,
    // The events of thousands of requests would take more time than the requests.
    networkEnabled: false,
    protocolTimeout: 300_000,
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
    response.end(JSON.stringify(kitbag.presignS3(signing, question)));
  });
}

async function options(endpoint, allowed = true) {
  const where = await location(endpoint);
  if (allowed) await allowPages(endpoint, where.bucket, origin);
  return where;
}

/** Calls a function of the page. */
function call(name, ...args) {
  return page.evaluate((name, args) => globalThis[name](...args), name, args);
}

for (const [server, endpoint] of Object.entries(servers)) {
  const all = ["suite", "edits", "creates", "names", "many", "uploads"];
  // moto takes its time; what it does with many requests is seen on the other hosts.
  for (const what of server === "moto" ? ["suite", "names"] : all) {
    test(`Chromium, across origins, on ${server}: ${what}`, async () => {
      held(assert, what, await call("does", what, await options(endpoint)));
    });
  }
}

test("Chromium: a page without keys has its requests signed by its server", async () => {
  signing = await options(servers.ceph);
  const { credentials: _, ...open } = signing;
  const answers = await call("signedByHost", open, `${origin}/sign`);
  assert.deepEqual(
    answers.map(({ error }) => error),
    [undefined, undefined, undefined, undefined],
  );
  assert.equal(answers[2].content, "two");
});

test("Chromium: a bucket that pages may not use is told as a matter of CORS", async () => {
  const closed = { ...(await options(servers.ceph, false)), retry: false };
  const answer = await call("read", closed);
  assert.equal(answer.code, "unavailable");
  assert.match(answer.error, /CORS: the bucket must allow this origin/);
});
