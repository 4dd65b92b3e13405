// The agent toolset of `kitbag/anthropic`, called by the tool runner of Anthropic's package, beside memory and
// text editor; and the same answers as the package's own toolset gives in a folder.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { betaAgentToolset20260401 } from "@anthropic-ai/sdk/tools/agent-toolset/node";
import { begin, LocalShellBackend, StateBackend, withPolicy } from "kitbag";
import { agentToolset, textEditorTool } from "kitbag/anthropic";
import { withBash } from "kitbag/just-bash";
import { failure, folder, stranger } from "./lib.mjs";

const FILES = {
  "a.txt": "one\ntwo\nthree\n",
  "src/b.ts": "const two = 2;\nconst three = 3;\n",
  "src/deep/c.ts": "two\r\n",
  "node_modules/m/i.js": "two\n",
};

const caller = (tools) => (name, input) => tools.find((tool) => tool.name === name).run(input);

/** The result of a call: a text, or that it failed. */
const outcome = async (call, name, input) => {
  const error = await failure(call(name, input));
  return error ? "failed" : call(name, input);
};

/** Calls that both toolsets answer; `exact` is what is compared. */
const SAME = [
  ["read", { file_path: "a.txt" }],
  ["read", { file_path: "a.txt", view_range: [2, 3] }],
  ["read", { file_path: "a.txt", view_range: [2, -1] }],
  ["read", { file_path: "a.txt", view_range: [3, 2] }],
  ["read", { file_path: "a.txt", view_range: [1] }],
  ["read", { file_path: "missing" }],
  ["read", { file_path: "src" }],
  ["read", {}],
  ["read", { file_path: "../outside" }],
  ["write", { file_path: "new/d.txt", content: "é" }],
  ["write", { file_path: "src", content: "x" }],
  ["edit", { file_path: "a.txt", old_string: "none", new_string: "x" }],
  ["edit", { file_path: "missing", old_string: "a", new_string: "b" }],
  ["edit", { file_path: "a.txt", old_string: "", new_string: "b" }],
  ["edit", { file_path: "src/b.ts", old_string: "const", new_string: "let" }],
  ["glob", { pattern: "/a.txt" }],
  ["glob", { pattern: "../*" }],
  ["glob", { pattern: "*.none" }],
  ["glob", {}],
  ["grep", { pattern: "no such text" }],
  ["grep", { pattern: "(" }],
  ["bash", {}],
  ["bash", { restart: true }],
  ["bash", { command: "cat a.txt" }],
  ["bash", { command: "exit 3" }],
];

test("as Anthropic's own toolset in a folder", async (t) => {
  const workdir = folder(t);
  const rootDir = folder(t);
  for (const root of [workdir, rootDir]) {
    for (const [path, content] of Object.entries(FILES)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    }
  }
  const owners = betaAgentToolset20260401({ workdir });
  t.after(() => owners[0].close());
  const theirs = caller(owners);
  const backend = await LocalShellBackend.create({ rootDir, virtualMode: true, inheritEnv: true });
  const ours = caller(agentToolset(backend));
  for (const [name, input] of SAME) {
    const [got, wanted] = [await outcome(ours, name, input), await outcome(theirs, name, input)];
    const said = (text) => String(text).replace(/\n+$/, "");
    assert.equal(said(got), said(wanted), `${name} ${JSON.stringify(input)}`);
  }
  const edit = { file_path: "src/b.ts", old_string: "const", new_string: "let", replace_all: true };
  assert.equal(await ours("edit", edit), await theirs("edit", edit));
  const paths = async (call, root) =>
    (await call("glob", { pattern: "**/*" }))
      .split("\n")
      .map((path) => path.replace(root, ""))
      .sort();
  assert.deepEqual(await paths(ours, ""), await paths(theirs, workdir));
  const found = async (call, root) =>
    (await call("grep", { pattern: "tw[o]", path: "src" }))
      .trim()
      .split("\n")
      .map((line) => line.replace(root, "").replace("\r", ""))
      .sort();
  assert.deepEqual(await found(ours, ""), await found(theirs, workdir));
});

test("definitions: six tools with a shell, five without; the text editor beside them", () => {
  const names = (backend) =>
    agentToolset(backend)
      .map(({ name }) => name)
      .join();
  assert.equal(names(new StateBackend()), "read,write,edit,glob,grep");
  assert.equal(names(withBash(new StateBackend())), "bash,read,write,edit,glob,grep");
  assert.equal(textEditorTool(new StateBackend()).definition.name, "str_replace_based_edit_tool");
  assert.throws(
    () => agentToolset(undefined),
    /agentToolset: the first argument must be a backend/,
  );
});

