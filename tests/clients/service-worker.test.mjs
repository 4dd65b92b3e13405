// `serveFiles` in a service worker: files of the browser's own storages as addresses of the page.

import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { at } from "../../scripts/lib/paths.mjs";
import { BROWSERS, launch, PageEnded } from "../browser/lib/browsers.mjs";
import { pageScript } from "../lib/bundle.mjs";
import { serving } from "./lib.mjs";

const SCRIPT = `
  import { IndexedDbBackend, OpfsBackend, StateBackend } from "./dist/browser.js";
  import { serveFiles } from "./dist/serve_files.js";
  const kinds = {
    "/opfs": new OpfsBackend({ writeMode: "overwrite" }),
    "/indexeddb": new IndexedDbBackend({ database: "files", writeMode: "overwrite" }),
    "/state": new StateBackend({ writeMode: "overwrite" }),
  };
  const served = Object.entries(kinds).map(([path, files]) => [path, serveFiles(() => files, { path })]);
  addEventListener("install", () => skipWaiting());
  addEventListener("activate", (event) => event.waitUntil(clients.claim()));
  addEventListener("fetch", (event) => {
    const { pathname } = new URL(event.request.url);
    const found = served.find(([path]) => pathname.startsWith(path + "/"));
    if (found) event.respondWith(found[1](event.request));
  });
`;

let server;
before(async () => {
  const script = await pageScript(SCRIPT, at("pkg"), {
    format: "iife",
    alias: { kitbag: at("pkg/dist/browser.js") },
  });
  server = await serving(() => null, { "/worker.js": script });
});
after(() => server?.close());

/** The storages of a browser: WebKitGTK has no origin-private file system. */
const kindsOf = (name) => (name === "webkit" ? [] : ["opfs"]).concat("indexeddb", "state");

/**
 * Does something in a page of a new browser. WebKitGTK's process of a page was seen to end by
 * itself, on a busy machine: it is done a second time then, in another browser.
 */
async function inPage(t, name, act, again = true) {
  const browser = await launch(name);
  try {
    return await act(await browser.page(`${server.origin}/pages/blank.html`));
  } catch (error) {
    if (!again || !(error instanceof PageEnded)) throw error;
    t.diagnostic(`the page's process ended by itself: ${error.message}`);
  } finally {
    await browser.close();
  }
  return inPage(t, name, act, false);
}

for (const name of BROWSERS) {
  test(`in ${name}: a large file, whole and in ranges`, (t) =>
    inPage(t, name, async (page) => {
      const size = (7 << 19) + 3;
      for (const kind of kindsOf(name)) {
        const seen = await page.call("/clients/page.mjs", "large", {
          base: `${server.origin}/${kind}`,
        });
        assert.deepEqual(
          seen,
          {
            size,
            wrong: [],
            hasVersion: kind === "opfs",
            whole: [200, 0, size],
            middle: [206, 1_000_000, 2_000_001],
            last: [206, size - 5, 5],
            beyond: 416,
          },
          kind,
        );
      }
    }));

  test(`in ${name}: requests, images, sounds with ranges, and HttpBackend`, (t) =>
    inPage(t, name, async (page) => {
      for (const kind of kindsOf(name)) {
        const seen = await page.call("/clients/page.mjs", "used", {
          base: `${server.origin}/${kind}`,
        });
        assert.deepEqual(
          seen,
          {
            stored: [null, null, null],
            part: { status: 206, bytes: [0xa4, 0x3e, 0, 0], range: "bytes 4-7/16044" },
            image: [1, 1],
            seconds: 1,
            plain: 403,
            matches: [["/a/notes.txt", 2]],
            missing: 404,
            other: 200,
          },
          kind,
        );
      }
    }));
}
