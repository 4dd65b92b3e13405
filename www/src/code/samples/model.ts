import { StateBackend } from "kitbag";
import { fileTools } from "kitbag/anthropic";

declare const client: {
  create(body: object): Promise<{ content: object[] }>;
};
const files = fileTools(new StateBackend());
const task = { role: "user", content: "Tidy up /work" };
const messages: object[] = [task];
const { content } = await client.create({
  system: files.systemPrompt,
  tools: files.definitions,
  messages,
});
messages.push({ role: "assistant", content });
const results = await files.run({ content });
messages.push({ role: "user", content: results });
