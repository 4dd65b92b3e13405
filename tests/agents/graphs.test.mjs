// A bare StateBackend inside graphs of every kind: whose files it shows, and what it says where a
// graph keeps none.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runConformance } from "../../pkg/dist/conformance.js";
import * as deepagents from "../deps/latest/deepagents.mjs";
import { Annotation, InMemoryStore, MemorySaver, StateGraph } from "../deps/latest/deepagents.mjs";
import * as older from "../deps/older/deepagents.mjs";
import {
  begin,
  CompositeBackend,
  createFileTools,
  StateBackend,
  StoreBackend,
  undo,
  withPolicy,
} from "../lib/kitbag.mjs";
import { answersOf, scriptedModels } from "../lib/model.mjs";
import { contents } from "./work.mjs";

const merged = (current, update) => {
  const files = { ...current };
  for (const [path, file] of Object.entries(update)) {
    if (file === null) delete files[path];
    else files[path] = file;
  }
  return files;
};

const files = () => Annotation({ reducer: merged, default: () => ({}) });

/** A graph of one node. */
const graphOf = (channels, node, options) =>
  new StateGraph(Annotation.Root(channels))
    .addNode("node", node)
    .addEdge("__start__", "node")
    .compile(options);

/** Does work in the node of a graph, with `state` to begin with; its value and the state after. */
async function inGraph(
  work,
  state = { files: {} },
  { channels = { files: files() }, config, ...options } = {},
) {
  let value;
  const graph = graphOf(
    channels,
    async (...given) => {
      value = await work(...given);
      return {};
    },
    options,
  );
  const after = await graph.invoke(state, config);
  return { value, files: contents(after.files) };
}

const file = (content) => ({
  content,
  mimeType: "text/plain",
  created_at: "2026-01-01T00:00:00.000Z",
  modified_at: "2026-01-01T00:00:00.000Z",
});

test("a node reads, writes, edits, uploads and deletes the state's files", async () => {
  const backend = new StateBackend();
  const start = { files: { "/a": file("one\n"), "/gone/x": file("x"), "/gone/y": file("y") } };
  const { value, files } = await inGraph(() => {
    const steps = [
      backend.read("/a").content,
      backend.edit("/a", "one", "two").occurrences,
      backend.write("/b", "b").path,
      backend.uploadFiles([["/c", new TextEncoder().encode("c")]])[0].error,
      backend.delete("/gone").path,
      backend.ls("/").files.map(({ path }) => path),
      backend.grep("two").matches.map(({ path }) => path),
      backend.glob("*").files.length,
      new TextDecoder().decode(backend.downloadFiles(["/a"])[0].content),
      backend.readRaw("/a").data.created_at,
      Object.keys(backend.snapshot()),
    ];
    assert.throws(() => backend.restore({}), /restore\(\) is for files of the backend itself/);
    return steps;
  }, start);
  assert.deepEqual(value, [
    "one\n",
    1,
    "/b",
    null,
    "/gone",
    ["/a", "/b", "/c"],
    ["/a"],
    3,
    "two\n",
    "2026-01-01T00:00:00.000Z",
    ["/a", "/b", "/c"],
  ]);
  assert.deepEqual(files, { "/a": "two\n", "/b": "b", "/c": "c" });
  assert.deepEqual(backend.snapshot(), {}, "its own memory is empty");
});

test("outside of a graph it is a memory of its own, and is so again after one", async () => {
  const backend = new StateBackend();
  backend.write("/own", "outside");
  const { value } = await inGraph(() => backend.read("/own").code, { files: {} });
  assert.equal(value, "not_found");
  assert.equal(backend.read("/own").content, "outside");
});

test("two bare backends in one graph show the same files", async () => {
  const [one, two] = [new StateBackend(), new StateBackend()];
  const { value } = await inGraph(() => {
    one.write("/a", "a");
    two.edit("/a", "a", "b");
    return one.read("/a").content;
  });
  assert.equal(value, "b");
});

