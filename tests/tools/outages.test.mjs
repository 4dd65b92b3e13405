// A backend that gives no answer for a moment. Nothing may be taken for missing, empty or unread
// because a question failed: the tool says so, and no file is replaced.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createFileTools, StateBackend, toV1 } from "kitbag";
import { bashExecute } from "kitbag/just-bash";

/** Files behind methods, of which the named ones fail as often as asked. */
function failing(files, code) {
  const inner = new StateBackend({ scope: "instance", files, writeMode: "overwrite" });
  const fails = new Map();
  const backend = {
    get capability() {
      return inner.capability;
    },
  };
  const answers = {
    downloadFiles: (paths) =>
      paths.map((path) => ({
        path,
        content: null,
        error: "permission_denied",
        code,
        message: code,
      })),
  };
  const methods = ["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete", "move"];
  for (const name of [...methods, "copy", "append", "uploadFiles", "downloadFiles"]) {
    backend[name] = async (...args) => {
      const left = fails.get(name) ?? 0;
      if (left === 0) return inner[name](...args);
      fails.set(name, left - 1);
      return answers[name]?.(...args) ?? { error: `no answer (${code})`, code };
    };
  }
  const down = (...names) => {
    for (const name of names) fails.set(name, Number.POSITIVE_INFINITY);
  };
  return { backend, inner, down, up: () => fails.clear() };
}

const CALLS = {
  write_file: { file_path: "/a.txt", content: "new" },
  move_file: { from_path: "/b.txt", to_path: "/a.txt", overwrite: true },
  copy_file: { from_path: "/b.txt", to_path: "/a.txt", overwrite: true },
};

for (const code of ["timeout", "unavailable", "internal"]) {
  for (const [tool, input] of Object.entries(CALLS)) {
    test(`${tool} replaces no file that could not be read (${code})`, async () => {
      const files = { "/a.txt": "old", "/b.txt": "other" };
      const { backend, inner, down, up } = failing(files, code);
      const { call, tools } = createFileTools(backend, { tools: "all" });
      const known = tools.find(({ name }) => name === tool);
      const names = Object.keys(known.inputSchema?.properties ?? known.parameters.properties);
      const given = Object.fromEntries(Object.values(input).map((value, at) => [names[at], value]));
      down("readRaw");
      const { text, isError } = await call(tool, given);
      assert.equal(isError, true, text);
      assert.equal(inner.read("/a.txt").content, "old");
      assert.equal(inner.read("/b.txt").content, "other");
      up();
      const again = await call(tool, given);
      assert.match(again.text, /not (been )?read/);
      assert.equal(inner.read("/a.txt").content, "old");
    });
  }

  test(`toV1 throws where nobody answered (${code})`, async () => {
    const { backend, down } = failing({ "/a.txt": "a" }, code);
    const v1 = toV1(backend);
    assert.equal((await v1.lsInfo("/")).length, 1);
    down("ls", "glob");
    await assert.rejects(v1.lsInfo("/"), { code });
    await assert.rejects(v1.globInfo("**", "/"), { code });
  });

  const COMMANDS = [
    "ls /d",
    "cat /d/a.txt",
    "cd /d && ls",
    "[ -d /d ]",
    "[ -e /d/a.txt ]",
    "rm -r /d",
    "rm -rf /d",
    "cp -r /d /e",
    "find /d",
    "mv /d /e",
  ];
  for (const command of COMMANDS) {
    test(`the shell's ${command} fails where nobody answers (${code})`, async () => {
      const { backend, inner, down, up } = failing({ "/d/a.txt": "a" }, code);
      const run = bashExecute(backend);
      down("ls", "glob", "readRaw", "read", "downloadFiles", "delete", "move");
      const { exitCode } = await run(command);
      assert.notEqual(exitCode, 0);
      assert.equal(inner.read("/d/a.txt").content, "a");
      assert.deepEqual(
        inner.glob("**").files.map(({ path }) => path),
        ["/d/a.txt"],
      );
      up();
      assert.equal((await run("cat /d/a.txt")).output.trim(), "a");
    });
  }
}
