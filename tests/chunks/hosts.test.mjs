// Chunks in workerd, Chromium and Firefox, each alone (cases of every operation) and all together (all cases).
// One workerd and one browser of each kind runs them all, every chunk in a Worker or page of its own.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Miniflare } from "miniflare";
import { at } from "../../scripts/lib/paths.mjs";
import { launch } from "../browser/lib/browsers.mjs";
import { serve as servePages } from "../browser/lib/server.mjs";
import { workerModules } from "../lib/bundle.mjs";
import { COMPATIBILITY_DATE } from "../lib/workerd.mjs";
import { LIMIT } from "./run.mjs";
import { serve, services } from "./services.mjs";
import { names } from "./subjects.mjs";

let offered;
let served;
before(async () => {
  offered = services();
  served = await serve(offered);
});
after(() => {
  served?.stop();
  offered?.stop();
});

/** The tests of a host; `run(name)` gives the reports, for all chunks without a name. */
function inHost(run) {
  const passed = async (name, least) => {
    const reports = await run(name);
    assert.equal(reports.length, least);
    assert.deepEqual(
      reports.flatMap(({ failures }) => failures),
      [],
    );
  };
  for (const name of names) test(`${name} alone`, LIMIT, () => passed(name, 1));
  test("all together", LIMIT, () => passed(undefined, names.length));
}

describe("in workerd", () => {
  let workers;
  before(async () => {
    const source = `export { default } from "./in-worker.mjs"`;
    const modules = await workerModules(source, at("tests/chunks"));
    workers = new Miniflare({
      host: "127.0.0.1",
      port: 0,
      workers: [...names, ""].map((name) => ({
        name: name || "all",
        modules,
        modulesRoot: "/",
        compatibilityDate: COMPATIBILITY_DATE,
        bindings: { NAME: name, ORIGIN: served.origin },
      })),
    });
    await workers.ready;
  }, LIMIT);
  after(() => workers?.dispose(), LIMIT);

  inHost(async (name) => {
    const worker = await workers.getWorker(name ?? "all");
    const answer = await worker.fetch("http://worker.test/");
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  });
});

describe("in browsers", { concurrency: 2 }, () => {
  inBrowser("chromium");
  inBrowser("firefox");
});

function inBrowser(kind) {
  describe(`in ${kind}`, () => {
    let browser;
    let pages;
    before(async () => {
      const sqlite = at("tests/deps/durable/node_modules/sql.js/dist");
      const mounts = { "/chunks/": at("tests/chunks"), "/sql.js/": sqlite };
      pages = await servePages({ pkg: at("pkg"), mounts });
      browser = await launch(kind);
    }, LIMIT);
    after(async () => {
      await browser?.close();
      await pages?.close();
    }, LIMIT);

    inHost(async (name) => {
      const page = await browser.page(`${pages.origin}/pages/blank.html`);
      try {
        return await page.call("/chunks/in-page.mjs", "run", { name, origin: served.origin });
      } finally {
        await page.close();
      }
    });
  });
}
