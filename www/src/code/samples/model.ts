import { StateBackend } from "kitbag";
import { anthropicTools } from "kitbag/anthropic";

declare const client: {
  messages: { create(body: object): Promise<{ content: object[]; stop_reason: string }> };
};
const files = anthropicTools(new StateBackend());
const messages: object[] = [{ role: "user", content: "Tidy up /work" }];
for (;;) {
  const { content, stop_reason } = await client.messages.create({
    model: "claude-sonnet-4-5",
    max_tokens: 4096,
    system: files.systemPrompt,
    tools: files.definitions,
    messages,
  });
  messages.push({ role: "assistant", content });
  if (stop_reason !== "tool_use") break;
  messages.push({ role: "user", content: await files.run({ content }) });
}
