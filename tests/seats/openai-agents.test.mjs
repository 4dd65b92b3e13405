// The editor and the shell of `kitbag/openai` with OpenAI Agents. Its own `applyDiff` is the oracle: the
// editor makes the same of a file, or fails where it fails, by hand-made and by random differences.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Agent,
  applyDiff,
  applyPatchTool,
  Runner,
  setTracingDisabled,
  shellTool,
  Usage,
} from "@openai/agents-core";
import { begin, StateBackend, withPolicy } from "kitbag";
import { withBash } from "kitbag/just-bash";
import { commandShell, patchEditor } from "kitbag/openai";
import { BACKENDS, dice } from "./lib.mjs";

setTracingDisabled(true);

const oracle = (...args) => {
  try {
    return applyDiff(...args);
  } catch {
    return undefined;
  }
};

/** What the editor makes of a content; undefined if it fails, and then nothing was changed. */
async function edited(content, diff) {
  const backend = new StateBackend({ files: { "/a": content } });
  const { status } = await patchEditor(backend).updateFile({
    type: "update_file",
    path: "a",
    diff,
  });
  const now = backend.readRaw("/a").data.content;
  if (status === "completed") return now;
  assert.equal(now, content);
  return undefined;
}

const CLASSES =
  "class A\n  def go():\n    pass\n\nclass B\n  def stop():\n    pass\n\n  def go():\n    pass\n";

/** Contents and differences, by what they show. */
const DIFFS = {
  "into an empty file": ["", "@@\n+hello\n+world"],
  "without a marker": ["one\ntwo", "-one\n+uno"],
  "signs within lines": [
    "- Milk\n- Bread\n- Tea",
    "@@\n - Milk\n -Bread\n-- Bread\n+- [x] Bread\n - Tea",
  ],
  "a replaced line": ["1\n2\n3\n", "@@ 1\n-2\n+two\n 3"],
  "a deleted line": ["keep\ngone\nstay\n", "@@ keep\n-gone\n stay"],
  "two sections": [
    CLASSES,
    "@@ class A\n   def go():\n-    pass\n+    return 1\n@@ class B\n   def stop():\n-    pass\n+    return 2",
  ],
  "stacked anchors": [CLASSES, "@@ class B\n@@   def go():\n-    pass\n+    return 3"],
  "stacked anchors, one unknown": [CLASSES, "@@ class C\n@@   def go():\n-    pass\n+    return 3"],
  "one unknown anchor": ["a\nb\n", "@@ nothing\n-b\n+B"],
  "an empty anchor at the end": [CLASSES, "@@ class A\n@@\n-    pass\n+    1"],
  "line numbers": ["one\ntwo\n", "@@ -1,2 +1,2 @@\n one\n-two\n+2"],
  "lines that are not there": ["one\ntwo\n", "@@\n x\n-two\n+2"],
  "an insertion": ["import os\n\ndef main():\n  run()", " import os\n+import sys\n\n def main():"],
  "white space at the end": ["one  \ntwo\n", "-one\n+1"],
  "white space at the beginning": ["    one\ntwo\n", "-one\n+1"],
  "the end of the file": ["x\ny\nx\n", "@@\n-x\n+z\n*** End of File"],
  "not the end of the file": ["x\ny\n", "@@\n-x\n+z\n*** End of File"],
  "Windows' line endings": ["one\r\ntwo\r\nthree\r\n", "@@\n one\n-two\n+2\n three"],
  "mixed line endings": ["one\r\ntwo\nthree", "-two\n+2"],
  "a difference with Windows' line endings": ["one\ntwo\n", "@@\r\n-two\r\n+2\r\n"],
  "no difference": ["one\ntwo", ""],
  "context only": ["Old", " Old"],
  "the end of a patch": ["one", "-one\n+1\n*** End Patch\nmore"],
  "a line without a sign": ["one", "-one\nmore"],
  "a section without lines": ["one\n", "@@ one\n@@ two"],
  "three stars": ["one\n", "***\n-one"],
  "stars that mean nothing": ["one\n", "*** Move to: x\n-one"],
  "an anchor without a space": ["one\n", "@@one\n-one"],
  "sections in the wrong order": ["1\n2\n3\n", "@@\n-3\n+c\n@@\n-1\n+a"],
  "adds before removals": ["1\n2\n", "+0\n-1\n+1b\n 2"],
};

for (const [name, [content, diff]] of Object.entries(DIFFS)) {
  test(`V4A: ${name}`, async () => {
    assert.equal(await edited(content, diff), oracle(content, diff));
  });
}

