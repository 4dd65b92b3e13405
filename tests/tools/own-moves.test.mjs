// The memory tool's rename, and mv, cp and >> of the shell, where the backend moves, copies and appends
// itself: the adapter reads and writes no content, and tells what the backend says in its own words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { StateBackend, withPolicy } from "kitbag";
import { memoryTool } from "kitbag/anthropic";
import { bashExecute } from "kitbag/just-bash";
import { contentsOf } from "./meddling.mjs";

const CONTENT = new Set(["read", "readRaw", "downloadFiles", "write", "edit", "uploadFiles"]);

/** A backend whose calls are noted; `before` runs before a call of that name. */
function noted(files) {
  const inner = new StateBackend({ files });
  const seen = { calls: [], before: {} };
  const backend = new Proxy(inner, {
    get(target, key) {
      const value = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      return async (...given) => {
        seen.calls.push(key);
        seen.before[key]?.();
        return value.apply(target, given);
      };
    },
  });
  return { inner, backend, seen };
}

const count = (seen, name) => seen.calls.filter((call) => call === name).length;
const content = (seen) => seen.calls.filter((call) => CONTENT.has(call));
const rename = (backend, old_path, new_path) =>
  memoryTool(backend).run({ command: "rename", old_path, new_path });

for (const [what, files, from, to, result] of [
  [
    "file",
    { "/memories/a.md": "a\n" },
    "/memories/a.md",
    "/memories/x/b.md",
    { "/memories/x/b.md": "a\n" },
  ],
  [
    "directory",
    { "/memories/d/a.md": "a", "/memories/d/e/b.md": "b" },
    "/memories/d",
    "/memories/n",
    { "/memories/n/a.md": "a", "/memories/n/e/b.md": "b" },
  ],
]) {
  test(`rename of a ${what} is one move, and no content is read`, async () => {
    const { inner, backend, seen } = noted(files);
    const answer = await rename(backend, from, to);
    assert.deepEqual([answer.text, answer.isError], [`Renamed ${from} to ${to}.`, false]);
    assert.equal(count(seen, "move"), 1);
    assert.deepEqual(content(seen), []);
    assert.deepEqual(contentsOf(inner), result);
  });
}

test("a file that is made meanwhile is not overwritten, and is named as the model knows it", async () => {
  const { inner, backend, seen } = noted({ "/notes/a.md": "ours" });
  seen.before.move = () => inner.write("/notes/b.md", "theirs");
  const { run } = memoryTool(backend, { directory: "/notes" });
  const paths = { old_path: "/memories/a.md", new_path: "/memories/b.md" };
  const answer = await run({ command: "rename", ...paths });
  assert.deepEqual([answer.text, answer.isError], ["Error: /memories/b.md already exists.", true]);
  assert.deepEqual(contentsOf(inner), { "/notes/a.md": "ours", "/notes/b.md": "theirs" });
});

test("rules about paths hold for a rename", async (t) => {
  const permissions = [{ operations: ["write"], paths: ["/memories/fixed/**"], mode: "deny" }];
  const files = { "/memories/fixed/a.md": "a", "/memories/b.md": "b" };
  const backend = withPolicy(new StateBackend({ files }), { permissions });
  for (const [from, to] of [
    ["/memories/fixed/a.md", "/memories/c.md"],
    ["/memories/b.md", "/memories/fixed/b.md"],
    ["/memories/fixed", "/memories/free"],
  ]) {
    await t.test(`${from} to ${to}`, async () => {
      assert.equal((await rename(backend, from, to)).isError, true, from);
    });
  }
  assert.equal((await backend.glob("**")).files.length, 2);
});

test("mv, cp and >> of the shell are move, copy and append", async () => {
  const { inner, backend, seen } = noted({ "/a.txt": "one\n", "/d/x.txt": "x", "/d/e/y.txt": "y" });
  const execute = bashExecute(backend);
  const run = async (command) => {
    seen.calls.length = 0;
    const { output, exitCode } = await execute(command);
    assert.equal(exitCode, 0, `${command}: ${output}`);
  };
  await run("mv /a.txt /b.txt");
  assert.equal(count(seen, "move"), 1);
  await run("cp /b.txt /c.txt && cp /b.txt /c.txt");
  assert.equal(count(seen, "copy"), 2);
  await run("mv /d /n");
  assert.equal(count(seen, "move"), 1);
  await run("mv /c.txt /b.txt");
  assert.deepEqual(
    content(seen).filter((name) => name !== "downloadFiles"),
    [],
  );
  await run("echo two >> /b.txt");
  assert.equal(count(seen, "append"), 1);
  await run("echo new >> /made.txt");
  assert.deepEqual(contentsOf(inner), {
    "/b.txt": "one\ntwo\n",
    "/made.txt": "new\n",
    "/n/e/y.txt": "y",
    "/n/x.txt": "x",
  });
});

test("a shell refuses to copy over a directory, and what fails names both paths", async () => {
  const { inner, backend } = noted({ "/a.txt": "one", "/d/x.txt": "x" });
  const execute = bashExecute(backend);
  assert.equal((await execute("cp /a.txt /d")).exitCode, 0);
  assert.deepEqual(Object.keys(contentsOf(inner)).sort(), ["/a.txt", "/d/a.txt", "/d/x.txt"]);
  const rules = { readOnlyPrefixes: ["/d/"] };
  const guarded = bashExecute(withPolicy(inner, rules));
  for (const command of ["cp /a.txt /d/b.txt", "mv /a.txt /d/b.txt", "echo x >> /d/x.txt"]) {
    const { output, exitCode } = await guarded(command);
    assert.ok(exitCode !== 0 && /\/d\//.test(output), `${command}: ${output}`);
  }
  assert.equal(contentsOf(inner)["/a.txt"], "one");
});
