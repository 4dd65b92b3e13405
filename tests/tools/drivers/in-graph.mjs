// kitbag/langchain with files in the graph itself: in its state, which checkpoints keep, or in its
// store. There is neither a tree nor a shell.

import { fakeModel } from "@langchain/core/testing";
import { InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { kitbagMiddleware, storeBackend } from "kitbag/langchain";
import { AIMessage, createAgent } from "langchain";
import { LARGE } from "../cases/material.mjs";
import { Script } from "../cases/script.mjs";
import { BARE_TASK } from "../cases/task.mjs";
import { differences } from "../cases/tree.mjs";
import { report, scripted, textOf } from "./graph.mjs";

const LEFT = { "/large_tool_results/*": LARGE, "/notes/b.md": "x = 1\ny = 2\nx = 3\n" };

const READ = { name: "read_file", input: { file_path: "/notes/b.md" }, media: [] };

/** The thread's files a turn later, and those of a thread that has none. */
const KEPT = [{ ...READ, ours: "     1\tx = 1\n     2\ty = 2\n     3\tx = 3" }];
const OTHER = [{ ...READ, ours: "Error: File '/notes/b.md' not found", fails: true }];

const bodies = (files) =>
  Object.fromEntries(Object.entries(files).map(([path, { content }]) => [path, content]));

/** Does the task in the store of a graph, in a namespace and nowhere else. */
export async function inStore() {
  const store = new InMemoryStore();
  const script = new Script(BARE_TASK);
  const agent = createAgent({
    model: scripted(script),
    tools: [report],
    middleware: [kitbagMiddleware(storeBackend({ namespace: ["files", "mine"] }))],
    store,
  });
  const { messages } = await agent.invoke(
    { messages: [{ role: "user", content: "go" }] },
    { recursionLimit: 300 },
  );
  script.finished(textOf(messages.at(-1).content));
  const items = await store.search([], { limit: 100 });
  const kept = Object.fromEntries(items.map(({ key, value }) => [key, value]));
  const strays = items.filter(({ namespace }) => namespace.join() !== "files,mine");
  const faults = [...script.faults, ...differences(bodies(kept), LEFT)];
  if (strays.length > 0) faults.push(`${strays.length} items are in other namespaces`);
  return { faults };
}

/** Does the task in one thread, then looks at the files from there and from another. */
export async function inState() {
  const checkpointer = new MemorySaver();
  const faults = [];
  const turn = async (steps, thread_id) => {
    const script = new Script(steps);
    const agent = createAgent({
      model: scripted(script),
      tools: [report],
      middleware: [kitbagMiddleware()],
      checkpointer,
    });
    const config = { configurable: { thread_id }, recursionLimit: 300 };
    // What a turn before said is no part of this one's script.
    const before = { messages: [{ role: "user", content: "go" }] };
    const { messages, files } = await agent.invoke(before, config);
    script.finished(textOf(messages.at(-1).content));
    faults.push(...script.faults.map((fault) => `thread ${thread_id}: ${fault}`));
    return { files, saved: (await agent.graph.getState(config)).values.files };
  };
  const { files, saved } = await turn(BARE_TASK, "one");
  for (const found of [files, saved]) faults.push(...differences(bodies(found), LEFT));
  await turn(OTHER, "two");
  await turn(KEPT, "one");
  return { faults };
}

/** Two calls in one message of the model change one file of the state: both changes are in it. */
export async function inOneStep() {
  const edit = (from, to) => ({
    name: "edit_file",
    args: { file_path: "/a", old_string: from, new_string: to },
  });
  const model = fakeModel()
    .respondWithTools([{ name: "write_file", args: { file_path: "/a", content: "one\ntwo\n" } }])
    .respondWithTools([edit("one", "1"), edit("two", "2")])
    .respond(new AIMessage("done"));
  const agent = createAgent({ model, tools: [], middleware: [kitbagMiddleware()] });
  const { files } = await agent.invoke({ messages: [{ role: "user", content: "go" }] });
  return { faults: differences(bodies(files), { "/a": "1\n2\n" }) };
}
