// kitbag/langchain beside the task: files in the graph's state, the tools called by themselves, and
// a user's message that is too large.

import assert from "node:assert/strict";
import { test } from "node:test";
import { StateBackend } from "kitbag";
import { kitbagMiddleware, fileTools as langchainTools } from "kitbag/langchain";
import { createAgent } from "langchain";
import { Script } from "../cases/script.mjs";
import { scripted } from "../drivers/graph.mjs";
import { inOneStep, inState, inStore } from "../drivers/in-graph.mjs";

test("files live in the graph's state and are checkpointed with the thread", async () => {
  assert.deepEqual((await inState()).faults, []);
});

test("files live in the graph's store", async () => {
  assert.deepEqual((await inStore()).faults, []);
});

test("two edits in one step of a graph both land", async () => {
  assert.deepEqual((await inOneStep()).faults, []);
});

test("the tools alone, as LangChain tools", async () => {
  const backend = new StateBackend();
  const { tools } = langchainTools(backend);
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
  const model = scripted(new Script([]));
  const middleware = [kitbagMiddleware(new StateBackend())];
  const agent = createAgent({ model, tools: [], middleware });
  const messages = [{ id: "u1", role: "user", content: "word ".repeat(50_000) }];
  const { files } = await agent.invoke({ messages });
  assert.equal(files["/conversation_history/u1.md"].content.length, 250_000);
  const [first] = model.calls;
  const human = first.messages.find((one) => one.getType() === "human");
  assert.match(human.content, /saved whole to \/conversation_history\/u1\.md/);
});
