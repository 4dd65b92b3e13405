// The tools of the component against those of the npm package: the same calls of a model, the same answers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createFileTools, StateBackend } from "../lib/kitbag.mjs";
import { instance } from "./load.mjs";
import { errorOf, stateOptions } from "./protocol.mjs";

const { Backend, ToolSet } = instance();

const usual = {
  descriptions: [],
  resultTokens: { tag: "usual" },
  editsUnread: false,
};
const EVERY = [
  ...["ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep"],
  ...["move_file", "copy_file", "append_file"],
];

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const lines = (count) =>
  Array.from({ length: count }, (_, at) => `line ${at} of a file that is long`).join("\n");

/** Calls of one task, in order: name and arguments, as an object or as a text. */
const CALLS = [
  ["ls", {}],
  ["write_file", { file_path: "/notes.txt", content: "one\ntwo\nthree\n" }],
  ["write_file", { path: "notes.txt", content: "again" }],
  ["read_file", { file_path: "/notes.txt" }],
  ["read_file", { filePath: "//notes.txt", offset: "1", limit: 1.9 }],
  ["edit_file", { file_path: "/notes.txt", old_string: "two", new_string: "2" }],
  ["edit_file", { file_path: "/notes.txt", old_string: "four", new_string: "4" }],
  ["edit_file", { file_path: "/notes.txt", old_string: "e", new_string: "E" }],
  ["edit_file", { file_path: "/notes.txt", old_string: "e", new_string: "E", replace_all: "true" }],
  ["append_file", { file_path: "/notes.txt", content: "the end\u{1f600}" }],
  ["copy_file", { from_path: "/notes.txt", to_path: "/docs/copy.md" }],
  ["move_file", { from_path: "/docs/copy.md", to_path: "/docs/moved.md" }],
  ["read_file", { file_path: "/docs/moved.md" }],
  ["read_file", { file_path: "/docs" }],
  ["read_file", { file_path: "/missing" }],
  ["edit_file", { file_path: "/unread.txt", old_string: "a", new_string: "b" }],
  ["write_file", { file_path: "/long.txt", content: lines(5000) }],
  ["read_file", { file_path: "/long.txt", limit: 5000 }],
  ["grep", { pattern: "line 4", output_mode: "content" }],
  ["grep", { pattern: "line 4", glob: "*.txt", output_mode: "count" }],
  ["grep", { pattern: "(", path: "/" }],
  ["grep", { pattern: "E", output_mode: "files_with_matches" }],
  ["glob", { pattern: "**/*.md" }],
  ["glob", { pattern: "[" }],
  ["write_file", { file_path: "/pixel.png", content: PIXEL }],
  ["read_file", { file_path: "/pixel.png" }],
  ["write_file", { file_path: "/bad.png", content: "no base64!" }],
  ["delete", { file_path: "/docs" }],
  ["delete", { file_path: "/docs" }],
  ["ls", { path: "/" }],
  ["ls", ""],
  ["ls", "null"],
  ["ls", '"{\\"path\\":\\"/\\"}"'],
  ["ls", "[1]"],
  ["ls", "7"],
  ["ls", '"words"'],
  ["ls", '{"path":"/","path":"/docs"}'],
  ["ls", '{"path":["/"]}'],
  ["ls", '{"path":{"a":[1,{"path":"/b"}]}}'],
  ["read_file", '{"file_path":"/notes.txt","offset":1e0,"limit":-3}'],
  ["read_file", '{"file_path":"/notes.txt","offset":1e300}'],
  ["read_file", '{"file_path":"/notes.txt","offset":1e999,"limit":12.5e-1}'],
  ["read_file", '{"file_path":"/notes.txt","limit":true}'],
  ["read_file", '{"file_path":"\\u002fnotes.txt","x":"\\ud83d\\ude00"}'],
  ["read_file", { limit: 3 }],
  ["execute", { command: "ls" }],
  ["no_such_tool", {}],
];

const jsonOf = (input) => (typeof input === "string" ? input : JSON.stringify(input));

/** An answer of the component in the form of the npm package's. */
function shown({ blocks, isError }) {
  return {
    isError,
    blocks: blocks.map(({ tag, val }) =>
      tag === "text"
        ? { type: "text", text: val }
        : {
            type: val.kind,
            mimeType: val.mimeType,
            data: Buffer.from(val.body).toString("base64"),
          },
    ),
  };
}

test("every call is answered as by the npm package", async (t) => {
  const npm = createFileTools(new StateBackend(), { tools: EVERY });
  const backend = Backend.state(stateOptions());
  const set = ToolSet.create({ ...usual, tools: EVERY });
  for (const [at, [name, input]] of CALLS.entries()) {
    await t.test(`${at}: ${name} ${jsonOf(input).slice(0, 60)}`, async () => {
      const json = jsonOf(input);
      const { content, isError } = await npm.call(name, json, { id: `call_${at}` });
      const seen = shown(set.call(backend, name, json, `call_${at}`));
      assert.deepEqual(seen, {
        isError,
        blocks: content.map(({ type, text, mimeType, data }) =>
          type === "text" ? { type, text } : { type, mimeType, data },
        ),
      });
    });
  }
  t.diagnostic(`${CALLS.length} calls`);
});

test("definitions have the names and the schemas of the npm package", () => {
  const npm = createFileTools(new StateBackend(), { tools: EVERY });
  const set = ToolSet.create({ ...usual, tools: EVERY });
  const seen = set.definitions(Backend.state(stateOptions()));
  assert.deepEqual(
    seen.map(({ name, inputSchema }) => ({ name, schema: JSON.parse(inputSchema) })),
    npm.tools.map(({ name, inputSchema }) => ({ name, schema: inputSchema })),
  );
  assert.ok(seen.every(({ description }) => description.length > 20));
});

test("commands are a tool where the host runs them", () => {
  const asked = [];
  const { Backend, ToolSet } = instance({
    execute(id, command, timeoutMs) {
      asked.push([id, command, timeoutMs]);
      return { output: "done", exitCode: 3, truncated: false };
    },
  });
  const state = Backend.state(stateOptions());
  const backend = state.withShell("box");
  const set = ToolSet.create(usual);
  const names = (of) => set.definitions(of).map(({ name }) => name);
  assert.ok(!names(state).includes("execute") && names(backend).includes("execute"));
  assert.equal(state.shellId(), undefined);
  assert.equal(backend.shellId(), "box");
  assert.match(set.systemPrompt(backend), /execute/);
  const answer = set.call(backend, "execute", '{"command":"make","timeout":2}', "1");
  assert.match(answer.blocks[0].val, /^done\n.*3/s);
  assert.deepEqual(asked, [["box", "make", 2000n]]);
});

test("wrong JSON is refused with what the tool takes", () => {
  const backend = Backend.state(stateOptions());
  const set = ToolSet.create(usual);
  const deep = "[".repeat(1e6);
  for (const wrong of ["{", '{"path":}', '{"path":"/"} x', deep, '{"path":"/\u0000"}', "{'a':1}"]) {
    const { isError, blocks } = set.call(backend, "ls", wrong, "1");
    assert.ok(isError, wrong.slice(0, 20));
    assert.match(blocks[0].val, /^Error: The input is not valid JSON: [\s\S]*\nls takes: \[path/);
  }
  const { isError } = set.call(backend, "ls", "{}", "1");
  assert.ok(!isError);
});

test("a tool that does not exist is refused when the set is made", () => {
  const error = errorOf(() => ToolSet.create({ ...usual, tools: ["ls", "format_disk"] }));
  assert.equal(error?.code, "invalid-argument");
  assert.match(error.message, /format_disk/);
});
