// The tools of the component against those of the npm package: the same calls of a model, the same answers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createFileTools, StateBackend } from "../lib/kitbag.mjs";
import { CALLS, EVERY, jsonOf } from "./calls.mjs";
import { instance } from "./load.mjs";
import { errorOf, stateOptions } from "./protocol.mjs";

const { Backend, ToolSet } = instance();

const usual = {
  descriptions: [],
  resultTokens: { tag: "usual" },
  editsUnread: false,
};
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