test('with files, with scope "instance" and as a subclass with files it keeps its own', async () => {
  class Own extends StateBackend {
    constructor() {
      super({ files: {} });
    }
  }
  for (const backend of [
    new StateBackend({ files: {} }),
    new StateBackend({ scope: "instance" }),
    new Own(),
  ]) {
    const { files } = await inGraph(() => backend.write("/a", "a"));
    assert.deepEqual(files, {});
    assert.equal(backend.read("/a").content, "a");
  }
});

test("a bare subclass is the running graph's state too, also behind a router", async () => {
  class Loud extends StateBackend {
    read(...args) {
      const answer = super.read(...args);
      return { ...answer, content: answer.content?.toUpperCase() };
    }
  }
  const routed = new CompositeBackend(new Loud(), {});
  const { value, files } = await inGraph(async () => {
    await routed.write("/a", "a");
    return (await routed.read("/a")).content;
  });
  assert.equal(value, "A");
  assert.deepEqual(files, { "/a": "a" });
});

const REFUSED = /no `files`.*kitbagMiddleware\(\).*scope: "instance"/;

test("where the graph's state has no files every operation is refused, and says what to do", async () => {
  const backend = new StateBackend();
  const routed = withPolicy(new CompositeBackend(backend, {}), {});
  const channels = { n: Annotation() };
  const { value } = await inGraph(
    async () => [
      backend.ls("/"),
      backend.read("/a"),
      backend.readRaw("/a"),
      backend.grep("a"),
      backend.glob("*"),
      backend.write("/a", "a"),
      backend.edit("/a", "a", "b"),
      backend.delete("/a"),
      await routed.write("/a", "a"),
    ],
    { n: 1 },
    { channels },
  );
  for (const answer of value) {
    assert.equal(answer.code, "unavailable");
    assert.match(answer.error, REFUSED);
  }
  const batches = await inGraph(
    () => [backend.uploadFiles([["/a", new Uint8Array(1)]]), backend.downloadFiles(["/a"])],
    { n: 1 },
    { channels },
  );
  for (const [answer] of batches.value) assert.equal(answer.code, "unavailable");
  assert.deepEqual(backend.snapshot(), {}, "nothing went to a memory that threads share");
});

test("where `files` is something else, that is refused too, and stays as it is", async () => {
  const backend = new StateBackend();
  const graph = graphOf({ files: Annotation() }, () => ({
    files: [backend.write("/a", "a").error],
  }));
  const { files } = await graph.invoke({ files: ["a.pdf"] });
  assert.match(files[0], /`files` in its state is no record/);
});

for (const [version, installed] of [
  ["1.14.1", deepagents],
  ["1.10.7", older],
]) {
  test(`two edits of one file in one step both land, or one is told of the conflict (deepagents ${version})`, async () => {
    const Model = scriptedModels(installed);
    for (const [backend, lands] of [
      [new StateBackend(), 3],
      [new CompositeBackend(new StateBackend(), {}), 3],
      [withPolicy(new StateBackend(), { inspect: () => Promise.resolve() }), 3],
      [(runtime) => new StateBackend(runtime), 1],
      [(runtime) => new CompositeBackend(new StateBackend(runtime), {}), 1],
    ]) {
      const edit = (from, to) => [
        "edit_file",
        { file_path: "/a", old_string: from, new_string: to },
      ];
      const model = new Model(() => [
        [["write_file", { file_path: "/a", content: "one two three\n" }]],
        [edit("one", "1"), edit("two", "2"), edit("three", "3")],
      ]);
      const agent = installed.createDeepAgent({ model, backend });
      const state = await agent.invoke({ messages: [{ role: "user", content: "go" }] });
      const refused = answersOf(state).filter((text) =>
        /another call.*has changed it/.test(text),
      ).length;
      const { "/a": text } = contents(state.files);
      const landed = ["1", "2", "3"].filter((digit) => text.includes(digit)).length;
      assert.equal(landed + refused, 3, text);
      assert.ok(landed >= lands, `${landed} landed: ${text}`);
    }
  });
}

test("a tool called with a state but without its graph is refused, not given a shared memory", async () => {
  const { call } = createFileTools(new StateBackend());
  const write = (runtime) => call("write_file", { file_path: "/a", content: "a" }, { runtime });
  const { text, isError } = await write({ state: { messages: [], files: {} } });
  assert.equal(isError, true);
  assert.match(text, /\(runtime\) => new StateBackend\(runtime\)/);
  assert.equal((await write(undefined)).isError, false);
});

