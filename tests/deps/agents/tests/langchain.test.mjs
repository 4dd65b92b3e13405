// kitbag/langchain with the real packages: createAgent with our middleware, and deepagents'
// createDeepAgent on our composite, led by one scripted model to the same files.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeBuiltModel, fakeModel } from "@langchain/core/testing";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { createDeepAgent } from "deepagents";
import { CompositeBackend, StateBackend, withPolicy } from "kitbag";
import { fileTools, kitbagMiddleware } from "kitbag/langchain";
import { AIMessage, createAgent, ToolMessage } from "langchain";
import { z } from "zod";
import { checkFiles, checkTask, idOf, LARGE, STEPS } from "./task.mjs";

assert.ok(FakeBuiltModel);

function scripted(steps) {
  let model = fakeModel();
  for (const [at, [name, args]] of steps.entries()) {
    model = model.respond(
      new AIMessage({ content: "", tool_calls: [{ id: idOf(at), name, args, type: "tool_call" }] }),
    );
  }
  return model.respond(new AIMessage("done"));
}

const report = tool(() => LARGE, {
  name: "large_report",
  description: "A report",
  schema: z.object({}),
});

const saidIn = (state) =>
  state.messages
    .filter((message) => ToolMessage.isInstance(message))
    .map((message) => message.content);

const tree = () => {
  const rest = new StateBackend();
  const notes = new StateBackend();
  const backend = withPolicy(new CompositeBackend(rest, { "/notes/": notes }), {
    denyPrefixes: ["/protected"],
  });
  return { backend, rest, notes };
};

test("createAgent with kitbagMiddleware over a composite with a policy", async () => {
  const { backend } = tree();
  const agent = createAgent({
    model: scripted(STEPS),
    tools: [report],
    middleware: [kitbagMiddleware(backend)],
  });
  const state = await agent.invoke(
    { messages: [{ role: "user", content: "go" }] },
    { recursionLimit: 100 },
  );
  await checkTask(saidIn(state), backend);
  const failed = state.messages.filter((message) => message.status === "error");
  assert.equal(failed.length, 2);
});

test("files live in the graph's state and are checkpointed with the thread", async () => {
  const steps = STEPS.slice(0, 8);
  const agent = createAgent({
    model: scripted(steps),
    tools: [report],
    middleware: [kitbagMiddleware()],
    checkpointer: new MemorySaver(),
  });
  const config = { configurable: { thread_id: "t" }, recursionLimit: 100 };
  const state = await agent.invoke({ messages: [{ role: "user", content: "go" }] }, config);
  const said = saidIn(state);
  for (const [at, [name, , expected]] of steps.entries()) {
    assert.match(said[at], expected, `step ${at}: ${name}`);
  }
  assert.equal(state.files["/notes/b.md"].content, "x = 1\ny = 2\nx = 3\n");
  const kept = await agent.graph.getState(config);
  assert.deepEqual(Object.keys(kept.values.files).sort(), ["/notes/a.txt", "/notes/b.md"]);
});

test("the tools alone, as LangChain tools", async () => {
  const backend = new StateBackend();
  const tools = fileTools(backend);
  const write = tools.find((one) => one.name === "write_file");
  assert.match(await write.invoke({ file_path: "/a", content: "x" }), /Wrote \/a/);
  const message = await write.invoke({
    id: "c1",
    name: "write_file",
    type: "tool_call",
    args: { file_path: "/b", content: 7 },
  });
  assert.equal(message.status, "error");
  assert.match(message.content, /'content' must be a string, not a number/);
});

test("a user's message that is too large is saved and noted", async () => {
  const backend = new StateBackend();
  const model = scripted([]);
  const agent = createAgent({ model, tools: [], middleware: [kitbagMiddleware(backend)] });
  await agent.invoke({ messages: [{ id: "u1", role: "user", content: "word ".repeat(50_000) }] });
  assert.equal(backend.readRaw("/conversation_history/u1.md").data.content.length, 250_000);
  const [first] = model.calls;
  const human = first.messages.find((one) => one.getType() === "human");
  assert.match(human.content, /saved whole to \/conversation_history\/u1\.md/);
});

test("deepagents' createDeepAgent on our composite: the same task, the same files", async () => {
  const { backend } = tree();
  // deepagents' own tools: they take `offset` as a number, and say things their way.
  const steps = STEPS.map(([name, input]) => {
    const { path, offset, ...rest } = input;
    const fixed = { ...rest };
    if (path !== undefined) fixed[name === "write_file" ? "file_path" : "path"] = path;
    if (offset !== undefined) fixed.offset = Number(offset);
    return [name === "delete" ? "delete_notes" : name, fixed];
  });
  const remove = tool(async () => (await backend.delete("/notes/a.txt")).path, {
    name: "delete_notes",
    description: "Deletes",
    schema: z.object({ file_path: z.string() }),
  });
  const agent = createDeepAgent({ model: scripted(steps), tools: [report, remove], backend });
  const state = await agent.invoke(
    { messages: [{ role: "user", content: "go" }] },
    { recursionLimit: 200 },
  );
  const said = saidIn(state);
  assert.equal(said.length, STEPS.length);
  await checkFiles(backend);
});
