// kitbag/unchanged: a page that the model still sees is answered with one line, by what each framework
// shows its model: also after it has summarized or cleared messages away.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fakeModel } from "@langchain/core/testing";
import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { createSummarizationMiddleware } from "deepagents";
import { createFileTools, StateBackend } from "kitbag";
import { fileTools as aiTools } from "kitbag/ai";
import { fileTools as anthropicTools } from "kitbag/anthropic";
import { kitbagMiddleware } from "kitbag/langchain";
import { fileTools as openaiTools } from "kitbag/openai";
import { unchangedReads } from "kitbag/unchanged";
import {
  AIMessage,
  ClearToolUsesEdit,
  contextEditingMiddleware,
  createAgent,
  summarizationMiddleware,
} from "langchain";

const PAGE = Array.from({ length: 60 }, (_, at) => `line ${at + 1} of the file\n`).join("");
const READ = { file_path: "/a.txt" };
const LINE = /^\[Unchanged \(lines 1 to 60\): .* read_file call call_0 .*force=true/;

const isShort = (text) => text.startsWith("[Unchanged");

/** Tools in a loop of one's own: every result stays in front of the model until `forget`. */
function loop(files = { "/a.txt": PAGE, "/b.txt": PAGE }) {
  const backend = new StateBackend({ files });
  const tools = createFileTools(backend, { unchanged: unchangedReads() });
  const results = new Map();
  let last = 0;
  const call = async (name, input, more = { shown: (id) => results.get(id) }) => {
    const callId = `call_${last++}`;
    const { text } = await tools.call(name, input, { callId, ...more });
    results.set(callId, text);
    return text;
  };
  return { backend, tools, call, forget: () => results.clear() };
}

test("the same page with the same bytes is one line, and says where it stands", async () => {
  const { call } = loop();
  const whole = await call("read_file", READ);
  assert.ok(whole.includes("line 60 of the file"));
  const again = await call("read_file", READ);
  assert.match(again, LINE);
  assert.ok(!again.includes("\n") && again.length < 200);
  assert.match(await call("read_file", JSON.stringify(READ)), LINE);
});

test("another page, another file and changed bytes are sent", async () => {
  const { call, backend } = loop();
  await call("read_file", READ);
  assert.ok(!isShort(await call("read_file", { ...READ, offset: 1 })));
  assert.ok(!isShort(await call("read_file", { file_path: "/b.txt" })));
  backend.edit("/a.txt", "line 7 ", "line seven ");
  assert.ok(!isShort(await call("read_file", READ)));
  // As it was before: that result is still there.
  backend.edit("/a.txt", "line seven ", "line 7 ");
  assert.match(await call("read_file", READ), LINE);
});

test("force sends the page again, and read before edit still holds", async () => {
  const { call } = loop();
  const whole = await call("read_file", READ);
  assert.equal(await call("read_file", { ...READ, force: true }), whole);
  assert.ok(isShort(await call("read_file", READ)));
  const edit = { file_path: "/a.txt", old_string: "line 7 ", new_string: "seven " };
  assert.match(await call("edit_file", edit), /Replaced|Edited|occurrence/i);
});

test("what the model no longer sees, or nobody says that it sees, is sent whole", async () => {
  const { call, forget } = loop();
  const whole = await call("read_file", READ);
  assert.equal(await call("read_file", READ, {}), whole);
  forget();
  assert.equal(await call("read_file", READ), whole);
  assert.ok(isShort(await call("read_file", READ)));
});

test("short pages, errors and media are sent as they are", async () => {
  const { call } = loop({ "/a.txt": "short\n", "/b.png": new Uint8Array(900) });
  for (const file_path of ["/a.txt", "/b.png", "/none.txt"]) {
    const whole = await call("read_file", { file_path });
    assert.equal(await call("read_file", { file_path }), whole, file_path);
  }
});

test("without the option nothing changes, and with it read_file has one argument more", () => {
  const properties = (options) => {
    const { tools } = createFileTools(new StateBackend(), options);
    return tools.map(({ inputSchema }) => Object.keys(inputSchema.properties).join());
  };
  const [off, on] = [properties(), properties({ unchanged: unchangedReads() })];
  assert.deepEqual(
    on.filter((names, at) => names !== off[at]),
    [`${off[1]},force`],
  );
  assert.throws(() => createFileTools(new StateBackend(), { unchanged: {} }), /unchangedReads/);
});

/** Runs an agent whose model reads the same page so many times; the results that it was given. */
async function agentReads(times, middleware, files = { "/a.txt": PAGE }) {
  const model = fakeModel();
  const given = [];
  let turn = 0;
  const answer = (messages) => {
    // deepagents has the agent's own model sum up.
    if (messages.length === 1 && turn > 0) return new AIMessage("All was read.");
    const last = messages.at(-1);
    if (last.getType() === "tool") given.push(last.content);
    if (turn === times) return new AIMessage("done");
    const call = { id: `call_${turn++}`, name: "read_file", args: READ, type: "tool_call" };
    return new AIMessage({ content: "", tool_calls: [call] });
  };
  for (let at = 0; at < times * 3; at++) model.respond(answer);
  const backend = new StateBackend({ files, scope: "instance" });
  const own = kitbagMiddleware(backend, { unchanged: unchangedReads() });
  const agent = createAgent({ model, tools: [], middleware: [...middleware(backend), own] });
  await agent.invoke({ messages: [{ role: "user", content: "go" }] }, { recursionLimit: 100 });
  return given;
}

/** A model that sums up. */
function summarizer() {
  const model = fakeModel();
  for (let at = 0; at < 20; at++) model.respond(() => new AIMessage("All was read."));
  return model;
}

test("LangChain: a page that the model sees is one line", async () => {
  const [first, ...rest] = await agentReads(4, () => []);
  assert.ok(!isShort(first));
  assert.equal(rest.length, 3);
  for (const text of rest) assert.match(text, LINE);
});

for (const [name, middleware] of Object.entries({
  "LangChain's summarization": () => [
    summarizationMiddleware({
      model: summarizer(),
      trigger: { messages: 6 },
      keep: { messages: 2 },
    }),
  ],
  "LangChain's clearing of tool results": () => [
    contextEditingMiddleware({
      edits: [new ClearToolUsesEdit({ trigger: { messages: 6 }, keep: { messages: 1 } })],
    }),
  ],
  "deepagents' summarization": (backend) => [
    createSummarizationMiddleware({
      model: summarizer(),
      backend,
      trigger: { type: "messages", value: 6 },
      keep: { type: "messages", value: 2 },
    }),
  ],
})) {
  test(`${name}: the page is sent whole again when it is gone, and then it is one line again`, async () => {
    const given = await agentReads(9, middleware);
    const whole = given.map((text) => !isShort(text));
    assert.equal(given.length, 9);
    assert.deepEqual(whole.slice(0, 2), [true, false]);
    const again = whole.indexOf(true, 1);
    assert.ok(again > 1, whole.join());
    assert.ok(whole.slice(again).includes(false), whole.join());
    assert.ok(given[again].includes("line 60 of the file"));
  });
}

test("the AI SDK: by the messages that it sends, of this call and of the ones before", async () => {
  const files = new StateBackend({ files: { "/a.txt": PAGE } });
  const { tools } = aiTools(files, { unchanged: unchangedReads() });
  const given = [];
  let last = 0;
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const turn = async (messages) => {
    let steps = 0;
    const model = new MockLanguageModelV3({
      doGenerate: async ({ prompt }) => {
        const said = prompt.at(-1);
        if (said.role === "tool") given.push(said.content[0].output.value);
        const ends = steps++ === 2;
        const call = {
          type: "tool-call",
          toolCallId: `call_${last++}`,
          toolName: "read_file",
          input: JSON.stringify(READ),
        };
        const reason = ends ? "stop" : "tool-calls";
        return {
          content: [ends ? { type: "text", text: "done" } : call],
          finishReason: { unified: reason, raw: reason },
          usage,
          warnings: [],
        };
      },
    });
    const done = await generateText({ model, messages, tools, stopWhen: stepCountIs(3) });
    // Since version 7 `response` is that of the last step.
    const added = done.responseMessages ?? done.response.messages;
    return [...messages, ...added, { role: "user", content: "go on" }];
  };
  const messages = await turn([{ role: "user", content: "go" }]);
  await turn(messages);
  // The program has dropped what was said before.
  await turn(messages.slice(-1));
  assert.deepEqual(given.map(isShort), [false, true, true, true, false, true]);
});

/** The three APIs without a framework: how a model asks, and where the text of a result is. */
const APIS = {
  Anthropic: (files, options) => {
    const { run } = anthropicTools(files, options);
    const ask = (id) => ({
      role: "assistant",
      content: [{ type: "tool_use", id, name: "read_file", input: READ }],
    });
    return {
      async turn(id, messages, more) {
        const message = { ...ask(id), ...more };
        const content = await run(message, messages && { messages });
        return {
          text: content[0].content[0].text,
          added: [ask(id), { role: "user", content }],
        };
      },
      compaction: {
        role: "assistant",
        content: [{ type: "compaction", content: "All was read." }],
      },
    };
  },
  "OpenAI's Chat Completions": (files, options) => {
    const { run } = openaiTools(files, { ...options, api: "chat" });
    return {
      async turn(id, messages) {
        const called = { name: "read_file", arguments: JSON.stringify(READ) };
        const message = {
          role: "assistant",
          tool_calls: [{ id, type: "function", function: called }],
        };
        const [result] = await run(message, messages && { messages });
        return { text: result.content, added: [message, result] };
      },
    };
  },
  "OpenAI's Responses": (files, options) => {
    const { run } = openaiTools(files, options);
    return {
      async turn(id, messages) {
        const call = { type: "function_call", call_id: id, name: "read_file" };
        const output = [{ ...call, arguments: JSON.stringify(READ) }];
        const [result] = await run({ output }, messages && { messages });
        return { text: result.output, added: [...output, result] };
      },
      compaction: { type: "compaction", encrypted_content: "…" },
    };
  },
};

for (const [name, api] of Object.entries(APIS)) {
  test(`${name}: by the messages that the program says it has sent`, async () => {
    const files = new StateBackend({ files: { "/a.txt": PAGE } });
    const { turn, compaction } = api(files, { unchanged: unchangedReads() });
    const first = await turn("call_0", []);
    assert.ok(first.text.includes("line 60 of the file"));
    const again = await turn("call_1", first.added);
    assert.match(again.text, LINE);
    // The line that stands for the page is no page: the first result must be there.
    assert.equal((await turn("call_2", again.added)).text, first.text);
    assert.equal((await turn("call_3", undefined)).text, first.text);
    const shortened = first.added.map((one) =>
      JSON.parse(JSON.stringify(one).replace("line 60", "")),
    );
    assert.equal((await turn("call_4", shortened)).text, first.text);
    assert.match((await turn("call_5", first.added)).text, /^\[Unchanged/);
    if (!compaction) return;
    assert.equal((await turn("call_6", [...first.added, compaction])).text, first.text);
    assert.match((await turn("call_7", [compaction, ...first.added])).text, /^\[Unchanged/);
  });
}

test("Anthropic: where the API has cleared results away by itself, the page is sent whole", async () => {
  const files = new StateBackend({ files: { "/a.txt": PAGE } });
  const { turn } = APIS.Anthropic(files, { unchanged: unchangedReads() });
  const { text, added } = await turn("call_0", []);
  const cleared = { type: "clear_tool_uses_20250919", cleared_tool_uses: 1 };
  const context_management = { applied_edits: [cleared] };
  assert.equal((await turn("call_1", added, { context_management })).text, text);
  assert.match(
    (await turn("call_2", added, { context_management: { applied_edits: [] } })).text,
    /^\[Unchanged/,
  );
});

test("a session that looks at its files again and again costs a fifth of the tokens", async () => {
  const source = (name) =>
    Array.from({ length: 150 }, (_, at) => `  const ${name}${at} = compute(${at}, "${name}");`);
  const tree = Object.fromEntries(
    ["a", "b", "c", "d"].map((name) => [`/src/${name}.ts`, source(name).join("\n")]),
  );
  const tokens = async (unchanged) => {
    const tools = createFileTools(new StateBackend({ files: tree }), { ...unchanged });
    const results = new Map();
    let total = 0;
    const call = async (name, input) => {
      const callId = `call_${results.size}`;
      const shown = (id) => results.get(id);
      const { text } = await tools.call(name, input, { callId, shown });
      results.set(callId, text);
      total += Math.ceil(text.length / 4);
    };
    // Four files; before and after each of six edits the model looks at two of them.
    for (const file_path of Object.keys(tree)) await call("read_file", { file_path });
    for (let at = 0; at < 6; at++) {
      const file_path = `/src/${"abcd"[at % 4]}.ts`;
      const other = `/src/${"abcd"[(at + 1) % 4]}.ts`;
      for (const path of [file_path, other]) await call("read_file", { file_path: path });
      const name = `${"abcd"[at % 4]}${at + 120}`;
      await call("edit_file", {
        file_path,
        old_string: `const ${name} =`,
        new_string: `let ${name} =`,
      });
      for (const path of [file_path, other]) await call("read_file", { file_path: path });
    }
    return total;
  };
  const [whole, less] = [await tokens({}), await tokens({ unchanged: unchangedReads() })];
  assert.ok(less < whole / 5, `${whole} tokens become ${less}`);
});
