// `node main.mjs "your message"`

import { MemorySaver } from "@langchain/langgraph";
import { initChatModel } from "langchain";
import pg from "pg";
import { makeAgent } from "./agent.mjs";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
try {
  const agent = makeAgent({
    model: await initChatModel(process.env.MODEL ?? "anthropic:claude-sonnet-4-5"),
    client: pool,
    user: process.env.USER ?? "somebody",
    policies: new URL("policies", import.meta.url).pathname,
    audit: ({ operation, path, code }) => console.error(operation, path, code),
    checkpointer: new MemorySaver(),
  });
  const messages = [{ role: "user", content: process.argv.slice(2).join(" ") }];
  const thread = { configurable: { thread_id: "1" } };
  const state = await agent.invoke({ messages }, thread);
  console.log(state.messages.at(-1).text);
} finally {
  await pool.end();
}
