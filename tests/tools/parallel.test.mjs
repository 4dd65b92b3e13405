// Several calls in one step of a graph: what they change in the same files must all be in the
// state afterwards, in whatever order they come and the state's reducer takes them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { createDeepAgent, StateBackend as TheirStateBackend } from "deepagents";
import { CompositeBackend, StateBackend } from "kitbag";
import { kitbagMiddleware, stateBackend } from "kitbag/langchain";
import { createAgent, createMiddleware } from "langchain";
import { answersOf } from "../lib/model.mjs";
import { ScriptedModel } from "./model.mjs";

const WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight"];

const edit = (path, from, to) => [
  "edit_file",
  { file_path: path, old_string: from, new_string: to },
];

/** Eight edits of one file in a step, and again in the step behind it; files made and changed. */
const TURNS = [
  [
    ["write_file", { file_path: "/a", content: `${WORDS.join("\n")}\n` }],
    ["write_file", { file_path: "/b", content: "b\n" }],
  ],
  [
    ["read_file", { file_path: "/a" }],
    ["read_file", { file_path: "/b" }],
  ],
  [
    ...WORDS.map((word) => edit("/a", word, `<${word}>`)),
    ["write_file", { file_path: "/c", content: "c\n" }],
    edit("/b", "b", "bb"),
  ],
  [...WORDS.map((word) => edit("/a", `<${word}>`, word.toUpperCase())), edit("/b", "bb", "b")],
  [edit("/b", "b", "bb"), edit("/a", "ONE", "one")],
];
const FILES = {
  "/a": `${WORDS.map((word) => word.toUpperCase()).join("\n")}\n`.replace("ONE", "one"),
  "/b": "bb\n",
  "/c": "c\n",
};

/** A state's backend that comes the later the earlier its call was made: time against order. */
const backwards = (make) => {
  let calls = 0;
  return async (runtime) => {
    calls += 1;
    await pause(30 - (calls % 10) * 3);
    return make(runtime);
  };
};

const ours = (backend) => (options) =>
  createAgent({ tools: [], middleware: [kitbagMiddleware(backend)], ...options });

const CASES = {
  "createAgent: kitbagMiddleware()": ours(),
  "createAgent: stateBackend(), the last call first": ours(backwards(stateBackend())),
  "createAgent: (runtime) => new StateBackend(runtime)": ours(
    (runtime) => new StateBackend(runtime),
  ),
  "createAgent: the same, the last call first": ours(
    backwards((runtime) => new StateBackend(runtime)),
  ),
  "createAgent: a composite over the state": ours(
    (runtime) => new CompositeBackend(new StateBackend(runtime), { "/notes/": new StateBackend() }),
  ),
  "createDeepAgent: stateBackend()": (options) =>
    createDeepAgent({ backend: stateBackend(), ...options }),
};

const contents = (files) =>
  Object.fromEntries(
    Object.entries(files)
      .map(([path, file]) => [path, file.content])
      .sort(),
  );

for (const [name, make] of Object.entries(CASES)) {
  test(`${name}: no edit of a step is lost`, async () => {
    const agent = make({ model: new ScriptedModel(() => TURNS), checkpointer: new MemorySaver() });
    const thread = (id) => ({ recursionLimit: 100, configurable: { thread_id: id } });
    const go = { messages: [{ role: "user", content: "go" }] };
    // Threads beside each other, so that what one has pending must not show in another.
    const states = await Promise.all(["t1", "t2", "t3"].map((id) => agent.invoke(go, thread(id))));
    for (const [at, state] of states.entries()) {
      const refused = answersOf(state).filter((text) => /Error|not found/.test(text));
      assert.deepEqual(refused, []);
      assert.deepEqual(contents(state.files), FILES);
      const kept = await agent.graph.getState(thread(`t${at + 1}`));
      assert.deepEqual(contents(kept.values.files), FILES);
    }
  });
}

test("threads that begin with one and the same record of files stay apart", async () => {
  const agent = ours()({
    model: new ScriptedModel((first) => [
      [["read_file", { file_path: "/a" }]],
      [edit("/a", "x", `${first} x`), edit("/a", "x", "x.")],
    ]),
  });
  const at = new Date(0).toISOString();
  const files = {
    "/a": { content: "x\n", mimeType: "text/plain", created_at: at, modified_at: at },
  };
  const states = await Promise.all(
    ["p", "q", "r"].map((who) => agent.invoke({ messages: [["user", who]], files })),
  );
  assert.deepEqual(
    states.map((state) => state.files["/a"].content),
    ["p x.\n", "q x.\n", "r x.\n"],
  );
  assert.equal(files["/a"].content, "x\n");
});

