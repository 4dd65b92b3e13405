// The root of an object of another library is deleted by no command, tool or call: the library's own files are there.

import assert from "node:assert/strict";
import { test } from "node:test";
import { adaptBackendProtocol } from "kitbag";
import { memoryTool } from "kitbag/anthropic";
import { createFs } from "kitbag/fs";
import { bashExecute } from "kitbag/just-bash";
import { patchEditor } from "kitbag/openai";
import { stranger } from "../../lib/stranger.mjs";

const FILES = { "/.kitbag/turns/journal": "kept", "/a.txt": "one", "/b/c.txt": "two" };

/** Somebody else's files, whose `delete` takes a directory with all that is in it. */
function others() {
  const files = stranger(new Map(Object.entries(FILES)));
  const gone = (path) => {
    const prefix = `/${path
      .split("/")
      .filter((one) => one !== "" && one !== ".")
      .join("/")}`;
    for (const one of [...files.map.keys()]) {
      if (prefix === "/" || one === prefix || one.startsWith(`${prefix}/`)) files.map.delete(one);
    }
    return { path };
  };
  return { ...files, delete: gone };
}

const kept = ({ map }) => assert.equal(map.get("/.kitbag/turns/journal"), "kept");

for (const script of [
  ...["rm -rf /", "rm -rf .", "cd /b && rm -rf ..", "rm -rf //", "rm -rf /./", "rm -r /b/.."],
  ...[
    "rm -rf --no-preserve-root /",
    "find / -delete",
    "mv / /b",
    "rm -rf /* ; rm -rf /.* ; rmdir /",
  ],
]) {
  test(`a shell: ${script}`, async () => {
    const files = others();
    await bashExecute(files)(script);
    kept(files);
  });
}

for (const path of ["/", "", ".", "//", "/./", "./."]) {
  test(`an adapted object refuses to delete ${JSON.stringify(path)}`, async () => {
    const files = others();
    const answer = await adaptBackendProtocol(files).delete(path);
    assert.equal(answer.code, "invalid_path");
    assert.deepEqual(Object.fromEntries(files.map), FILES);
  });
}

test("nor do other seats delete it", async () => {
  const files = others();
  await memoryTool(files, { directory: "/" }).run({ command: "delete", path: "/memories" });
  await patchEditor(files).deleteFile({ path: "/" });
  await createFs(files)
    .promises.rm("/", { recursive: true, force: true })
    .catch(() => {});
  await createFs(files)
    .promises.rmdir("/")
    .catch(() => {});
  kept(files);
});

test("a directory is deleted as before", async () => {
  const files = others();
  assert.equal((await bashExecute(files)("rm -r /b")).exitCode, 0);
  assert.deepEqual([...files.map.keys()], ["/.kitbag/turns/journal", "/a.txt"]);
});
