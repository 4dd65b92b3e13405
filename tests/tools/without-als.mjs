// Run with `--conditions=browser` and with AsyncLocalStorage out of sight: what a browser has.
// Run without: a host whose AsyncLocalStorage LangChain finds and kitbag does not, as older Nodes.

process.getBuiltinModule = undefined;

const { getConfig, InMemoryStore } = await import("@langchain/langgraph");
const { CompositeBackend, StateBackend, StoreBackend, withPolicy } = await import("kitbag");
const { kitbagMiddleware, stateBackend, storeBackend } = await import("kitbag/langchain");
const { createAgent, tool } = await import("langchain");
const { ScriptedModel } = await import("./model.mjs");
const { z } = await import("zod");

const turns = (tenant) => [
  [["probe", {}]],
  [["write_file", { file_path: "/own.txt", content: `one of ${tenant}\n` }]],
  [["read_file", { file_path: "/own.txt" }]],
  [["edit_file", { file_path: "/own.txt", old_string: "one", new_string: "two" }]],
  [["write_file", { file_path: `/dir/${tenant}.txt`, content: tenant }]],
];

let config;
const probe = tool(
  () => {
    config = getConfig() !== undefined;
    return "seen";
  },
  { name: "probe", description: "Looks for the graph", schema: z.object({}) },
);

async function play(backend) {
  const store = new InMemoryStore();
  const agent = createAgent({
    model: new ScriptedModel(turns),
    tools: [probe],
    middleware: [kitbagMiddleware(backend)],
    store,
    contextSchema: z.object({ tenant: z.string() }),
  });
  const state = await agent.invoke(
    { messages: [{ role: "user", content: "tenant-0" }] },
    { context: { tenant: "tenant-0" } },
  );
  const items = await store.search(["files", "tenant-0"]);
  return {
    state,
    held: Object.fromEntries(items.map((one) => [one.key, one.value.content]).sort()),
  };
}

const namespace = (runtime) => ["files", runtime.context.tenant];
const state = (await play(stateBackend())).state.files["/own.txt"].content;
const { held } = await play(storeBackend({ namespace }));
const plain = (await play(new StoreBackend({ namespace }))).held;

/** Twelve threads at once on one agent over a bare StateBackend. */
async function threads(backend) {
  const model = new ScriptedModel(turns);
  const agent = process.argv.includes("deepagents")
    ? (await import("deepagents")).createDeepAgent({ model, tools: [probe], backend })
    : createAgent({ model, tools: [probe], middleware: [kitbagMiddleware(backend)] });
  const names = Array.from({ length: 12 }, (_, at) => `tenant-${at}`);
  const states = await Promise.all(
    names.map((name) => agent.invoke({ messages: [{ role: "user", content: name }] })),
  );
  return states.map(({ files }) =>
    Object.fromEntries(Object.entries(files).map(([path, { content }]) => [path, content])),
  );
}
const inspect = () => new Promise((resolve) => setImmediate(resolve));
const bare = [];
for (const make of [
  (backend) => backend,
  (backend) => new CompositeBackend(backend, { "/o/": new StateBackend({ files: {} }) }),
  (backend) => withPolicy(backend, { inspect, quota: { maxFiles: 2 } }),
]) {
  bare.push(await threads(make(new StateBackend())));
}
const outside = await new StoreBackend({ namespace: ["a"] }).write("/a", "x");
console.log(JSON.stringify({ config, state, store: held, plain, bare, outside: outside.error }));