test("a tool's runtime names its graph where nothing else does", async () => {
  const states = { a: {}, b: {} };
  const runtime = (thread) => ({
    configurable: {
      thread_id: thread,
      __pregel_read: () => states[thread],
      __pregel_send: ([[, update]]) => {
        states[thread] = merged(states[thread], update);
      },
    },
  });
  const { call } = createFileTools(
    withPolicy(new StateBackend(), { inspect: () => new Promise((done) => setImmediate(done)) }),
  );
  const write = (thread) =>
    call("write_file", { file_path: `/${thread}`, content: thread }, { runtime: runtime(thread) });
  await Promise.all([write("a"), write("b")]);
  assert.deepEqual([states.a, states.b].map(contents), [{ "/a": "a" }, { "/b": "b" }]);
});

test("a graph that runs inside a tool's call has its own files", async () => {
  const inner = new StateBackend();
  const outer = new StateBackend();
  let after;
  const deep = {
    ...Object.fromEntries(
      ["read", "readRaw", "grep", "glob", "edit"].map((name) => [
        name,
        (...args) => outer[name](...args),
      ]),
    ),
    ls: (path) => outer.ls(path),
    async write(path, content) {
      ({ files: after } = await inGraph(
        () => inner.write("/inner", "i"),
        { files: {} },
        {
          config: { configurable: { thread_id: "inner" } },
          checkpointer: new MemorySaver(),
        },
      ));
      return outer.write(path, content);
    },
  };
  const { call } = createFileTools(deep);
  const { value, files } = await inGraph((_state, config) =>
    call("write_file", { file_path: "/outer", content: "o" }, { runtime: config }),
  );
  assert.equal(value.isError, false, value.text);
  assert.deepEqual(after, { "/inner": "i" });
  assert.deepEqual(files, { "/outer": "o" });
});

test("a state that cannot take a change is told, and the change is not shown afterwards", async () => {
  const runtime = {
    configurable: {
      __pregel_read: () => ({}),
      __pregel_send: () => {
        throw new Error("it is closed");
      },
    },
  };
  const { call } = createFileTools(new StateBackend());
  const { text } = await call("write_file", { file_path: "/a", content: "a" }, { runtime });
  assert.match(text, /could not be changed: it is closed/);
  const { text: read } = await call("read_file", { file_path: "/a" }, { runtime });
  assert.match(read, /not found/);
});

test("more threads than copies are kept see their own files all the same", async () => {
  const backend = new StateBackend();
  const channels = { files: files() };
  const graph = graphOf(
    channels,
    async (_state, { configurable }) => {
      const { thread_id } = configurable;
      backend.write(`/${thread_id}`, thread_id);
      await new Promise((resolve) => setImmediate(resolve));
      const seen = backend.ls("/").files.map(({ path }) => path);
      assert.deepEqual(seen, [`/${thread_id}`]);
      backend.edit(`/${thread_id}`, thread_id, `${thread_id}!`);
      return {};
    },
    { checkpointer: new MemorySaver() },
  );
  await Promise.all(
    Array.from({ length: 200 }, async (_, at) => {
      const thread_id = `t${at}`;
      const state = await graph.invoke({ files: {} }, { configurable: { thread_id } });
      assert.deepEqual(contents(state.files), { [`/${thread_id}`]: `${thread_id}!` });
    }),
  );
});

test("threads without a name, as without a checkpointer, are told apart", async () => {
  const backend = new StateBackend();
  await Promise.all(
    Array.from({ length: 20 }, async (_, at) => {
      const { files } = await inGraph(async () => {
        assert.deepEqual(backend.ls("/").files, []);
        backend.write(`/${at}`, "x");
        await new Promise((resolve) => setImmediate(resolve));
      });
      assert.deepEqual(files, { [`/${at}`]: "x" });
    }),
  );
});

