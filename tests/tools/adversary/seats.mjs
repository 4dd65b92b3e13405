// The tool set of an agent in one of its presentations. `call` resolves to what the model sees.

/** A client that is linked with a server in memory, and what it hears. */
async function overMcp(api, agent, below, options) {
  const { types } = api;
  const server = new api.server.McpServer({ name: "files", version: "1" });
  const structured = agent.id === 0;
  const roots = agent.roots && {
    roots: (uri) =>
      uri.startsWith("file:///tree/") ? uri.slice("file:///tree".length) : undefined,
  };
  const set = api.mcp.registerFileTools(server, below, { ...options, ...roots, structured });
  const client = new api.client.Client(
    { name: "client", version: "1" },
    { capabilities: agent.roots ? { roots: {} } : {} },
  );
  if (agent.roots) {
    client.setRequestHandler(types.ListRootsRequestSchema, () => {
      if (agent.roots === "silent") throw new Error("the roots are not told");
      return { roots: agent.roots.map((path) => ({ uri: `file:///tree${path}` })) };
    });
  }
  for (const schema of [
    types.ResourceListChangedNotificationSchema,
    types.ResourceUpdatedNotificationSchema,
  ]) {
    client.setNotificationHandler(schema, (message) => {
      agent.inbox.push(message);
    });
  }
  const [near, far] = api.transport.InMemoryTransport.createLinkedPair();
  await Promise.all([client.connect(near), server.connect(far)]);
  const asked = async (ask) => {
    try {
      return await ask();
    } catch (error) {
      // The protocol's own errors are answers too.
      if (typeof error?.code === "number") return { isError: true, error };
      throw error;
    }
  };
  return {
    set,
    call: (name, input) => asked(() => client.callTool({ name, arguments: input })),
    resources: {
      list: () => asked(() => client.listResources()),
      read: (path) => asked(() => client.readResource({ uri: uriOf(path) })),
      subscribe: (path) => asked(() => client.subscribeResource({ uri: uriOf(path) })),
    },
    close: () => {
      client.close().catch(() => {});
    },
  };
}

const uriOf = (path) => `kitbag://${path.split("/").map(encodeURIComponent).join("/")}`;

let calls = 0;
const nextId = () => {
  calls += 1;
  return `call_${calls}`;
};

const SEATS = {
  mcp: overMcp,
  tools: async (api, _agent, below, options) => {
    const set = api.kitbag.createFileTools(below, options);
    return { set, call: (name, input) => set.call(name, input, { callId: nextId() }) };
  },
  anthropic: async (api, _agent, below, options) => {
    const set = api.anthropic.fileTools(below, options);
    return {
      set,
      call: async (name, input) => {
        const use = { type: "tool_use", id: nextId(), name, input };
        const [result] = await set.run({ content: [use] });
        return { ...result, isError: result.is_error };
      },
    };
  },
  openai: async (api, _agent, below, options) => {
    const set = api.openai.fileTools(below, options);
    return {
      set,
      call: async (name, input) => {
        const item = { type: "function_call", call_id: nextId(), name };
        const output = [{ ...item, arguments: JSON.stringify(input) }];
        const [result] = await set.run({ output });
        const text = typeof result.output === "string" ? result.output : "";
        return { result, isError: text.startsWith("Error") };
      },
    };
  },
};

/** The seat of an agent: `set` is its tool set, `call` a call of a tool. */
export async function seatOf(api, agent, below, options) {
  return { close() {}, ...(await SEATS[agent.kind](api, agent, below, options)) };
}
