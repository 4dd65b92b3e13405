// The library's own files, through shells and tools of other makers: no command reads, lists, finds,
// changes or plants them, over kitbag's backends and over objects of other libraries.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as kitbag from "kitbag";
import { memoryTool, textEditorTool } from "kitbag/anthropic";
import { bashExecute } from "kitbag/just-bash";
import { ownFiles, roomOf } from "../../lib/room.mjs";

const { StateBackend } = kitbag;
const own = await roomOf(kitbag);
const SECRET = "kept by the library";
const JOURNAL = "/.kitbag/turns/journal";

async function planted() {
  const files = new StateBackend({ files: { "/plain.txt": "plain\n" } });
  await files.uploadFiles([[own(JOURNAL), new TextEncoder().encode(SECRET)]]);
  const kept = async () => {
    assert.deepEqual(await ownFiles(own, files), [JOURNAL]);
    const [{ content }] = await files.downloadFiles([own(JOURNAL)]);
    assert.equal(new TextDecoder().decode(content), SECRET);
  };
  return { files, kept };
}

/** An object of another library, with a room like one of ours. */
function stranger(files) {
  const strip = (path) => (path.startsWith("/.kitbag") ? own(path) : path);
  const names = ["ls", "read", "readRaw", "write", "edit", "delete"];
  const plain = Object.fromEntries(
    names.map((name) => [name, async (path, ...rest) => files[name](strip(path), ...rest)]),
  );
  return {
    ...plain,
    grep: async (pattern, path, ...rest) => {
      const [{ matches }, mine] = [
        files.grep(pattern, path, ...rest),
        files.grep(pattern, own("/.kitbag")),
      ];
      return { matches: [...mine.matches, ...matches] };
    },
    glob: async (pattern, path = "/") => ({
      files: [...files.glob("**", own("/.kitbag")).files, ...files.glob(pattern, path).files],
    }),
    uploadFiles: async (batch) => files.uploadFiles(batch.map(([at, body]) => [strip(at), body])),
    downloadFiles: async (paths) => files.downloadFiles(paths.map(strip)),
  };
}

/** The same, which says what it can do, and has the methods that only backends of kitbag have. */
function capable(files) {
  const strip = (path) => (path.startsWith("/.kitbag") ? own(path) : path);
  const more = ["move", "copy"].map((name) => [
    name,
    async (from, to, ...rest) => files[name](strip(from), strip(to), ...rest),
  ]);
  return {
    ...stranger(files),
    ...Object.fromEntries(more),
    append: async (path, ...rest) => files.append(strip(path), ...rest),
    capability: { create: "storage", update: "storage", writable: true },
  };
}

const SCRIPTS = [
  "echo evil > /.kitbag/turns/journal",
  "echo evil >> .kitbag/turns/journal",
  "mkdir -p /.kitbag/history/log && echo evil > /.kitbag/history/log/1",
  "cat /.kitbag/turns/journal",
  "cat /.KITBAG/turns/journal",
  "cd /.kitbag && cat turns/journal",
  "cp /.kitbag/turns/journal /x; cat /x",
  "cp /plain.txt /.kitbag/turns/journal",
  "mv /plain.txt /.kitbag/turns/journal; mv /.kitbag /y; cat /y/turns/journal",
  "grep -r kept / ; find / -name '*journal*' -exec cat {} ';'",
  "rm -rf /.kitbag; ls -a /.kitbag",
  "tee /.kitbag/turns/journal < /plain.txt > /dev/null",
];

for (const [name, wrap] of [
  ["a backend", (files) => files],
  ["a stranger", stranger],
  ["a stranger with a capability", capable],
]) {
  test(`no command of a shell over ${name} reaches them`, async () => {
    for (const script of SCRIPTS) {
      const { files, kept } = await planted();
      const { output } = await bashExecute(wrap(files))(script);
      assert.ok(!output.includes(SECRET), `${script}: ${output}`);
      await kept();
    }
    const { files } = await planted();
    const { output } = await bashExecute(wrap(files))("ls -a / | grep -v '^\\.*$'; find / -type f");
    assert.deepEqual(output.trim().split("\n"), ["plain.txt", "/plain.txt"]);
  });

  test(`nor do the built-in tools of Anthropic over ${name}`, async () => {
    for (const path of [JOURNAL, "/.KITBAG/turns/journal", "/.kitbag"]) {
      for (const input of [
        { command: "view", path },
        { command: "create", path: `${path}/new`, file_text: "evil" },
        { command: "str_replace", path, old_str: SECRET, new_str: "evil" },
        { command: "insert", path, insert_line: 0, insert_text: "evil" },
        { command: "delete", path },
        { command: "rename", old_path: "/plain.txt", new_path: path },
        { command: "rename", old_path: path, new_path: "/x" },
      ]) {
        const { files, kept } = await planted();
        const it = wrap(files);
        const inMemories = Object.entries(input).map(([name, value]) =>
          name.endsWith("path") ? [name, `/memories${value}`] : [name, value],
        );
        for (const [tool, asked] of [
          [memoryTool(it, { directory: "/" }), Object.fromEntries(inMemories)],
          [textEditorTool(it), input],
        ]) {
          const { text } = await tool.run(asked);
          assert.ok(!text.includes(SECRET), `${JSON.stringify(input)}: ${text}`);
        }
        await kept();
      }
    }
  });
}
