// Labels and flows that name a directory without `/**`: whoever writes them means what is in it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { StateBackend } from "kitbag";
import { withProvenance } from "kitbag/provenance";

const PLANT = "PLANTED-7f3a";
const memory = (files) => new StateBackend({ scope: "instance", files });

/** Patterns, and a file deep in what they name. */
const DIRECTORIES = {
  "/web/**": "/web/deep/page.md",
  "/web": "/web/deep/page.md",
  "/web/in": "/web/in/deep/page.md",
  "/**/web": "/any/web/deep/page.md",
  "/*/web": "/any/web/page.md",
  "/{web,inbox}": "/inbox/deep/page.md",
  "/{web/in,inbox}": "/web/in/deep/page.md",
  "/{web,{mail,inbox}}": "/mail/page.md",
  "/.{web,inbox}": "/.inbox/deep/page.md",
  "/\\[web\\]": "/[web]/deep/page.md",
  "/a\\*": "/a*/deep/page.md",
  "/a b/ünï 日本": "/a b/ünï 日本/page.md",
  "/": "/any/page.md",
};

for (const [pattern, path] of Object.entries(DIRECTORIES)) {
  test(`what is in ${pattern} has the label`, async () => {
    const files = withProvenance(memory({ [path]: PLANT, "/kept/a.md": "" }), {
      labels: [{ paths: [pattern], as: "web" }],
      flows: [{ from: "web", to: ["/kept/**"], then: "refuse" }],
    });
    assert.deepEqual((await files.labels(path)).labels, ["web"]);
    assert.equal((await files.read(path)).error, undefined);
    assert.deepEqual(
      files.reads.map(({ label }) => label),
      ["web"],
    );
    assert.equal((await files.write("/kept/new.md", PLANT)).code, "permission_denied");
  });

  test(`what is in ${pattern} is guarded by a flow`, async () => {
    const inner = memory({ "/from/a.md": PLANT, [path]: "kept" });
    const files = withProvenance(inner, {
      labels: [{ paths: ["/from/**"], as: "web" }],
      flows: [{ from: "web", to: [pattern], then: "refuse" }],
    });
    assert.equal((await files.read("/from/a.md")).error, undefined);
    for (const answer of [
      await files.write(`${path}.new`, PLANT),
      await files.edit(path, "kept", PLANT),
      await files.copy("/from/a.md", `${path}.copy`),
      await files.move("/from/a.md", `${path}.moved`),
      (await files.uploadFiles([[`${path}.up`, new TextEncoder().encode(PLANT)]]))[0],
    ]) {
      assert.equal(answer.code ?? answer.error, "permission_denied");
    }
    assert.deepEqual(
      inner
        .glob("**")
        .files.map((file) => file.path)
        .sort(),
      ["/from/a.md", path].sort(),
    );
  });
}

test("a pattern for names means names", async () => {
  for (const [pattern, path] of [
    ["/web/*", "/web/deep/page.md"],
    ["/we?", "/web/page.md"],
    ["/[vw]eb", "/web/page.md"],
    ["/web", "/webs/page.md"],
    ["/{web,inbox}", "/inboxes/page.md"],
  ]) {
    const files = withProvenance(memory({ [path]: PLANT }), {
      labels: [{ paths: [pattern], as: "web" }],
    });
    assert.deepEqual((await files.labels(path)).labels, [], pattern);
  }
});
