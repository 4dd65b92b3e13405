// Backends that find the store or the state of the graph that runs: inside createAgent and
// deepagents' createDeepAgent, for many tenants and threads at the same time, with one agent for
// all of them.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { createDeepAgent } from "deepagents";
import { StateBackend, StoreBackend, withPolicy } from "kitbag";
import { graphChanges, kitbagMiddleware, stateBackend, storeBackend } from "kitbag/langchain";
import { createAgent } from "langchain";
import { z } from "zod";
import { answersOf } from "../lib/model.mjs";
import { ScriptedModel } from "./model.mjs";
import { SET } from "./set.mjs";

const TENANTS = Array.from({ length: 12 }, (_, at) => `tenant-${at}`);

const turns = (tenant) => [
  [["write_file", { file_path: "/own.txt", content: `one of ${tenant}\n` }]],
  [["read_file", { file_path: "/own.txt" }]],
  [["edit_file", { file_path: "/own.txt", old_string: "one", new_string: "two" }]],
  [
    ["grep", { pattern: "of tenant", output_mode: "content" }],
    ["ls", { path: "/" }],
  ],
  [["write_file", { file_path: `/dir/${tenant}.txt`, content: tenant }]],
  [["read_file", { file_path: "/own.txt" }]],
];

const FRAMEWORKS = {
  createAgent: (backend, options) =>
    createAgent({ tools: [], middleware: [kitbagMiddleware(backend)], ...options }),
  createDeepAgent: (backend, options) => createDeepAgent({ backend, ...options }),
};

const contextSchema = z.object({ tenant: z.string() });

const said = (tenant) => ({ messages: [{ role: "user", content: tenant }] });

/** What a store holds under a namespace, by path. */
async function held(store, namespace) {
  const found = await store.search(namespace, { limit: 1_000 });
  // A search by prefix answers with `tenant-10` too where `tenant-1` was meant.
  const items = found.filter((item) => item.namespace.join() === namespace.join());
  return Object.fromEntries(items.map(({ key, value }) => [key, value.content]).sort());
}

/** One agent, all tenants at once; each must find its own files and none of another's. */
async function tenancy(make, backend, configOf) {
  const store = new InMemoryStore();
  const agent = make(backend, {
    model: new ScriptedModel(turns),
    store,
    checkpointer: new MemorySaver(),
    contextSchema,
  });
  const states = await Promise.all(
    TENANTS.map((tenant) =>
      agent.invoke(said(tenant), { recursionLimit: 100, ...configOf(tenant) }),
    ),
  );
  for (const [at, tenant] of TENANTS.entries()) {
    const all = answersOf(states[at]);
    assert.equal(all.length, 7, tenant);
    const text = all.join("\n");
    assert.match(all.at(-1), new RegExp(`two of ${tenant}(\n|$)`));
    for (const other of TENANTS) {
      if (other !== tenant) assert.doesNotMatch(text, new RegExp(`${other}(\\D|$)`), text);
    }
    assert.deepEqual(await held(store, ["files", tenant]), {
      [`/dir/${tenant}.txt`]: tenant,
      "/own.txt": `two of ${tenant}\n`,
    });
  }
}

const byContext = (tenant) => ({ context: { tenant }, configurable: { thread_id: tenant } });
const byConfig = (tenant) => ({
  context: { tenant: "nobody" },
  configurable: { thread_id: tenant, tenant },
});
const ofContext = (runtime) => ["files", runtime.context.tenant];
const ofConfig = (runtime) => ["files", runtime.config.configurable.tenant];

