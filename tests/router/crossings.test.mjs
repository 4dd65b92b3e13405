// What a policy and a router add to a call: no entry into WebAssembly and no way out of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { at } from "../../scripts/lib/paths.mjs";
import { launch } from "../browser/lib/browsers.mjs";
import { serve } from "../browser/lib/server.mjs";
import { crossings, instances, OPERATIONS, permissions, TEXT } from "./counting.mjs";

// Only what is imported after `counting.mjs` is counted.
const { CompositeBackend, CustomBackend, StateBackend, withPolicy } = await import(
  "../lib/kitbag.mjs"
);

/** A storage that answers as a real one does: later. */
class Slow {
  files = new Map();
  async get(path) {
    return this.files.get(path) ?? null;
  }
  async list(prefix) {
    return [...this.files.values()].filter(({ path }) => path.startsWith(prefix));
  }
  async put(path, file) {
    this.files.set(path, { ...file, path });
    return {};
  }
  async delete(path) {
    return this.files.delete(path);
  }
}

/** Rules and mounts over two backends; what is bare is asked for its own files. */
const STORAGES = {
  StateBackend: () => new StateBackend({ writeMode: "overwrite" }),
  CustomBackend: () => new CustomBackend(new Slow(), { writeMode: "overwrite" }),
};

for (const [storage, make] of Object.entries(STORAGES)) {
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    test(`${name} over ${storage} crosses no more often behind a policy and a router`, async () => {
      const bare = make();
      await bare.write("/a.txt", TEXT);
      const alone = await crossings(() => operation(bare, ""));
      assert.ok(alone["in call_start"] > 0);
      // The other backend of a router asks nobody, not even for a running graph.
      const other = new StateBackend({ scope: "instance" });
      const asDefault = new CompositeBackend(bare, { "/other/": other });
      const asMount = new CompositeBackend(other, { "/m/": bare });
      const ways = [
        [withPolicy(bare, { permissions }), ""],
        [asDefault, ""],
        [asMount, "/m"],
        [withPolicy(asDefault, { permissions }), ""],
        [withPolicy(asMount, { permissions }), "/m"],
        [withPolicy(new CompositeBackend(asMount, { "/x/": asDefault }), { permissions }), "/m"],
      ];
      for (const [backend, at] of ways) {
        assert.deepEqual(await crossings(() => operation(backend, at)), alone);
      }
    });
  }
}

test("a router mounts, a policy guards and a storage answers in instances of one memory", () => {
  // One of each chunk that was used and the primary; in a build that is not cut the primary alone.
  assert.ok(instances === 1 || instances >= 4, String(instances));
});

test("IndexedDB and S3 in a page cross no more often behind a policy and a router", async (t) => {
  const pages = await serve({ pkg: at("pkg"), mounts: { "/router/": at("tests/router") } });
  t.after(() => pages.close());
  const browser = await launch("chromium");
  t.after(() => browser.close());
  const page = await browser.page(`${pages.origin}/pages/blank.html`);
  const seen = await page.call("/router/crossings-page.mjs", "run");
  assert.equal(seen.length, 2 * Object.keys(OPERATIONS).length);
  for (const { storage, name, alone, below } of seen) {
    await t.test(`${name} over ${storage}`, () => {
      assert.ok(alone["in call_start"] > 0);
      assert.deepEqual(below, alone);
    });
  }
});
