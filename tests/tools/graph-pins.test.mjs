// `checkpoint: "pin"` of kitbagMiddleware, with a real graph and checkpointer: the state has a pin
// instead of files, and a run that goes on from an earlier checkpoint begins with the files of then.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { FilesystemBackend, StateBackend } from "kitbag";
import { withHistory } from "kitbag/history";
import { kitbagMiddleware } from "kitbag/langchain";
import { createAgent, tool } from "langchain";
import { z } from "zod";
import { answersOf } from "../lib/model.mjs";
import { ScriptedModel } from "./model.mjs";

const folders = [];
after(() => {
  for (const one of folders) rmSync(one, { recursive: true, force: true });
});

const write = (path, content) => ["write_file", { file_path: path, content }];
const edit = (from, to) => ["edit_file", { file_path: "/a.txt", old_string: from, new_string: to }];
const said = (text) => ({ messages: [{ role: "user", content: text }] });

/** Writes, then two edits in one step, then reads. The second message makes one more edit. */
const TURNS = [
  [write("/a.txt", "one two\n")],
  [edit("one", "1"), edit("two", "2"), write("/b.txt", "b\n")],
  [["read_file", { file_path: "/a.txt" }]],
  undefined,
  [edit("1", "first")],
];

const memory = () => new StateBackend({ files: {} });
const PLACES = {
  memory,
  disk: () => {
    folders.push(mkdtempSync(join(tmpdir(), "kitbag-graph-pins-")));
    return new FilesystemBackend({ rootDir: folders.at(-1) });
  },
};

/** Other processes have not read the files that they edit. */
const OPTIONS = { checkpoint: "pin", requireReadBeforeEdit: false };

const agentOf = (world, checkpointer, options) =>
  createAgent({
    model: new ScriptedModel(() => TURNS),
    tools: [],
    checkpointer,
    ...options,
    middleware: [kitbagMiddleware(world, { ...OPTIONS, ...options?.given })],
  });

const tree = async (backend) => {
  const paths = (await backend.glob("**")).files.map(({ path }) => path).sort();
  const all = paths.map(async (path) => [path, (await backend.read(path)).content]);
  return Object.fromEntries(await Promise.all(all));
};

const config = { configurable: { thread_id: "t" } };
const statesOf = async (agent, about = config) => {
  const states = [];
  for await (const state of agent.graph.getStateHistory(about)) states.push(state);
  return states.reverse();
};
/** The checkpoint before a node, with so many messages. */
const before = (states, node, messages) =>
  states.find(({ next, values }) => next[0] === node && values.messages.length === messages);

for (const [name, place] of Object.entries(PLACES)) {
  describe(name, () => {
    test("a run from an earlier checkpoint begins with the files of then", async () => {
      const [inner, keepIn, checkpointer] = [place(), memory(), new MemorySaver()];
      await inner.write("/old.txt", "old\n");
      const agent = agentOf(withHistory(inner, { keepIn: { backend: keepIn } }), checkpointer);
      await agent.invoke(said("go"), config);
      const then = await tree(inner);
      const done = { "/a.txt": "1 2\n", "/b.txt": "b\n", "/old.txt": "old\n" };
      assert.deepEqual(then, done);
      const states = await statesOf(agent);
      assert.ok(states.every(({ values }) => !("files" in values)));
      // Another process, which knows nothing but what is kept.
      const again = agentOf(withHistory(inner, { keepIn: { backend: keepIn } }), checkpointer);
      // Before the two edits: they are made anew on the files of then.
      const fork = before(states, "tools", 4) ?? states.find(({ next }) => next.includes("tools"));
      const result = await again.invoke(null, fork.config);
      assert.deepEqual(await tree(inner), done);
      assert.ok(answersOf(result).every((text) => !text.startsWith("Error")));
      // Before the first write, without going on: another message.
      const first = states.find(({ values }) => values.filesPin);
      await agent.graph.updateState(first.config, said("other"));
      assert.deepEqual(await tree(inner), done);
      const model = new ScriptedModel(() => [[["ls", { path: "/" }]], [["ls", { path: "/" }]]]);
      const looking = agentOf(withHistory(inner, { keepIn: { backend: keepIn } }), checkpointer, {
        model,
      });
      const looked = await looking.invoke(said("look"), first.config);
      assert.match(answersOf(looked)[0], /\/old\.txt/);
      assert.doesNotMatch(answersOf(looked)[0], /\/a\.txt/);
      assert.deepEqual(await tree(inner), { "/old.txt": "old\n" });
      // And forward again, to the end of the first run.
      await looking.invoke(said("back"), states.at(-1).config);
      assert.deepEqual(await tree(inner), done);
    });
  });
}

test("what others changed between two runs of a thread stays", async () => {
  const inner = memory();
  const agent = agentOf(withHistory(inner, { keepIn: { backend: memory() } }), new MemorySaver());
  await agent.invoke(said("go"), config);
  await inner.write("/others.txt", "others\n");
  await agent.invoke(said("more"), config);
  assert.deepEqual(await tree(inner), {
    "/a.txt": "first 2\n",
    "/b.txt": "b\n",
    "/others.txt": "others\n",
  });
});

test("calls of one step that were interrupted in part go on with what the others changed", async () => {
  const inner = memory();
  const asking = tool(() => `${interrupt("may I?")}`, {
    name: "ask",
    description: "asks",
    schema: z.object({}),
  });
  const model = new ScriptedModel(() => [[write("/a.txt", "one\n"), ["ask", {}]]]);
  const [keepIn, checkpointer] = [memory(), new MemorySaver()];
  const options = { model, tools: [asking] };
  const agent = agentOf(withHistory(inner, { keepIn: { backend: keepIn } }), checkpointer, options);
  await agent.invoke(said("go"), config);
  const again = agentOf(withHistory(inner, { keepIn: { backend: keepIn } }), checkpointer, options);
  const result = await again.invoke(new Command({ resume: "yes" }), config);
  assert.ok(answersOf(result).includes("yes"));
  assert.deepEqual(await tree(inner), { "/a.txt": "one\n" });
});

test("a checkpoint with a pin has at most 200 bytes more than one without files", async () => {
  const sizes = {};
  for (const checkpoint of ["none", "pin", "files"]) {
    const checkpointer = new MemorySaver();
    const world =
      checkpoint === "files" ? undefined : withHistory(memory(), { keepIn: { backend: memory() } });
    const given = { checkpoint: checkpoint === "pin" ? "pin" : "files" };
    const agent = agentOf(world, checkpointer, { given });
    // Ids of messages are random, and of one length.
    await agent.invoke(said("go"), config);
    const all = [];
    for await (const { checkpoint: one } of checkpointer.list(config)) {
      all.push(JSON.stringify(one).length);
    }
    sizes[checkpoint] = all[0];
  }
  console.log("bytes of the last checkpoint:", JSON.stringify(sizes));
  assert.ok(sizes.pin - sizes.none <= 200, JSON.stringify(sizes));
});

test("other backends and wrong options are refused", () => {
  const world = withHistory(memory(), { keepIn: { backend: memory() } });
  assert.throws(() => kitbagMiddleware(memory(), { checkpoint: "pin" }), /that withHistory\(\)/);
  assert.throws(() => kitbagMiddleware(undefined, { checkpoint: "pin" }), /that withHistory\(\)/);
  assert.throws(() => kitbagMiddleware(world, { checkpoint: "pins" }), /must be "files" or "pin"/);
});