const CREATED = {
  plain: "+a\n+b\n+",
  empty: "",
  "a line without a plus": "+a\nb",
  end: "+a\n*** End Patch",
  crlf: "+a\r\n+b",
};
for (const [name, diff] of Object.entries(CREATED)) {
  test(`V4A, a new file: ${name}`, async () => {
    const backend = new StateBackend({ files: {} });
    const { status } = await patchEditor(backend).createFile({
      type: "create_file",
      path: "d/a",
      diff,
    });
    const wanted = oracle("", diff, "create");
    assert.equal(status === "completed" ? backend.readRaw("/d/a").data.content : undefined, wanted);
  });
}

const CASES = Number(process.env.KITBAG_SEATS_SEEDS ?? 40) * 30;

test(`V4A: ${CASES} random differences as applyDiff applies them`, async () => {
  const roll = dice(33);
  const words = ["a", "b", " a", "a ", "", "  b", "c"];
  const pick = (from) => from[roll(from.length)];
  let [applied, refused] = [0, 0];
  for (let at = 0; at < CASES; at++) {
    const lines = Array.from({ length: roll(8) }, () => pick(words));
    const content = lines.join(pick(["\n", "\n", "\r\n"])) + pick(["", "\n"]);
    const diff = [];
    let from = roll(lines.length + 1);
    for (let part = roll(3); part >= 0; part--) {
      for (let anchors = roll(3); anchors > 0; anchors--)
        diff.push(pick(["@@", "@@ a", "@@ b", `@@ ${pick(words)}`]));
      for (let some = roll(5); some > 0; some--) {
        const real = roll(6) > 0 && from < lines.length ? lines[from++] : pick(words);
        diff.push(
          pick([
            ` ${real}`,
            ` ${real}`,
            `-${real}`,
            `-${real}`,
            `+${pick(words)}`,
            real === "" ? "" : ` ${real}`,
          ]),
        );
      }
      if (roll(8) === 0) diff.push("*** End of File");
      if (roll(40) === 0) diff.push(pick(["***", "*** End Patch", "*** x", "x", "@@x"]));
      from = Math.min(lines.length, from + roll(2));
    }
    const text = diff.join(pick(["\n", "\n", "\r\n"])) + pick(["", "\n"]);
    const wanted = oracle(content, text);
    assert.equal(await edited(content, text), wanted, JSON.stringify([content, text]));
    if (wanted === undefined) refused += 1;
    else applied += 1;
  }
  assert.ok(applied > CASES / 10 && refused > CASES / 10, `${applied} applied, ${refused} refused`);
});

for (const [kind, make] of Object.entries(BACKENDS)) {
  test(`${kind}: files are created, changed, moved and deleted`, async (t) => {
    const backend = await make(t);
    const editor = patchEditor(backend);
    const text = async (path) =>
      new TextDecoder().decode((await backend.downloadFiles([path]))[0].content ?? undefined);
    const create = (path, diff) => editor.createFile({ type: "create_file", path, diff });
    const update = (path, diff, moveTo) =>
      editor.updateFile({ type: "update_file", path, diff, moveTo });
    const remove = (path) => editor.deleteFile({ type: "delete_file", path });
    assert.deepEqual(await create("src/a.txt", "+one\n+"), {
      status: "completed",
      output: "Created src/a.txt",
    });
    const twice = await create("/src/a.txt", "+two");
    assert.equal(twice.status, "failed");
    assert.match(twice.output, /EEXIST.*create '\/src\/a.txt'/);
    assert.equal((await update("src/a.txt", "-one\n+1")).status, "completed");
    assert.equal(await text("/src/a.txt"), "1\n");
    const wrong = await update("src/a.txt", "-nine\n+9", "lib/b.txt");
    assert.match(wrong.output, /not behind line 0:\nnine/);
    assert.equal((await update("src/a.txt", "-1\n+eins", "lib/b.txt")).status, "completed");
    assert.equal(await text("/lib/b.txt"), "eins\n");
    assert.match((await update("src/a.txt", "-1\n+2")).output, /ENOENT/);
    await create("c.txt", "+c");
    assert.match((await update("c.txt", " c", "lib/b.txt")).output, /EEXIST/);
    assert.equal(await text("/lib/b.txt"), "eins\n");
    assert.match((await remove("lib")).output, /EISDIR/);
    assert.equal((await remove("lib/b.txt")).status, "completed");
    assert.match((await remove("lib/b.txt")).output, /ENOENT/);
  });
}