test("limits: long files, long output, many paths, time", async () => {
  const many = Object.fromEntries(
    Array.from({ length: 250 }, (_, at) => [`/m/${at}.txt`, "match\n"]),
  );
  const files = {
    "/long.txt": "0123456789\n".repeat(30_000),
    "/s.txt": "9\n".repeat(6_000),
    ...many,
  };
  const call = caller(agentToolset(withBash(new StateBackend({ files }))));
  assert.match(
    (await failure(call("read", { file_path: "long.txt" }))).message,
    /at most 262144; use view_range/,
  );
  assert.equal(
    await call("read", { file_path: "long.txt", view_range: [29_999, 30_000] }),
    "0123456789\n0123456789",
  );
  const paths = (await call("glob", { pattern: "m/*" })).split("\n");
  assert.deepEqual(
    [paths.length, paths[200]],
    [201, "[only 200 of more paths; narrow the pattern]"],
  );
  assert.match(await call("grep", { pattern: "9$", path: "s.txt" }), /only 5000 of more matches/);
  assert.ok(
    (await call("grep", { pattern: "1" })).endsWith("[output truncated at 102400 characters]"),
  );
  assert.ok((await failure(call("bash", { command: "sleep 5", timeout_ms: 20 }))) instanceof Error);
});

test("files of others are searched for plain text, and expressions are refused", async () => {
  const call = caller(agentToolset(stranger(new StateBackend({ files: { "/a": "a.b\naxb\n" } }))));
  assert.equal(await call("grep", { pattern: "axb" }), "/a:2:axb");
  assert.match((await failure(call("grep", { pattern: "a.b" }))).message, /plain text only/);
});

test("binary files, the library's own files, and rules", async () => {
  const inner = new StateBackend({ files: { "/a.bin": Uint8Array.of(0, 255), "/secret/k": "k" } });
  const permissions = [{ operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" }];
  const call = caller(agentToolset(withPolicy(inner, { permissions })));
  assert.match((await failure(call("read", { file_path: "a.bin" }))).message, /not a text/);
  for (const [name, input] of [
    ["read", { file_path: "secret/k" }],
    ["write", { file_path: "/secret/k", content: "x" }],
    ["edit", { file_path: "secret/k", old_string: "k", new_string: "x" }],
    ["write", { file_path: ".kitbag/x", content: "x" }],
  ]) {
    assert.ok((await failure(call(name, input))) instanceof Error, name);
  }
  assert.equal(await call("grep", { pattern: "k" }), "no matches");
  assert.equal(inner.read("/secret/k").content, "k");
});

test("Anthropic's tool runner calls it: an agent works in a turn", async () => {
  const inner = new StateBackend({ files: { "/a.txt": "one\ntwo\n" } });
  const turn = begin(inner, { by: "agent" });
  const script = [
    ["glob", { pattern: "*" }],
    ["read", { file_path: "/a.txt" }],
    ["edit", { file_path: "a.txt", old_string: "two", new_string: "2" }],
    ["write", { file_path: "b.txt", content: "new" }],
    ["grep", { pattern: "^[2n]" }],
    ["bash", { command: "cat a.txt b.txt" }],
    ["edit", { file_path: "a.txt", old_string: "three", new_string: "3" }],
  ];
  const results = [];
  let at = 0;
  const fetch = async (_url, { body }) => {
    const { messages, tools } = JSON.parse(body);
    // Later requests continue the thread.
    if (at === 0) assert.equal(tools.length, 6);
    const last = messages.at(-1);
    if (at > 0) results.push(last.content[0]);
    const call = script[at++];
    const content = call
      ? [{ type: "tool_use", id: `c${at}`, name: call[0], input: call[1] }]
      : [{ type: "text", text: "done" }];
    const usage = { input_tokens: 1, output_tokens: 1 };
    const stop_reason = call ? "tool_use" : "end_turn";
    const message = {
      id: `m${at}`,
      type: "message",
      role: "assistant",
      model: "m",
      content,
      stop_reason,
      usage,
    };
    return new Response(JSON.stringify(message), {
      headers: { "content-type": "application/json" },
    });
  };
  const client = new Anthropic({ apiKey: "none", baseURL: "http://127.0.0.1:1", fetch });
  const message = await client.beta.messages.toolRunner({
    model: "m",
    max_tokens: 100,
    messages: [{ role: "user", content: "go" }],
    tools: agentToolset(withBash(turn)),
  });
  assert.equal(message.content[0].text, "done");
  const texts = results.map(({ content }) =>
    typeof content === "string" ? content : content[0].text,
  );
  assert.deepEqual(texts.slice(0, 6), [
    "/a.txt",
    "one\ntwo\n",
    "edited a.txt (1 replacement(s))",
    "wrote 3 bytes to b.txt",
    "/a.txt:2:2\n/b.txt:1:new",
    "one\n2\nnew",
  ]);
  assert.equal(results[6].is_error, true);
  assert.match(texts[6], /edit: .*not found/i);
  assert.deepEqual(Object.keys(inner.snapshot()), ["/a.txt"]);
  await turn.commit();
  assert.equal(inner.read("/b.txt").content, "new");
});
