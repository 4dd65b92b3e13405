// createFileTools without any framework: whatever backend it is given, options, offloading.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createFileTools, resolveBackend, StateBackend, toV1 } from "kitbag";
import { LARGE } from "../cases/material.mjs";
import { Script } from "../cases/script.mjs";
import { BARE_TASK, TASK } from "../cases/task.mjs";
import * as plain from "../drivers/plain.mjs";
import { run } from "../drivers/run.mjs";

test("descriptions and prompt together cost at most 1,200 tokens", () => {
  const { tools, systemPrompt } = createFileTools(new StateBackend());
  const words = [systemPrompt];
  for (const tool of tools)
    words.push(tool.name, tool.description, JSON.stringify(tool.inputSchema));
  const tokens = Math.ceil(words.join("").length / 4);
  console.log(`# ${tokens} tokens with all schemas`);
  assert.ok(tokens <= 1_200, `${tokens}`);
});

/** The task over the tree as `given` hands it to the tools. */
async function through(given, options) {
  const play = (backend, script) => plain.play(given(backend), script, options);
  return (await run({ play, steps: TASK }, new StateBackend())).faults;
}

test("a foreign backend does the same", async () => {
  const foreign = (backend) => {
    const object = { id: backend.id };
    for (const name of METHODS) object[name] = async (...rest) => backend[name](...rest);
    return object;
  };
  assert.deepEqual(await through(foreign), []);
});

const METHODS = [
  "ls",
  "read",
  "readRaw",
  "grep",
  "glob",
  "write",
  "edit",
  "delete",
  "uploadFiles",
  "downloadFiles",
  "execute",
];

test("a factory is asked at each call, and does the same", async () => {
  let asked = 0;
  const factory = (backend) => async () => {
    asked += 1;
    return backend;
  };
  const tools = ["ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep", "execute"];
  assert.deepEqual(await through(factory, { tools }), []);
  assert.equal(asked, TASK.length);
  const backend = new StateBackend();
  const given = (runtime) => (runtime === 7 ? backend : undefined);
  const { text } = await createFileTools(given).call("ls", {}, { runtime: 7 });
  assert.match(text, /\/ has no files/);
  assert.equal(await resolveBackend(given, 7), backend);
});

test("an object of the first version does the same, as far as that goes", async () => {
  const inner = new StateBackend();
  const script = new Script(BARE_TASK);
  script.finished(await plain.play(toV1(inner), script));
  assert.deepEqual(script.faults, []);
  assert.equal(inner.readRaw("/notes/b.md").data.content, "x = 1\ny = 2\nx = 3\n");
});

test("a mirror of a caller's state hands its changes on", async () => {
  const state = { files: {} };
  const files = createFileTools(() => new StateBackend({ state }));
  const result = await files.call("write_file", { file_path: "/a", content: "x" });
  assert.equal(result.filesUpdate["/a"].content, "x");
});

test("options are refused by name", async (t) => {
  for (const [options, expected] of [
    [{ tools: ["rm"] }, /"tools"/],
    [{ customToolDescriptions: { rm: "x" } }, /"customToolDescriptions"/],
    [{ maxExecuteTimeout: -1 }, /"maxExecuteTimeout"/],
    [{ requireRead: true }, /no option "requireRead"/],
  ]) {
    await t.test(String(expected), async () => {
      assert.throws(() => createFileTools(new StateBackend(), options), expected);
    });
  }
  assert.throws(() => createFileTools({}), TypeError);
});

test("pictures come as blocks", async () => {
  const backend = new StateBackend({ files: { "/a.png": new Uint8Array([1, 2, 3]) } });
  const [read] = createFileTools(backend, { tools: ["read_file"] }).tools;
  assert.deepEqual(await read.execute({ file_path: "/a.png" }), [
    { type: "text", text: "/a.png (image/png, 3 bytes)" },
    { type: "image", mimeType: "image/png", data: "AQID" },
  ]);
});

test("five megabytes cost under 2,000 tokens and every line is read back", async () => {
  const backend = new StateBackend();
  const files = createFileTools(backend);
  const rows = Array.from({ length: 70_000 }, (_, at) => `${at} ${"é".repeat(68)}`);
  const large = rows.join("\n");
  assert.ok(large.length > 5_000_000);
  const note = await files.offload(large, { callId: "a/b", toolName: "other" });
  console.log(
    `# ${large.length} characters became ${note.length}, ${Math.ceil(note.length / 4)} tokens`,
  );
  assert.ok(note.length / 4 < 2_000);
  const seen = [];
  for (let offset = 0; offset !== undefined; ) {
    const { text } = await files.call("read_file", {
      file_path: "/large_tool_results/a_b",
      offset,
      limit: 1_000,
    });
    for (const row of text.split("\n"))
      if (!row.startsWith("[")) seen.push(row.slice(row.indexOf("\t") + 1));
    const next = /offset=(\d+)\]$/.exec(text);
    offset = next ? Number(next[1]) : undefined;
  }
  assert.ok(seen.join("\n") === large);
});

test("blocks keep their pictures when their text is moved", async () => {
  const files = createFileTools(new StateBackend());
  const picture = { type: "image", mimeType: "image/png", data: "AQID" };
  const [text, kept] = await files.offload([{ type: "text", text: LARGE }, picture], {
    callId: "c",
  });
  assert.match(text.text, /\/large_tool_results\/c\n/);
  assert.deepEqual(kept, picture);
  const message = await files.offloadMessage("m".repeat(200_001), { messageId: "m1" });
  assert.match(message, /\/conversation_history\/m1\.md/);
});