test("a delete and what follows it in the same step", async () => {
  const agent = ours()({
    model: new ScriptedModel(() => [
      [
        ["write_file", { file_path: "/d/one", content: "1" }],
        ["write_file", { file_path: "/d/two", content: "2" }],
        ["write_file", { file_path: "/e", content: "3" }],
      ],
      [
        ["delete", { file_path: "/d" }],
        ["write_file", { file_path: "/d/two", content: "new" }],
        ["delete", { file_path: "/e" }],
      ],
    ]),
  });
  const state = await agent.invoke({ messages: [["user", "go"]] });
  assert.deepEqual(contents(state.files), { "/d/two": "new" });
});

test("a large result of a foreign tool lands in the state that a factory works on", async () => {
  const { tool } = await import("langchain");
  const { z } = await import("zod");
  const large = Array.from({ length: 20_000 }, (_, at) => `row ${at}`).join("\n");
  const report = tool(() => large, {
    name: "report",
    description: "A report",
    schema: z.object({}),
  });
  for (const backend of [stateBackend(), (runtime) => new StateBackend(runtime)]) {
    const agent = createAgent({
      model: new ScriptedModel(() => [
        [
          ["report", {}],
          ["report", {}],
        ],
        [["read_file", { file_path: "/large_tool_results/call_0_1", offset: 19_999 }]],
      ]),
      tools: [report],
      middleware: [kitbagMiddleware(backend)],
    });
    const state = await agent.invoke({ messages: [["user", "word ".repeat(50_000)]] });
    const paths = Object.keys(state.files).sort();
    assert.match(paths[0], /^\/conversation_history\//);
    assert.deepEqual(paths.slice(1), [
      "/large_tool_results/call_0_0",
      "/large_tool_results/call_0_1",
    ]);
    assert.equal(state.files["/large_tool_results/call_0_1"].content, large);
    assert.match(state.messages.at(-2).content, /20000\trow 19999/);
  }
});

test("deepagents' own StateBackend by a factory: edits of a step see each other", async () => {
  const agent = ours((runtime) => new TheirStateBackend(runtime))({
    model: new ScriptedModel(() => [
      [["write_file", { file_path: "/a", content: "x y\n" }]],
      [["read_file", { file_path: "/a" }]],
      [edit("/a", "x", "1")],
      [edit("/a", "y", "2")],
    ]),
  });
  const state = await agent.invoke({ messages: [["user", "go"]] });
  assert.equal(state.files["/a"].content, "1 2\n");
});

/** Asks a person before a call with such an input. */
const approving = (word) =>
  createMiddleware({
    name: "Approving",
    wrapToolCall: (request, handler) => {
      if (JSON.stringify(request.toolCall.args).includes(word)) interrupt("may it?");
      return handler(request);
    },
  });

/** The state of an agent that was interrupted once and goes on. */
async function resumed(middleware, turns) {
  const agent = createAgent({
    tools: [],
    middleware,
    model: new ScriptedModel(() => turns),
    checkpointer: new MemorySaver(),
  });
  const thread = { configurable: { thread_id: "t" } };
  const { __interrupt__: asked } = await agent.invoke({ messages: [["user", "go"]] }, thread);
  assert.equal(asked?.length, 1, "a person was asked");
  return agent.invoke(new Command({ resume: "yes" }), thread);
}

for (const [name, order] of Object.entries({
  "asked before the tools": (files) => [approving("second"), files],
  "asked behind them": (files) => [files, approving("second")],
})) {
  test(`a change that was interrupted is refused if another one of its step changed the file: ${name}`, async () => {
    const turns = [
      [["write_file", { file_path: "/a", content: "one\ntwo\n" }]],
      [
        edit("/a", "one", "first"),
        edit("/./a", "two", "second"),
        ["read_file", { file_path: "/a" }],
      ],
      [edit("/a", "two", "again")],
    ];
    const state = await resumed(order(kitbagMiddleware()), turns);
    const refused = answersOf(state).filter((text) => text.startsWith("Error"));
    assert.equal(refused.length, 1, refused.join());
    assert.match(
      refused[0],
      /edit_file was interrupted, and edit_file of the same step has changed '\/a' since/,
    );
    // The first change is there, and the next step sees it.
    assert.equal(state.files["/a"].content, "first\nagain\n");
  });

  test(`a change that was interrupted is made if it is the only one of its file: ${name}`, async () => {
    const turns = [
      [
        ["write_file", { file_path: "/a", content: "one\n" }],
        ["write_file", { file_path: "/b", content: "second\n" }],
      ],
    ];
    const state = await resumed(order(kitbagMiddleware()), turns);
    assert.deepEqual(
      answersOf(state).filter((text) => text.startsWith("Error")),
      [],
    );
    assert.deepEqual(contents(state.files), { "/a": "one\n", "/b": "second\n" });
  });
}