test("of 50 patches of one file at once none is lost", async () => {
  const backend = new StateBackend({
    files: { "/log": Array.from({ length: 50 }, (_, at) => `line ${at}`).join("\n") },
  });
  const editor = patchEditor(backend);
  const results = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      editor.updateFile({ type: "update_file", path: "log", diff: `-line ${at}\n+done ${at}` }),
    ),
  );
  assert.ok(results.every(({ status }) => status === "completed"));
  assert.ok(!backend.read("/log").content.includes("line"));
});

test("bytes that are no text, and wrong arguments", async () => {
  const backend = new StateBackend({ files: { "/a.bin": Uint8Array.of(255, 0) } });
  const { status, output } = await patchEditor(backend).updateFile({
    type: "update_file",
    path: "a.bin",
    diff: "-x",
  });
  assert.deepEqual([status, output], ["failed", "a.bin is not a text."]);
  assert.throws(() => patchEditor(undefined), /patchEditor: the first argument must be a backend/);
  assert.throws(() => patchEditor({ ls() {} }), /patchEditor: the backend must have/);
  assert.throws(() => commandShell(backend), /commandShell: the backend cannot run commands/);
});

test("the shell: one command after the other, limits, refusals", async () => {
  const shell = commandShell(withBash(new StateBackend({ files: { "/a": "one\n" } })));
  const { output } = await shell.run({
    commands: ["cat a", "exit 3", "echo longer"],
    maxOutputLength: 4,
  });
  assert.deepEqual(output, [
    { stdout: "one\n", stderr: "", outcome: { type: "exit", exitCode: 0 } },
    { stdout: "", stderr: "", outcome: { type: "exit", exitCode: 3 } },
    { stdout: "long", stderr: "", outcome: { type: "exit", exitCode: 0 } },
  ]);
  const late = await shell.run({ commands: ["sleep 5", "echo never"], timeoutMs: 30 });
  assert.deepEqual(
    late.output.map(({ outcome }) => outcome),
    [{ type: "timeout" }],
  );
  const guarded = withPolicy(withBash(new StateBackend()), { readOnly: true });
  const refused = await commandShell(guarded).run({ commands: ["echo x"] });
  const [{ stdout, stderr, outcome }] = refused.output;
  assert.match(stdout + stderr, /permission denied|allowExecute/);
  assert.notEqual(outcome.exitCode, 0);
});

test("an agent of OpenAI Agents patches and runs commands in a turn", async () => {
  const inner = new StateBackend({ files: { "/a.txt": "one\ntwo\n" } });
  const turn = begin(inner, { by: "agent" });
  const script = [
    {
      type: "apply_patch_call",
      operation: { type: "update_file", path: "a.txt", diff: "-two\n+2" },
    },
    { type: "apply_patch_call", operation: { type: "create_file", path: "b.txt", diff: "+new" } },
    { type: "shell_call", action: { commands: ["cat a.txt b.txt"] } },
    { type: "apply_patch_call", operation: { type: "update_file", path: "a.txt", diff: "-three" } },
  ];
  const seen = [];
  let at = 0;
  const model = {
    async getResponse({ input }) {
      const last = Array.isArray(input) ? input.at(-1) : undefined;
      if (at > 0) seen.push(last);
      const call = script[at++];
      const output = call
        ? [{ ...call, id: `i${at}`, callId: `c${at}`, status: "completed" }]
        : [
            {
              type: "message",
              role: "assistant",
              status: "completed",
              content: [{ type: "output_text", text: "done" }],
            },
          ];
      return { usage: new Usage(), output, responseId: `r${at}` };
    },
    getStreamedResponse() {
      throw new Error("not streamed");
    },
  };
  const agent = new Agent({
    name: "patcher",
    model,
    tools: [
      applyPatchTool({ editor: patchEditor(turn) }),
      shellTool({ shell: commandShell(withBash(turn)) }),
    ],
  });
  const { finalOutput } = await new Runner().run(agent, "go");
  assert.equal(finalOutput, "done");
  assert.deepEqual(seen.map(({ type, status }) => [type, status]).slice(0, 2), [
    ["apply_patch_call_output", "completed"],
    ["apply_patch_call_output", "completed"],
  ]);
  assert.match(JSON.stringify(seen[2].output), /one\\n2\\nnew/);
  assert.equal(seen[3].status, "failed");
  assert.equal(inner.read("/a.txt").content, "one\ntwo\n");
  await turn.commit();
  assert.equal(inner.read("/a.txt").content, "one\n2\n");
});
