// A read of a directory says that it is one and what to do, on storages where directories follow from the
// paths of files too; but not of a directory in which rules hide everything.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { MapBucket, MapStorage } from "../chunks/doubles.mjs";
import * as kitbag from "../lib/kitbag.mjs";

const { StateBackend, withPolicy } = kitbag;
const encode = (text) => new TextEncoder().encode(text);
const FILES = { "/docs/a.md": "a", "/docs/deep/b.md": "b", "/keys/k.pem": "k", "/both": "file" };

const folders = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

async function filled(backend) {
  const files = Object.entries(FILES).map(([path, text]) => [path, encode(text)]);
  for (const { error } of await backend.uploadFiles(files)) assert.equal(error, null);
  return backend;
}

const memory = () => new StateBackend({ scope: "instance", files: FILES });
const SUBJECTS = {
  state: memory,
  R2: () => filled(new kitbag.R2Backend({ bucket: new MapBucket() })),
  custom: () => filled(new kitbag.CustomBackend(new MapStorage())),
  "a folder": () => {
    const rootDir = mkdtempSync(join(tmpdir(), "kitbag-reads-"));
    folders.push(rootDir);
    return filled(new kitbag.FilesystemBackend({ rootDir }));
  },
  "a policy": () => withPolicy(memory(), { permissions: [], quota: { maxFiles: 9 } }),
  "a subclass": () => new (class extends StateBackend {})({ scope: "instance", files: FILES }),
};

for (const [name, make] of Object.entries(SUBJECTS)) {
  describe(name, () => {
    test("a directory is one, with what to do", async () => {
      const backend = await make();
      for (const path of ["/docs", "/docs/", "docs/deep", "/keys"]) {
        const { error, code, content } = await backend.read(path);
        assert.deepEqual([code, content], ["is_directory", undefined], path);
        assert.match(error, /is a directory.*List it with ls, or name a file below it/);
      }
    });

    test("what is not there is not found, and a file is read", async () => {
      const backend = await make();
      for (const path of ["/doc", "/docs/a", "/docs/deep/b", "/none/at/all"]) {
        const { error, code } = await backend.read(path);
        assert.deepEqual([code, error], ["not_found", `File '${path}' not found`]);
      }
      assert.equal((await backend.read("/both")).content, "file");
    });

    test("a directory in which everything is hidden is not found", async () => {
      const backend = withPolicy(await make(), {
        permissions: [{ operations: ["read"], paths: ["/**/*.pem", "/docs/deep/*"], mode: "deny" }],
      });
      for (const path of ["/keys", "/docs/deep"]) {
        const { error, code } = await backend.read(path);
        assert.deepEqual([code, error], ["not_found", `File '${path}' not found`]);
      }
      assert.equal((await backend.read("/docs")).code, "is_directory");
    });
  });
}

test("the library's own files make no directory", async () => {
  const backend = memory();
  const turn = kitbag.begin(backend);
  await turn.write("/x.md", "x");
  await turn.commit();
  assert.equal((await backend.read("/.kitbag")).code, "invalid_path");
  assert.equal((await backend.read("/none")).code, "not_found");
});
