// A person decides about a turn, in the form of each framework: LangChain's interrupt, the approvals of
// the AI SDK, MCP's elicitation. With the real packages and scripted models.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fakeModel } from "@langchain/core/testing";
import { Command, MemorySaver } from "@langchain/langgraph";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { begin, createFileTools, StateBackend } from "kitbag";
import { fileTools as aiTools } from "kitbag/ai";
import { beginKept, changeTools, reviewOf, settleReview, withHistory } from "kitbag/history";
import { kitbagMiddleware, reviewMiddleware } from "kitbag/langchain";
import { elicitReview, registerFileTools } from "kitbag/mcp";
import { AIMessage, createAgent } from "langchain";

const LONG = Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n`).join("");
const memory = (files = { "/plan.md": LONG, "/b.md": "b\n" }) =>
  new StateBackend({ scope: "instance", files });

/** What the scripted agents do: two parts of one file, and a new one. */
const EDITS = [
  ["read_file", { file_path: "/plan.md" }],
  ["edit_file", { file_path: "/plan.md", old_string: "line 2\n", new_string: "line two\n" }],
  ["edit_file", { file_path: "/plan.md", old_string: "line 25\n", new_string: "line 5²\n" }],
  ["write_file", { file_path: "/new.md", content: "new\n" }],
];

async function edited(turn) {
  const { call } = createFileTools(turn);
  for (const [name, input] of EDITS) assert.equal((await call(name, input)).isError, false);
}

const plan = (backend) => backend.read("/plan.md").content;
const exists = (backend, path) => backend.read(path).error === undefined;

test("a review is plain data, with a patch and hunks", async () => {
  const turn = begin(memory());
  await edited(turn);
  const review = await reviewOf(turn);
  assert.deepEqual(JSON.parse(JSON.stringify(review)), review);
  assert.deepEqual(
    review.files.map(({ path, kind, hunks }) => [path, kind, hunks.length]),
    [
      ["/new.md", "created", 1],
      ["/plan.md", "changed", 2],
    ],
  );
  assert.match(review.patch, /\+line two\n/);
});

test("a decision commits all, a part, other contents, or nothing", async () => {
  const decided = async (make) => {
    const backend = memory();
    const turn = begin(backend);
    await edited(turn);
    await turn.delete("/b.md");
    const { files } = await reviewOf(turn);
    const done = await settleReview(turn, make(files));
    return { backend, turn, done };
  };
  const all = await decided(() => ({ type: "accept" }));
  assert.deepEqual(all.done.receipt.files.length, 3);
  assert.match(plan(all.backend), /line two\n[\s\S]*line 5²\n/);

  const part = await decided((files) => ({
    type: "edit",
    hunks: [files.find(({ path }) => path === "/plan.md").hunks[1].id],
  }));
  assert.deepEqual(
    part.done.receipt.files.map(({ path }) => path),
    ["/plan.md"],
  );
  assert.match(plan(part.backend), /line 2\n[\s\S]*line 5²\n/);
  assert.deepEqual([exists(part.backend, "/new.md"), exists(part.backend, "/b.md")], [false, true]);

  const other = await decided(() => ({
    type: "edit",
    discard: ["/b.md"],
    files: { "/new.md": "by a person\n", "/plan.md": null },
  }));
  assert.ok(other.done.receipt, other.done.error);
  assert.equal(other.backend.read("/new.md").content, "by a person\n");
  assert.deepEqual(
    [exists(other.backend, "/plan.md"), exists(other.backend, "/b.md")],
    [false, true],
  );

  const none = await decided(() => ({ type: "reject", message: "too much" }));
  assert.equal(none.done.code, "permission_denied");
  assert.match(none.done.error, /too much/);
  assert.equal(plan(none.backend), LONG);
  assert.deepEqual((await none.turn.diff()).changes, []);
});

test("a file that was moved is committed or dropped whole", async () => {
  const decisions = [
    { discard: ["/old/**"] },
    { discard: ["/report.md"] },
    { hunks: [] },
    { discard: ["/k"] },
  ];
  for (const decision of decisions) {
    const backend = memory({ "/report.md": "precious\n", "/k": "k\n" });
    const turn = begin(backend);
    await turn.move("/report.md", "/old/report.md");
    await turn.edit("/k", "k", "more");
    const { files } = await reviewOf(turn);
    assert.deepEqual(
      files.map(({ path, kind, from }) => [path, kind, from]),
      [
        ["/k", "changed", undefined],
        ["/old/report.md", "moved", "/report.md"],
      ],
    );
    const done = await settleReview(turn, { type: "edit", ...decision });
    assert.ok(done.receipt, done.error);
    const moved = decision.hunks !== undefined || decision.discard[0] === "/k";
    assert.equal(exists(backend, "/old/report.md"), moved);
    assert.equal(exists(backend, "/report.md"), !moved);
  }
});

test("a wrong decision does nothing, and says why", async (t) => {
  const backend = memory();
  const turn = begin(backend);
  await edited(turn);
  for (const [decision, code] of [
    [undefined, "invalid_argument"],
    [{ type: "approve" }, "invalid_argument"],
    [{ type: "edit", hunks: ["none"] }, "conflict"],
    [{ type: "edit", hunks: "all" }, "invalid_argument"],
    [{ type: "edit", files: { "/x": 1 } }, "invalid_argument"],
    [{ type: "edit", files: ["/x"] }, "invalid_argument"],
    [{ type: "edit", discard: [1] }, "invalid_argument"],
  ]) {
    await t.test(`${JSON.stringify(decision)}`, async () => {
      const done = await settleReview(turn, decision);
      assert.equal(done.code, code, JSON.stringify(decision));
    });
  }
  assert.equal(plan(backend), LONG);
  assert.equal((await turn.diff()).changes.length, 2);
});

/** Rules that hide files. */
function hiding() {
  return [{ operations: ["read"], paths: ["/secret*/**"], mode: "deny" }];
}

/** An agent of LangChain that makes the edits, whose end is reviewed. */
function agentOver(turn, backend, rest = [new AIMessage("done")]) {
  let model = fakeModel();
  for (const [at, [name, args]] of EDITS.entries()) {
    model = model.respondWithTools([{ name, args, id: `call_${at}` }]);
  }
  for (const message of rest) model = model.respond(message);
  const agent = createAgent({
    model,
    middleware: [kitbagMiddleware(turn), reviewMiddleware(turn)],
    checkpointer: new MemorySaver(),
  });
  const config = { configurable: { thread_id: "one" } };
  const resume = (decision) =>
    agent.invoke(new Command({ resume: { decisions: [decision] } }), config);
  const start = async () => {
    const { __interrupt__: found } = await agent.invoke({ messages: ["go"] }, config);
    assert.equal(found?.length, 1);
    assert.equal(plan(backend), LONG);
    return found[0].value;
  };
  return { start, resume, agent, config };
}

test("LangChain: the interrupt shows the diff, and approve commits it", async () => {
  const backend = memory();
  const { start, resume } = agentOver(begin(backend), backend);
  const { actionRequests, reviewConfigs, review } = await start();
  assert.deepEqual(reviewConfigs, [
    { actionName: "commit", allowedDecisions: ["approve", "edit", "reject"] },
  ]);
  assert.match(actionRequests[0].description, /-line 2\n\+line two\n/);
  assert.equal(actionRequests[0].args.hunks.length, 3);
  assert.deepEqual(
    review.files.map(({ path }) => path),
    ["/new.md", "/plan.md"],
  );
  const { messages, __interrupt__: again } = await resume({ type: "approve" });
  assert.equal(again, undefined);
  assert.equal(messages.at(-1).content, "done");
  assert.match(plan(backend), /line two\n[\s\S]*line 5²\n/);
});

test("LangChain: edit commits the hunks that a person left", async () => {
  const backend = memory();
  const { start, resume } = agentOver(begin(backend), backend);
  const { review } = await start();
  const [hunk] = review.files.find(({ path }) => path === "/plan.md").hunks;
  await resume({ type: "edit", editedAction: { name: "commit", args: { hunks: [hunk.id] } } });
  assert.match(plan(backend), /line two\n[\s\S]*line 25\n/);
  assert.equal(exists(backend, "/new.md"), false);
});

test("LangChain: after reject with a message the agent goes on, and its end is reviewed anew", async () => {
  const backend = memory();
  const again = { name: "write_file", args: { file_path: "/new.md", content: "2" }, id: "call_9" };
  const rest = [
    new AIMessage("done"),
    new AIMessage({ content: "", tool_calls: [again] }),
    new AIMessage("better"),
  ];
  const { start, resume } = agentOver(begin(backend), backend, rest);
  await start();
  const { messages, __interrupt__: next } = await resume({ type: "reject", message: "less" });
  assert.match(
    messages.find((one) => one.getType() === "human" && /less/.test(one.content)).content,
    /rejected/,
  );
  assert.deepEqual(
    next[0].value.review.files.map(({ path }) => path),
    ["/new.md"],
  );
  await resume({ type: "reject" });
  assert.equal(plan(backend), LONG);
  assert.equal(exists(backend, "/new.md"), false);
});

test("LangChain: a conflict is told to the agent, and reviewed anew with what others changed", async () => {
  const backend = memory();
  const rest = [new AIMessage("done"), new AIMessage("looked")];
  const { start, resume } = agentOver(begin(backend), backend, rest);
  await start();
  backend.edit("/plan.md", "line 12\n", "line twelve\n");
  const { messages, __interrupt__: next } = await resume({ type: "approve" });
  assert.ok(messages.some(({ content }) => /Others have changed \/plan\.md/.test(content)));
  assert.equal(next.length, 1);
  await resume({ type: "approve" });
  assert.match(plan(backend), /line two\n[\s\S]*line twelve\n[\s\S]*line 5²\n/);
});

for (const [name, source, rules, shows] of [
  ["a policy of the tools", (turn) => turn, { policy: { permissions: hiding() } }, true],
  ["permissions of the tools", (turn) => turn, { permissions: hiding() }, true],
  ["a policy over a function", (turn) => () => turn, { policy: { permissions: hiding() } }, true],
  ["no rule, of tools with the same turn", (turn) => turn, {}, true],
  ["tools that are not known", (turn) => turn, undefined, false],
]) {
  test(`LangChain: what the agent is told of a conflict names nothing hidden: ${name}`, async () => {
    const backend = memory({
      "/plan.md": LONG,
      "/secret/a.md": "a\n",
      "/secret\u202e/b.md": "b\n",
    });
    const turn = begin(backend);
    await turn.edit("/plan.md", "line 2\n", "line two\n");
    await turn.edit("/secret/a.md", "a\n", "mine\n");
    await turn.edit("/secret\u202e/b.md", "b\n", "mine\n");
    const given = source(turn);
    const own = rules && kitbagMiddleware(given, rules);
    const agent = createAgent({
      model: fakeModel().respond(new AIMessage("done")).respond(new AIMessage("looked")),
      middleware: [...(own ? [own] : []), reviewMiddleware(given)],
      checkpointer: new MemorySaver(),
    });
    const config = { configurable: { thread_id: "one" } };
    await agent.invoke({ messages: ["go"] }, config);
    backend.edit("/plan.md", "line 12\n", "line twelve\n");
    backend.edit("/secret/a.md", "a\n", "theirs\n");
    backend.edit("/secret\u202e/b.md", "b\n", "theirs\n");
    const { messages } = await agent.invoke(
      new Command({ resume: { decisions: [{ type: "approve" }] } }),
      config,
    );
    const told = messages.map(({ content }) => content).join("\n");
    assert.match(told, /Others have changed .*nothing was committed/);
    assert.doesNotMatch(told, /\u202e/);
    assert.equal(told.includes("/plan.md"), shows, told);
    const isOpen = rules !== undefined && Object.keys(rules).length === 0;
    assert.equal(told.includes("/secret"), isOpen, told);
    assert.match(
      told,
      isOpen ? /could not be merged.*\/secret\\u/ : /could not be merged.*some files/,
    );
  });
}

test("LangChain: a kept turn is reviewed after a restart, and an agent without changes is not", async () => {
  const backend = memory();
  const keepIn = memory({});
  const turn = () => beginKept(backend, { keepIn: { backend: keepIn }, name: "one" });
  const { start, agent, config } = agentOver(turn(), backend);
  await start();
  // Another process: other objects over the same checkpoints.
  const later = createAgent({
    model: fakeModel().respond(new AIMessage("nothing")),
    middleware: [reviewMiddleware(() => turn())],
    checkpointer: agent.options.checkpointer,
  });
  await later.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), config);
  assert.match(plan(backend), /line two/);
  const fresh = { configurable: { thread_id: "two" } };
  const { __interrupt__: none } = await later.invoke({ messages: ["go"] }, fresh);
  assert.equal(none, undefined);
});

for (const type of ["approve", "edit", "reject"]) {
  test(`LangChain: changes that nobody saw are shown before they are committed (${type})`, async () => {
    const backend = memory();
    const turn = begin(backend);
    const { start, resume } = agentOver(turn, backend);
    const shown = await start();
    const args = { hunks: shown.actionRequests[0].args.hunks };
    const decision = type === "edit" ? { type, editedAction: { name: "commit", args } } : { type };
    await turn.write("/unseen.md", "unseen\n");
    const { __interrupt__: again } = await resume(decision);
    assert.equal(again?.length, 1);
    assert.equal(plan(backend), LONG);
    assert.equal(exists(backend, "/unseen.md"), false);
    const { review, digest } = again[0].value;
    assert.ok(review.files.some(({ path }) => path === "/unseen.md"));
    assert.notEqual(digest, shown.digest);
    // Changed back, they are still not what the last question showed.
    await turn.discard(["/unseen.md"]);
    const { __interrupt__: third } = await resume({ type: "approve" });
    assert.equal(third?.[0].value.digest, shown.digest);
    assert.equal(plan(backend), LONG);
    const { __interrupt__: none } = await resume({ type: "approve" });
    assert.equal(none, undefined);
    assert.match(plan(backend), /line two/);
    assert.equal(exists(backend, "/unseen.md"), false);
  });
}

test("LangChain: an approval is for what was shown, also in another process and of binary files", async () => {
  const backend = memory({ "/b.bin": "b" });
  const keepIn = memory({});
  const kept = () => beginKept(backend, { keepIn: { backend: keepIn }, name: "one" });
  const turn = kept();
  const put = (byte) => turn.uploadFiles([["/b.bin", new Uint8Array([0, 255, byte])]]);
  await put(1);
  const checkpointer = new MemorySaver();
  const config = { configurable: { thread_id: "one" } };
  const agent = () =>
    createAgent({
      model: fakeModel().respond(new AIMessage("done")),
      middleware: [reviewMiddleware(() => kept())],
      checkpointer,
    });
  const first = await agent().invoke({ messages: ["go"] }, config);
  assert.equal(first.__interrupt__.length, 1);
  // Another turn object goes on where this one is kept.
  const other = kept();
  await other.uploadFiles([["/b.bin", new Uint8Array([0, 255, 2])]]);
  const approve = () =>
    agent().invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), config);
  const again = await approve();
  assert.equal(again.__interrupt__?.length, 1);
  const content = () => backend.downloadFiles(["/b.bin"])[0].content;
  assert.deepEqual([...content()], [98]);
  await approve();
  assert.deepEqual([...content()], [0, 255, 2]);
});

test("LangChain: a resume without a decision is an error, and nothing is done", async () => {
  const backend = memory();
  const { start, agent, config } = agentOver(begin(backend), backend);
  await start();
  await assert.rejects(agent.invoke(new Command({ resume: true }), config), /resume with/);
  assert.equal(plan(backend), LONG);
});

/** A model of the AI SDK that makes the edits, then commits; `last` is its last text. */
function scripted() {
  const steps = [...EDITS, ["commit", {}]];
  let at = 0;
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const prompts = [];
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      prompts.push(prompt);
      const step = steps[at++];
      const call = step && {
        ...{ type: "tool-call", toolCallId: `call_${at}`, toolName: step[0] },
        input: JSON.stringify(step[1]),
      };
      const reason = call ? "tool-calls" : "stop";
      return {
        content: [call ?? { type: "text", text: "done" }],
        finishReason: { unified: reason, raw: reason },
        usage,
        warnings: [],
      };
    },
  });
  return { model, prompts };
}

for (const approved of [true, false]) {
  test(`AI SDK: the tool commit waits for an approval, and is ${approved ? "" : "not "}run`, async () => {
    const backend = memory();
    const turn = begin(backend);
    const { tools } = aiTools(turn, { changes: changeTools({ commit: true }) });
    const { model, prompts } = scripted();
    const messages = [{ role: "user", content: "go" }];
    const ask = () => generateText({ model, tools, messages, stopWhen: stepCountIs(20) });
    const first = await ask();
    const request = first.content.find(({ type }) => type === "tool-approval-request");
    assert.equal(request.toolCall.toolName, "commit");
    assert.equal(plan(backend), LONG);
    assert.match((await reviewOf(turn)).patch, /\+line two/);
    const answer = { type: "tool-approval-response", approvalId: request.approvalId, approved };
    messages.push(...first.response.messages, {
      role: "tool",
      content: [approved ? answer : { ...answer, reason: "too much" }],
    });
    const { text } = await ask();
    assert.equal(text, "done");
    const shown = JSON.stringify(prompts.at(-1));
    if (approved) assert.match(shown, /Committed \/new\.md, \/plan\.md\./);
    else assert.match(shown, /too much/);
    assert.equal(plan(backend).includes("line two"), approved);
  });
}

/** A client of MCP over a turn, whose user answers each question with `answer`. */
async function mcpOver(turn, answer, capabilities = { elicitation: { form: {} } }) {
  const server = new McpServer({ name: "files", version: "1" });
  registerFileTools(server, turn, { changes: changeTools({ commit: elicitReview(server) }) });
  const client = new Client({ name: "test", version: "1" }, { capabilities });
  const asked = [];
  if (capabilities.elicitation) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params);
      return answer;
    });
  }
  const [here, there] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(here), client.connect(there)]);
  const call = async (name, input) => {
    const { content, isError } = await client.callTool({ name, arguments: input });
    return { text: content[0].text, isError };
  };
  for (const [name, input] of EDITS) assert.equal((await call(name, input)).isError, false);
  return { asked, commit: () => call("commit", {}), close: () => client.close() };
}

for (const [name, answer, says, state] of [
  [
    "accept commits",
    { action: "accept", content: { decision: "accept" } },
    /^Committed \/new\.md, \/plan\.md\.$/,
    [true, true],
  ],
  [
    "accept without a file commits the others",
    { action: "accept", content: { decision: "accept", leaveOut: ["/new.md"] } },
    /^Committed \/plan\.md\. The user left out \/new\.md\.$/,
    [true, false],
  ],
  [
    "reject drops all, and the agent is told why",
    { action: "accept", content: { decision: "reject", message: "too much" } },
    /rejected, and none was made: too much/,
    [false, false],
  ],
  ["decline drops all", { action: "decline" }, /rejected/, [false, false]],
  ["cancel does nothing", { action: "cancel" }, /nobody has decided; nothing was/, [false, false]],
]) {
  test(`MCP: ${name}`, async () => {
    const backend = memory();
    const turn = begin(backend);
    const { asked, commit, close } = await mcpOver(turn, answer);
    const { text } = await commit();
    assert.match(text, says);
    assert.equal(asked.length, 1);
    assert.match(asked[0].message, /Commit these changes\?\n\n[\s\S]*\+line two\n/);
    assert.deepEqual(asked[0].requestedSchema.properties.leaveOut.items.enum, [
      "/new.md",
      "/plan.md",
    ]);
    assert.deepEqual([plan(backend).includes("line two"), exists(backend, "/new.md")], state);
    const left = name.startsWith("cancel") ? 2 : 0;
    assert.equal((await turn.diff()).changes.length, left);
    await close();
  });
}

test("MCP: a client without forms gets an error, and nothing is done", async () => {
  const backend = memory();
  const turn = begin(backend);
  const { commit, close } = await mcpOver(turn, undefined, {});
  const { text, isError } = await commit();
  assert.equal(isError, true);
  assert.match(text, /does not support form elicitation/);
  assert.equal((await turn.diff()).changes.length, 2);
  await close();
});

test("commit needs a turn, and is told of conflicts in words", async () => {
  const changes = changeTools({ commit: () => ({ type: "accept" }) });
  const base = withHistory(memory(), { keepIn: { backend: memory({}) } });
  assert.throws(() => createFileTools(base, { changes }), /"commit" needs a turn/);
  assert.throws(() => changeTools({ commit: "yes" }), /option "commit"/);
  assert.throws(() => changeTools({ commits: true }), /commits/);
  const backend = memory();
  const { call } = createFileTools(begin(backend), { changes });
  assert.equal((await call("commit", {})).text, "Nothing has changed.");
  for (const [name, input] of EDITS) await call(name, input);
  backend.edit("/plan.md", "line 12\n", "line twelve\n");
  const told = await call("commit", {});
  assert.match(told.text, /others have changed \/plan\.md meanwhile.*were merged/);
  assert.equal((await call("commit", {})).isError, false);
  assert.match(plan(backend), /line twelve/);
});

test("what is changed while a person looks is not committed unseen", async () => {
  const backend = memory();
  const turn = begin(backend);
  let during = async () => {};
  const tools = createFileTools(turn, {
    changes: changeTools({
      commit: async () => {
        await during();
        return { type: "accept" };
      },
    }),
  });
  await edited(turn);
  during = () => tools.call("write_file", { file_path: "/unseen.md", content: "unseen\n" });
  const refused = await tools.call("commit", {});
  assert.match(refused.text, /changed while the user looked/);
  assert.equal(exists(backend, "/unseen.md"), false);
  assert.equal(plan(backend), LONG);
  during = async () => {};
  assert.equal((await tools.call("commit", {})).isError, false);
  assert.equal(exists(backend, "/unseen.md"), true);
});
