// Chunks in workerd, Chromium and Firefox, each alone (cases of every operation) and all together (all cases).
// One browser of each kind runs them all, every chunk in a page of its own; each Worker has a workerd, as Miniflare
// takes half a minute to write one configuration with the modules of 23.

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
  let modules;
  before(async () => {
    const source = `export { default } from "./in-worker.mjs"`;
    modules = await workerModules(source, at("tests/chunks"));
  }, LIMIT);

  inHost(async (name) => {
    const worker = new Miniflare({
      host: "127.0.0.1",
      port: 0,
      modules,
      modulesRoot: "/",
      compatibilityDate: COMPATIBILITY_DATE,
      bindings: { NAME: name ?? "", ORIGIN: served.origin },
    });
    try {
      const answer = await worker.dispatchFetch("http://worker.test/");
      if (!answer.ok) throw new Error(await answer.text());
      return await answer.json();
    } finally {
      await worker.dispose();
    }
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
