// `node main.mjs FOLDER`: a conversation on the terminal; `/undo` takes back what the last message changed.

import { createInterface } from "node:readline/promises";
import { InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { initChatModel } from "langchain";
import { makeAgent } from "./agent.mjs";

const agent = makeAgent({
  model: await initChatModel(process.env.MODEL ?? "anthropic:claude-sonnet-4-5"),
  folder: process.argv[2] ?? ".",
  // In production a store that lasts, such as LangGraph's for Postgres.
  store: new InMemoryStore(),
  user: process.env.USER ?? "somebody",
  checkpointer: new MemorySaver(),
});
const thread = { configurable: { thread_id: "1" } };
const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: "> " });
lines.prompt();
for await (const line of lines) {
  try {
    if (line === "/undo") {
      const { paths = [], error } = await agent.undo();
      console.log(error ?? `Taken back: ${paths.join(", ")}`);
    } else if (line.trim() !== "") {
      const { text, changed, error } = await agent.answer(line, thread);
      console.log(text);
      if (error) console.log(`Nothing was stored: ${error}`);
      else if (changed.length > 0) console.log(`Changed: ${changed.join(", ")}`);
    }
  } catch (error) {
    console.log(`It failed, and nothing was stored: ${error.message}`);
  }
  lines.prompt();
}