for (const [name, backend, frameworks, configOf] of [
  [
    "new StoreBackend({ namespace }) by context",
    () => new StoreBackend({ namespace: ofContext }),
    ["createAgent"],
    byContext,
  ],
  [
    "the same under a policy",
    () =>
      withPolicy(new StoreBackend({ namespace: ofContext }), {
        quota: { maxBytes: 1_000_000 },
        inspect: () => new Promise((resolve) => setTimeout(resolve, 1)),
      }),
    ["createAgent"],
    byContext,
  ],
  [
    "new StoreBackend({ namespace }) by config",
    () => new StoreBackend({ namespace: ofConfig }),
    ["createAgent", "createDeepAgent"],
    byConfig,
  ],
  [
    "storeBackend({ namespace }) by context",
    () => storeBackend({ namespace: ofContext }),
    ["createAgent", "createDeepAgent"],
    byContext,
  ],
  [
    "storeBackend({ namespace }) by context of the older `runtime`",
    () => storeBackend({ namespace: ({ runtime }) => ["files", runtime.context.tenant] }),
    ["createAgent", "createDeepAgent"],
    byContext,
  ],
]) {
  for (const framework of frameworks) {
    test(`${framework}: ${name}, twelve tenants at once`, () =>
      tenancy(FRAMEWORKS[framework], backend(), configOf));
  }
}

/** Since LangGraph 1.7 tools see the context of the run. */
const told = SET === "newest";

test(`deepagents tells a backend instance ${told ? "the" : "no"} context, as docs/migrate.md says`, async () => {
  const agent = createDeepAgent({
    backend: new StoreBackend({ namespace: ofContext }),
    model: new ScriptedModel(turns),
    store: new InMemoryStore(),
    contextSchema,
  });
  const state = await agent.invoke(said("tenant-0"), byContext("tenant-0"));
  assert.match(answersOf(state)[0], told ? /^Successfully wrote/ : /namespace\(\) threw/);
});

for (const [framework, make] of Object.entries(FRAMEWORKS)) {
  test(`${framework}: stateBackend() keeps each thread's files, and goes on with them`, async () => {
    const checkpointer = new MemorySaver();
    const more = (first) =>
      first.startsWith("more ")
        ? [...turns(first.slice(5)), ...again(first.slice(5))]
        : turns(first);
    const again = (tenant) => [
      [["read_file", { file_path: "/own.txt" }]],
      [["edit_file", { file_path: "/own.txt", old_string: "two", new_string: "three" }]],
      [["delete", { file_path: `/dir/${tenant}.txt` }]],
    ];
    const agent = make(stateBackend(), { model: new ScriptedModel(more), checkpointer });
    const config = (tenant) => ({ recursionLimit: 100, configurable: { thread_id: tenant } });
    const states = await Promise.all(
      TENANTS.map((tenant) => agent.invoke(said(`more ${tenant}`), config(tenant))),
    );
    for (const [at, tenant] of TENANTS.entries()) {
      assert.equal(states[at].files["/own.txt"].content, `three of ${tenant}\n`);
      const kept = await agent.graph.getState(config(tenant));
      const files = Object.keys(kept.values.files);
      assert.deepEqual(files, ["/own.txt"]);
      assert.equal(kept.values.files["/own.txt"].content, `three of ${tenant}\n`);
    }
  });
}

test("a second message goes on with the files of the first", async () => {
  const agent = createAgent({
    model: new ScriptedModel(() => [
      [["write_file", { file_path: "/a", content: "1\n" }]],
      undefined,
      [["read_file", { file_path: "/a" }]],
      [["edit_file", { file_path: "/a", old_string: "1", new_string: "2" }]],
    ]),
    tools: [],
    middleware: [kitbagMiddleware(stateBackend())],
    checkpointer: new MemorySaver(),
  });
  const config = { configurable: { thread_id: "t" } };
  await agent.invoke(said("go"), config);
  const state = await agent.invoke(said("on"), config);
  assert.equal(state.files["/a"].content, "2\n");
});

test("outside a graph each says what it needs", async () => {
  const plain = await new StoreBackend({ namespace: ["a"] }).write("/a", "x");
  assert.equal(plain.code, "unavailable");
  assert.match(plain.error, /A store is required/);
  assert.throws(storeBackend({ namespace: ["a"] }), /compiled with a store/);
  const state = stateBackend()();
  assert.ok(state instanceof StateBackend);
  assert.match(state.write("/a", "x").error, /only inside a running graph/);
});