test("a namespace function gets the context and what LangGraph knows of server and task", async () => {
  const store = new InMemoryStore();
  const told = [];
  const backend = new StoreBackend({
    namespace: (runtime) => {
      told.push({ ...runtime });
      return ["files", runtime.context.user];
    },
  });
  const config = {
    context: { user: "ann" },
    configurable: { thread_id: "t", assistant_id: "asst", graph_id: "g" },
  };
  const { value } = await inGraph(
    async () => [
      await backend.write("/a", "a"),
      await new CompositeBackend(backend, {}).write("/b", "b"),
      await withPolicy(backend, {}).write("/c", "c"),
    ],
    undefined,
    { store, config, checkpointer: new MemorySaver() },
  );
  for (const answer of value) assert.equal(answer.error, undefined);
  const held = await store.search(["files", "ann"]);
  assert.deepEqual(held.map(({ key }) => key).sort(), ["/a", "/b", "/c"]);
  for (const { context, serverInfo, executionInfo } of told) {
    assert.deepEqual(context, { user: "ann" });
    assert.equal(serverInfo.assistantId, "asst");
    assert.equal(serverInfo.graphId, "g");
    assert.equal(executionInfo.threadId, "t");
    assert.ok(executionInfo.taskId && executionInfo.checkpointId && executionInfo.checkpointNs);
  }
});

test("a tool is told the same of server and task as a node, from its graph's config", async () => {
  const store = new InMemoryStore();
  let inTool;
  const backend = new StoreBackend({
    namespace: ({ serverInfo, executionInfo }) => {
      inTool = { serverInfo, executionInfo };
      return ["files", executionInfo.threadId];
    },
  });
  let inNode;
  const look = deepagents.tool(() => backend.write("/a", "a"), {
    name: "look",
    description: "",
    schema: { type: "object", properties: {} },
  });
  await inGraph(
    async (_state, config) => {
      inNode = { serverInfo: config.serverInfo, executionInfo: config.executionInfo };
      await look.invoke({});
    },
    undefined,
    {
      store,
      config: { configurable: { thread_id: "t", assistant_id: "asst", graph_id: "g" } },
      checkpointer: new MemorySaver(),
    },
  );
  const { nodeAttempt, nodeFirstAttemptTime, ...task } = inNode.executionInfo;
  assert.ok(nodeAttempt);
  assert.deepEqual(inTool.executionInfo, task);
  const { user: _user, ...server } = inNode.serverInfo;
  assert.deepEqual(inTool.serverInfo, server);
});

test("what a failed attempt of a node wrote is gone when the node is tried again", async () => {
  const inTool = (work) =>
    deepagents
      .tool(work, { name: "work", description: "", schema: { type: "object", properties: {} } })
      .invoke({});
  for (const called of [(work) => work(), inTool]) {
    const backend = new StateBackend();
    const answers = [];
    const graph = new StateGraph(Annotation.Root({ files: files() }))
      .addNode(
        "node",
        async () => {
          const number = answers.length;
          await called(() => {
            answers.push([
              backend.write("/a", `${number}`).error,
              backend.write(`/only-${number}`, "x").error,
              backend.edit("/a", `${number}`, `${number}!`).error,
            ]);
          });
          if (number < 2) throw new Error("try again");
          return {};
        },
        { retryPolicy: { maxAttempts: 3, initialInterval: 1, jitter: false, logWarning: false } },
      )
      .addEdge("__start__", "node")
      .compile({});
    const state = await graph.invoke({ files: {} });
    assert.deepEqual(answers.flat(), Array(9).fill(undefined));
    assert.deepEqual(contents(state.files), { "/a": "2!", "/only-2": "x" });
  }
});

test("turns over the state of a graph conform, each case in a run of its own", async () => {
  const turns = { begin, undo };
  const names = [];
  const options = { turns, report: (name) => names.push(name) };
  await runConformance(() => new StateBackend({ files: {} }), options);
  const cases = names.slice(
    names.indexOf("a turn shows its changes, and nothing changes before its commit"),
  );
  assert.ok(cases.length >= 8, `${cases}`);
  for (const only of cases) {
    const make = () => new StateBackend();
    const { value } = await inGraph(() => runConformance(make, { turns, only: [only] }));
    assert.deepEqual([value.failures, value.leftOut], [[], []], only);
    assert.ok(value.passed > 0, only);
  }
});
