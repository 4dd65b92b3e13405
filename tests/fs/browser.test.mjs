// git in a page of Chromium: a clone into IndexedDB and OPFS, a commit, and a push, checked by git.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { at } from "../../scripts/lib/paths.mjs";
import { launch, pageOf, resultOf } from "../lib/browser.mjs";
import { pageScript } from "../lib/bundle.mjs";
import { git, repository } from "./git-server.mjs";

test("clone, commit and push over IndexedDB and OPFS", async (t) => {
  const script = await pageScript(
    readFileSync(at("tests/fs/page.mjs"), "utf8"),
    at("tests/deps/fs"),
    {
      // isomorphic-git needs the global `Buffer`.
      inject: [at("tests/fs/buffer.mjs")],
      alias: { kitbag: at("pkg/dist/browser.js"), "kitbag/fs": at("pkg/dist/fs.js") },
      nodePaths: [at("tests/deps/fs/node_modules")],
    },
  );
  const { root, url } = await repository(t, {
    "/": ["text/html", pageOf()],
    "/page.js": ["text/javascript", script],
  });
  const browser = await launch();
  t.after(() => browser.close());
  const seen = await resultOf(browser, new URL("/", url).href);
  const origin = join(root, "origin.git");
  assert.equal(git(origin, "fsck", "--strict", "--full"), "");
  const [opfs, idb] = git(origin, "rev-list", "-2", "main").trim().split("\n");
  assert.deepEqual([seen.IndexedDB.oid, seen.OPFS.oid], [idb, opfs]);
  for (const [name, { ok, text, entries, changed, failed }] of Object.entries(seen)) {
    assert.equal(ok, true, name);
    assert.ok(text.endsWith(`By ${name}.\n`), text);
    assert.deepEqual(entries, ["README.md", "empty", "picture.png", "src"], name);
    assert.equal(changed, 0, name);
    assert.equal(failed, "ENOENT: no such file or directory, stat '/none'", name);
  }
});
