// kitbag/anthropic with the client of Anthropic's SDK.

import Anthropic from "@anthropic-ai/sdk";
import { anthropicTools } from "kitbag/anthropic";
import { LARGE } from "../../../tools/cases/material.mjs";
import { TASK } from "../../../tools/cases/task.mjs";
import { base, provider, REPORT } from "./provider.mjs";

export const steps = TASK;

const textOf = (blocks) =>
  blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");

/** The results in a request, as the script takes them. */
const shown = ({ messages }) =>
  messages
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .filter((block) => block.type === "tool_result")
    .map(({ tool_use_id: id, content, is_error: isError }) => ({
      id,
      text: textOf(content),
      media: content
        .filter((block) => block.type === "image")
        .map(({ source }) => ({ mimeType: source.media_type, data: source.data })),
      isError,
    }));

export async function play(backend, script) {
  const files = anthropicTools(backend);
  const fetch = provider((request) => {
    script.offered(
      request.tools.map((tool) => tool.name),
      request.system,
      files.systemPrompt,
    );
    const call = script.next(shown(request));
    return {
      id: "m",
      type: "message",
      role: "assistant",
      model: "scripted",
      usage: { input_tokens: 1, output_tokens: 1 },
      stop_reason: call ? "tool_use" : "end_turn",
      stop_sequence: null,
      content: call ? [{ type: "tool_use", ...call }] : [{ type: "text", text: "done" }],
    };
  });
  const client = new Anthropic({ ...base, fetch });
  const { schema, ...report } = REPORT;
  const messages = [{ role: "user", content: "go" }];
  for (;;) {
    const message = await client.messages.create({
      model: "scripted",
      max_tokens: 100,
      messages,
      system: files.systemPrompt,
      tools: [...files.definitions, { ...report, input_schema: schema }],
    });
    messages.push({ role: "assistant", content: message.content });
    if (message.stop_reason !== "tool_use") return textOf(message.content);
    const [use] = message.content;
    const content = files.handles(use.name)
      ? await files.run(message)
      : [await reported(files, use)];
    messages.push({ role: "user", content });
  }
}

async function reported(files, { id, name }) {
  const text = await files.offload(LARGE, { callId: id, toolName: name });
  return {
    type: "tool_result",
    tool_use_id: id,
    is_error: false,
    content: [{ type: "text", text }],
  };
}