/** What `without-als.mjs` saw in a process of its own. */
async function withoutStorage(...args) {
  const script = fileURLToPath(new URL("./without-als.mjs", import.meta.url));
  const hook = fileURLToPath(new URL("./packages.mjs", import.meta.url));
  const conditions = args.filter((arg) => arg.startsWith("--"));
  const rest = args.filter((arg) => !arg.startsWith("--"));
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...conditions,
    "--import",
    hook,
    script,
    ...rest,
  ]);
  return JSON.parse(stdout.trim().split("\n").at(-1));
}

const left = (tenant) => ({
  [`/dir/${tenant}.txt`]: tenant,
  "/own.txt": `two of ${tenant}\n`,
});

test("where only a tool's call knows which graph runs, as in a browser", async () => {
  const seen = await withoutStorage("--conditions=browser");
  assert.equal(seen.config, false, "LangGraph's entry for browsers has no record of the graph");
  assert.equal(seen.state, "two of tenant-0\n");
  assert.deepEqual(seen.store, left("tenant-0"));
  assert.deepEqual(seen.plain, left("tenant-0"));
  for (const threads of seen.bare) assert.deepEqual(threads, TENANTS.map(left));
  assert.match(seen.outside, /in a browser.*use storeBackend\(\)/);
});

test("where only LangChain finds the AsyncLocalStorage, calls that wait keep their graph", async () => {
  const seen = await withoutStorage("deepagents");
  assert.equal(seen.config, true);
  for (const threads of seen.bare) assert.deepEqual(threads, TENANTS.map(left));
});

test("the updates of a graph's stream tell which files each step has changed", async () => {
  const steps = () => [
    [
      ["write_file", { file_path: "/a.txt", content: "a" }],
      ["write_file", { file_path: "/d/b.txt", content: "b" }],
    ],
    [["read_file", { file_path: "/a.txt" }]],
    [["edit_file", { file_path: "/a.txt", old_string: "a", new_string: "c" }]],
  ];
  const told = async (make, options) => {
    const agent = make(new StateBackend(), { model: new ScriptedModel(steps) });
    const found = [];
    for await (const part of await agent.stream(said("one"), { recursionLimit: 100, ...options })) {
      const changes = graphChanges(part);
      if (changes) found.push(changes);
    }
    // Whether calls of one step are one update is the framework's choice.
    const all = found.flatMap(({ paths, rescan }) => (rescan ? ["rescan"] : paths));
    return [all.slice(0, 2).sort(), all.slice(2)];
  };
  for (const [name, make] of Object.entries(FRAMEWORKS)) {
    for (const options of [
      { streamMode: "updates" },
      { streamMode: ["values", "updates"] },
      { streamMode: "updates", subgraphs: true },
    ]) {
      const seen = await told(make, options);
      const what = `${name} ${JSON.stringify(options)}`;
      assert.deepEqual(seen, [["/a.txt", "/d/b.txt"], ["/a.txt"]], what);
    }
  }
});

test("an update that replaces all files asks for a rescan, and other parts tell nothing", () => {
  assert.deepEqual(graphChanges({ tools: { files: { __overwrite__: {} } } }), {
    paths: [],
    rescan: true,
  });
  const gone = { tools: [{ files: { "/a": null } }, null, { files: { "/a": {}, "/b": {} } }] };
  assert.deepEqual(graphChanges(gone), { paths: ["/a", "/b"] });
  for (const part of [undefined, null, "x", {}, { model: null }, { model: { messages: [] } }]) {
    assert.equal(graphChanges(part), undefined);
  }
  assert.equal(graphChanges(["values", { tools: { files: { "/a": {} } } }]), undefined);
});
