// Run with `--conditions=browser` and with AsyncLocalStorage out of sight: what a browser has.

process.getBuiltinModule = undefined;

const { getConfig, InMemoryStore } = await import("@langchain/langgraph");
const { StoreBackend } = await import("kitbag");
const { kitbagMiddleware, stateBackend, storeBackend } = await import("kitbag/langchain");
const { createAgent, tool } = await import("langchain");
const { answers, ScriptedModel } = await import("./model.mjs");
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
const plain = answers((await play(new StoreBackend({ namespace }))).state)[1];
console.log(JSON.stringify({ config, state, store: held, plain }));
