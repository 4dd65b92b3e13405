// `createAgent` with kitbag's middleware over a bare StateBackend or StoreBackend: many threads at
// the same time on one agent object, each with its own files in its own checkpoint.

import assert from "node:assert/strict";
import { test } from "node:test";
import { InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { createSubAgentMiddleware } from "deepagents";
import { CompositeBackend, StateBackend, StoreBackend, withPolicy } from "kitbag";
import { kitbagMiddleware } from "kitbag/langchain";
import { createAgent, tool } from "langchain";
import { z } from "zod";
import { allAtOnce, alone, checkpointed, contents, delegated } from "../agents/work.mjs";
import { answersOf } from "../lib/model.mjs";
import { ScriptedModel } from "./model.mjs";

const agentOf = (backend, options) =>
  createAgent({
    model: new ScriptedModel(alone),
    tools: [],
    middleware: [kitbagMiddleware(backend)],
    checkpointer: new MemorySaver(),
    ...options,
  });

/** An agent that gives its work to a subagent with the same backend, as deepagents' `task` tool does. */
const delegating = (backend, options) =>
  agentOf(backend, {
    model: new ScriptedModel(delegated),
    middleware: [
      kitbagMiddleware(backend),
      createSubAgentMiddleware({
        defaultModel: new ScriptedModel(delegated),
        defaultMiddleware: [kitbagMiddleware(backend)],
      }),
    ],
    ...options,
  });

const slowly = () => new Promise((resolve) => setImmediate(resolve));

const routed = (backend) =>
  new CompositeBackend(backend, { "/other/": new StateBackend({ files: {} }) });

for (const [place, make] of Object.entries({
  alone: (backend) => backend,
  "as the default of a composite": routed,
  "behind a policy": (backend) => withPolicy(backend, { inspect: slowly, quota: { maxFiles: 2 } }),
  "in a composite behind a policy": (backend) =>
    withPolicy(routed(backend), { inspect: slowly, quota: { maxFiles: 2 } }),
})) {
  test(`a bare StateBackend ${place}`, async () => {
    const backend = make(new StateBackend());
    await allAtOnce(agentOf(backend), answersOf, checkpointed);
    assert.equal((await backend.read("/own.txt")).code, "not_found", "its own memory is empty");
  });

  test(`a bare StoreBackend ${place}, by the user of the context`, async () => {
    const store = new InMemoryStore();
    const namespace = ({ context, executionInfo }) => [
      "files",
      context.user,
      executionInfo.threadId,
    ];
    const agent = agentOf(make(new StoreBackend({ namespace })), {
      store,
      contextSchema: z.object({ user: z.string() }),
    });
    const user = (thread) => `user-of-${thread}`;
    const held = async (_agent, _config, thread) => {
      const items = await store.search(["files", user(thread)], { limit: 100 });
      const own = items.filter((item) => item.namespace[1] === user(thread));
      return Object.fromEntries(own.map(({ key, value }) => [key, value]));
    };
    await allAtOnce(agent, answersOf, held, (thread) => ({ context: { user: user(thread) } }));
  });
}

for (const [place, make] of Object.entries({
  "": (backend) => backend,
  ", in a composite behind a policy": (backend) =>
    withPolicy(routed(backend), { inspect: slowly, quota: { maxFiles: 2 } }),
})) {
  test(`a subagent's bare StateBackend${place}`, async () => {
    const backend = make(new StateBackend());
    await allAtOnce(delegating(backend), answersOf, checkpointed);
    assert.equal((await backend.read("/own.txt")).code, "not_found", "its own memory is empty");
  });
}

test("a large result of another tool is saved in the state of its own thread", async () => {
  const large = tool(() => "many words ".repeat(20_000), {
    name: "report",
    description: "A long text",
    schema: z.object({}),
  });
  const agent = agentOf(new StateBackend(), {
    model: new ScriptedModel(() => [[["report", {}]]]),
    tools: [large],
  });
  const state = (thread_id) =>
    agent.invoke({ messages: [{ role: "user", content: "go" }] }, { configurable: { thread_id } });
  for (const thread of ["a", "b"]) {
    const paths = Object.keys(contents((await state(thread)).files));
    assert.equal(paths.length, 1, thread);
    assert.match(paths[0], /^\/large_tool_results\//);
  }
});
