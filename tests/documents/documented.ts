// What the blocks of the documents import: kitbag, and `createDeepAgent` with what every agent needs
// and no block names: a model, a checkpointer, and the store that a platform has. The model takes its
// turns from the first message.

import { type BaseStore, InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { createDeepAgent as create } from "deepagents";
import type { AnyBackend } from "kitbag";
import { kitbagMiddleware } from "kitbag/langchain";
import { createAgent } from "langchain";
import { z } from "zod";
import { type Call, model } from "./model.js";

export * from "kitbag";

interface Given {
  backend?: AnyBackend;
  store?: BaseStore;
}

const given = new WeakMap<object, Given>();
const scripted = () => model((text) => JSON.parse(text) as Call[][]);

export const createDeepAgent = ((options: Given = {}) => {
  const usual = { model: scripted(), checkpointer: new MemorySaver(), store: new InMemoryStore() };
  const agent = create({ ...usual, ...options } as never);
  given.set(agent, options);
  return agent;
}) as typeof create;

/** An agent with the backend and the store of another, and kitbag's tools. */
export function withToolsOfKitbag(agent: object): unknown {
  const { backend, store } = given.get(agent) ?? {};
  return createAgent({
    model: scripted(),
    tools: [],
    middleware: [kitbagMiddleware(backend)],
    contextSchema: z.object({ userId: z.string() }),
    ...(store ? { store } : {}),
  });
}
