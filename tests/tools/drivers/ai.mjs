// kitbag/ai with `generateText` of the Vercel AI SDK, and its own mock of a model; for two versions.

import { LARGE } from "../cases/material.mjs";
import { TASK } from "../cases/task.mjs";
import { REPORT } from "./provider.mjs";

const MEDIA = new Set(["media", "image-data", "file-data"]);

/** The results in a prompt, as the script takes them. */
const shown = (prompt) =>
  prompt
    .filter(({ role }) => role === "tool")
    .flatMap(({ content }) => content)
    .map(({ toolCallId: id, output }) => {
      if (output.type !== "content") return { id, text: output.value, media: [] };
      const media = output.value
        .filter((part) => MEDIA.has(part.type))
        .map(({ mediaType, data }) => ({ mimeType: mediaType, data }));
      const text = output.value.flatMap((part) => (part.type === "text" ? [part.text] : []));
      return { id, text: text.join("\n"), media };
    });

/** A driver for a version: the SDK, our adapter for it, its mock, and how it reports an end. */
export function driver({ sdk, fileTools, Model, finish, usage }) {
  return {
    steps: TASK,
    async play(backend, script) {
      const files = fileTools(backend);
      const model = new Model({
        doGenerate: async ({ prompt, tools }) => {
          const names = tools.map((tool) => tool.name);
          script.offered(names, prompt[0].content, files.systemPrompt);
          const call = script.next(shown(prompt));
          const part = call
            ? {
                type: "tool-call",
                toolCallId: call.id,
                toolName: call.name,
                input: JSON.stringify(call.input),
              }
            : { type: "text", text: "done" };
          const finishReason = finish(call ? "tool-calls" : "stop");
          return { content: [part], finishReason, usage, warnings: [] };
        },
      });
      const large_report = sdk.tool({
        description: REPORT.description,
        inputSchema: sdk.jsonSchema(REPORT.schema),
        execute: (_, { toolCallId }) =>
          files.offload(LARGE, { callId: toolCallId, toolName: REPORT.name }),
      });
      const { text } = await sdk.generateText({
        model,
        prompt: "go",
        system: files.systemPrompt,
        tools: { ...files.tools, large_report },
        stopWhen: sdk.stepCountIs(TASK.length + 1),
      });
      return text;
    },
  };
}
