// kitbag/anthropic: the memory tool and the text editor tool that Claude knows by itself.

import assert from "node:assert/strict";
import { test } from "node:test";
import { StateBackend } from "kitbag";
import { memoryTool, textEditorTool } from "kitbag/anthropic";

test("Anthropic: the memory tool's commands, and none that leave the directory", async () => {
  const backend = new StateBackend({ files: { "/other": "x" } });
  const memory = memoryTool(backend);
  const say = async (input, isError = false) => {
    const result = await memory.run(input);
    assert.equal(result.isError, isError, result.text);
    return result.text;
  };
  assert.match(await say({ command: "view", path: "/memories" }), /empty/);
  await say({ command: "create", path: "/memories/a.md", file_text: "one\ntwo\n" });
  assert.match(await say({ command: "view", path: "/memories" }), /\/memories\/a\.md \(8 bytes\)/);
  assert.equal(
    await say({ command: "view", path: "/memories/a.md", view_range: [2, 2] }),
    "     2\ttwo",
  );
  await say({ command: "str_replace", path: "/memories/a.md", old_str: "two", new_str: "2" });
  await say({
    command: "insert",
    path: "/memories/a.md",
    insert_line: 1,
    insert_text: "between\n",
  });
  assert.equal(backend.readRaw("/memories/a.md").data.content, "one\nbetween\n2\n");
  await say({ command: "rename", old_path: "/memories/a.md", new_path: "/memories/d/b.md" });
  assert.match(
    await say(
      { command: "str_replace", path: "/memories/d/b.md", old_str: "zz", new_str: "" },
      true,
    ),
    /does not appear/,
  );
  for (const path of [
    "/other",
    "/memories/../other",
    "/memoriesx",
    "/memories/%2e%2e/other",
    "/",
    "",
    7,
  ]) {
    await say({ command: "delete", path }, true);
  }
  await say({ command: "delete", path: "/memories" }, true);
  await say({ command: "format", path: "/memories/d" }, true);
  await say(null, true);
  await say({ command: "delete", path: "/memories/d" });
  assert.deepEqual(
    backend.glob("**").files.map((file) => file.path),
    ["/other"],
  );
});

test("Anthropic: the text editor tool's commands", async () => {
  const backend = new StateBackend();
  const editor = textEditorTool(backend);
  const run = (input) => editor.run(input);
  assert.equal(
    (await run({ command: "create", path: "/a.py", file_text: "a = 1\nb = 2\n" })).isError,
    false,
  );
  assert.equal(
    (await run({ command: "view", path: "/a.py" })).text,
    "     1\ta = 1\n     2\tb = 2",
  );
  assert.match((await run({ command: "view", path: "/" })).text, /\/a\.py/);
  assert.equal(
    (await run({ command: "insert", path: "/a.py", insert_line: 0, insert_text: "# top" })).isError,
    false,
  );
  assert.equal(
    (await run({ command: "insert", path: "/a.py", insert_line: 9, insert_text: "x" })).isError,
    true,
  );
  assert.equal(
    (await run({ command: "str_replace", path: "/a.py", old_str: " = ", new_str: "=" })).isError,
    true,
  );
  assert.equal((await run({ command: "delete", path: "/a.py" })).isError, true);
  assert.equal(backend.readRaw("/a.py").data.content, "# top\na = 1\nb = 2\n");
});
