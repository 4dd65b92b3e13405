// createFileTools without any framework: the task, a hostile model, offloading, policies, factories.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createFileTools, resolveBackend, StateBackend } from "kitbag";
import { checkTask, idOf, LARGE, STEPS } from "./task.mjs";

async function play(files, steps = STEPS) {
  const said = [];
  for (const [at, [name, input]] of steps.entries()) {
    const callId = idOf(at);
    said.push(
      name === "large_report"
        ? await files.offload(LARGE, { callId, toolName: name })
        : await files.tools.find((tool) => tool.name === name).execute(input, { callId }),
    );
  }
  return said;
}

test("the task of fourteen steps", async () => {
  const backend = new StateBackend();
  await checkTask(await play(createFileTools(backend)), backend);
});

test("descriptions and prompt together cost at most 1,200 tokens", () => {
  const { tools, systemPrompt } = createFileTools(new StateBackend());
  const words = [systemPrompt];
  for (const tool of tools)
    words.push(tool.name, tool.description, JSON.stringify(tool.inputSchema));
  const tokens = Math.ceil(words.join("").length / 4);
  console.log(`# ${tokens} tokens with all schemas`);
  assert.ok(tokens <= 1_200, `${tokens}`);
});

test("a foreign backend, a factory, and a first-version object do the same", async () => {
  const inner = new StateBackend();
  const foreign = {};
  for (const name of [
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
  ]) {
    foreign[name] = async (...rest) => inner[name](...rest);
  }
  await checkTask(await play(createFileTools(foreign)), inner);
  const other = new StateBackend();
  const runtimes = [];
  const factory = (runtime) => {
    runtimes.push(runtime);
    return other;
  };
  const files = createFileTools(factory);
  await checkTask(await play(files), other);
  await files.call("ls", {}, { runtime: 7 });
  assert.equal(runtimes.at(-1), 7);
  assert.equal(await resolveBackend(factory, 1), other);
});

test("a mirror of a caller's state hands its changes on", async () => {
  const state = { files: {} };
  const files = createFileTools(() => new StateBackend({ state }));
  const result = await files.call("write_file", { file_path: "/a", content: "x" });
  assert.equal(result.filesUpdate["/a"].content, "x");
});

test("options are refused by name", () => {
  for (const [options, expected] of [
    [{ tools: ["rm"] }, /"tools"/],
    [{ customToolDescriptions: { rm: "x" } }, /"customToolDescriptions"/],
    [{ maxExecuteTimeout: -1 }, /"maxExecuteTimeout"/],
    [{ requireRead: true }, /no option "requireRead"/],
  ]) {
    assert.throws(() => createFileTools(new StateBackend(), options), expected);
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

test("five hundred hostile calls: five hundred texts, no throw, the policy intact", async () => {
  const inner = new StateBackend({
    files: { "/secret/key": "TOP-SECRET-1", "/open/a": "hello\n" },
  });
  const backend = createFileTools(inner, {
    permissions: [{ operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" }],
  });
  let seed = 42;
  const random = (below) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 8) % below;
  };
  const pick = (list) => list[random(list.length)];
  const cyclic = {};
  cyclic.self = cyclic;
  const paths = [
    "/secret/key",
    "secret/key",
    "//secret//key",
    "/open/../secret/key",
    "/./secret/key",
    "/secret/key/",
    "/SECRET/key",
    "/secret%2fkey",
    "/open/%2e%2e/secret/key",
    "C:\\secret\\key",
    "~/secret/key",
    "\0/secret/key",
    "",
    "/",
    "/secret",
    "x".repeat(5_000),
    "/open/a",
    "😀",
    "\ud800",
    "__proto__",
  ];
  const values = [
    null,
    undefined,
    true,
    -1,
    0,
    1e308,
    -1e308,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 53,
    "1",
    "NaN",
    "",
    "TOP",
    [],
    {},
    [["a"]],
    { toString: 1 },
    "*".repeat(3_000),
    "{".repeat(3_000),
    "(a+)+$",
    "[",
    "**/*",
    "/secret/**",
    "y".repeat(100_000),
    ...paths,
  ];
  const names = [
    "ls",
    "read_file",
    "write_file",
    "edit_file",
    "delete",
    "glob",
    "grep",
    "execute",
    "rm",
    "",
    "__proto__",
    "constructor",
    "read_file ",
    "LS",
  ];
  const keys = [
    "file_path",
    "path",
    "content",
    "old_string",
    "new_string",
    "replace_all",
    "pattern",
    "glob",
    "output_mode",
    "max_count",
    "regex",
    "before",
    "after",
    "offset",
    "limit",
    "column",
    "command",
    "timeout",
    "__proto__",
    "extra",
  ];
  let texts = 0;
  for (let at = 0; at < 500; at++) {
    let input = {};
    for (const key of keys)
      if (random(3) > 0)
        Object.defineProperty(input, key, {
          value: pick(key.includes("path") ? [...paths, ...values] : values),
          enumerable: true,
          configurable: true,
        });
    if (random(12) === 0)
      input = pick([...values, "{", "[1", '{"a":', cyclic, () => 1, 1n, Symbol("s")]);
    const result = await backend.call(pick(names), input, { callId: pick(paths) });
    assert.equal(typeof result.text, "string");
    assert.ok(result.text.length > 0 && result.text.length < 100_000, `${result.text.length}`);
    assert.ok(!result.text.includes("TOP-SECRET-1"), result.text);
    texts++;
  }
  assert.equal(texts, 500);
  assert.equal(inner.readRaw("/secret/key").data.content, "TOP-SECRET-1");
  assert.deepEqual(
    inner.glob("secret/**").files.map((file) => file.path),
    ["/secret/key"],
  );
});
