// `uploadFiles` with `onlyFiles`: no file beside a directory of its name, over whatever the files lie in.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { MapStorage } from "../chunks/doubles.mjs";
import {
  CompositeBackend,
  CustomBackend,
  FilesystemBackend,
  StateBackend,
  withPolicy,
} from "../lib/kitbag.mjs";

const bytes = (text) => new TextEncoder().encode(text);
const only = { onlyFiles: true };

const KINDS = {
  StateBackend: () => new StateBackend(),
  withPolicy: () => withPolicy(new StateBackend(), {}),
  CompositeBackend: () => new CompositeBackend(new StateBackend(), { "/mnt/": new StateBackend() }),
  CustomBackend: () => new CustomBackend(new MapStorage()),
};

describe("a path that is a directory is refused, and the rest of the batch is stored", () => {
  for (const [name, make] of Object.entries(KINDS)) {
    test(name, async () => {
      const files = make();
      await files.uploadFiles([["/d/deep/a.txt", bytes("a")]]);
      const answers = await files.uploadFiles(
        [
          ["/d", bytes("1")],
          ["/d/b.txt", bytes("2")],
          ["/a/../b", bytes("3")],
          ["/d/deep", bytes("4")],
          ["/d/deep/a.txt", bytes("5")],
        ],
        only,
      );
      const expected = ["is_directory", null, "invalid_path", "is_directory", null];
      assert.deepEqual(
        answers.map(({ error }) => error),
        expected,
      );
      assert.match(answers[0].message, /'\/d' is a directory/);
      const { files: found } = await files.glob("**", "/");
      assert.deepEqual(found.map(({ path }) => path).sort(), ["/d/b.txt", "/d/deep/a.txt"]);
      assert.equal((await files.read("/d/deep/a.txt")).content, "5");
    });
  }

  test("FilesystemBackend, which refuses it in any case", async () => {
    const rootDir = mkdtempSync(join(tmpdir(), "kitbag-only-"));
    try {
      const files = new FilesystemBackend({ rootDir });
      await files.uploadFiles([["/d/a.txt", bytes("a")]]);
      for (const options of [undefined, only]) {
        const [answer] = await files.uploadFiles([["/d", bytes("1")]], options);
        assert.equal(answer.error, "is_directory");
      }
    } finally {
      rmSync(rootDir, { recursive: true });
    }
  });
});

test("without it, a file stands beside the directory of its name, as in deepagents", () => {
  const files = new StateBackend({ files: { "/d/a.txt": "a" } });
  assert.equal(files.uploadFiles([["/d", bytes("1")]])[0].error, null);
  assert.equal(files.read("/d").content, "1");
});

test("a directory that rules hide is refused by their words, and does not show that it is there", async () => {
  const policy = {
    permissions: [{ operations: ["read", "write"], paths: ["/no/**"], mode: "deny" }],
  };
  const files = withPolicy(new StateBackend({ files: { "/no/sub/a.txt": "a" } }), policy);
  const upload = async (path) => (await files.uploadFiles([[path, bytes("1")]], only))[0];
  const [there, missing] = [await upload("/no/sub"), await upload("/no/sum")];
  assert.equal(there.error, "permission_denied");
  assert.equal(there.message.replace("/no/sub", "/no/sum"), missing.message);
});

test("a wrong option is refused for every file, and nothing is stored", () => {
  const files = new StateBackend();
  for (const [options, words] of [
    [{ onlyfiles: true }, /"onlyfiles".* is "onlyFiles" meant\?/],
    [{ onlyFiles: "yes" }, /options\.onlyFiles must be/],
  ]) {
    const answers = files.uploadFiles(
      [
        ["/a", bytes("1")],
        ["/b", bytes("2")],
      ],
      options,
    );
    assert.equal(answers.length, 2);
    for (const { error, message } of answers) {
      assert.notEqual(error, null);
      assert.match(message, words);
    }
  }
  assert.deepEqual(Object.keys(files.snapshot()), []);
});
