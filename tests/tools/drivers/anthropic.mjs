// kitbag/anthropic with the client of Anthropic's SDK.

import Anthropic from "@anthropic-ai/sdk";
import { fileTools } from "kitbag/anthropic";
import { LARGE } from "../cases/material.mjs";
import { TASK } from "../cases/task.mjs";
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

/**
 * Lets the script talk by the SDK's client until it is done, and gives its last words. `offer` has
 * the tools, the prompt, and `run(message)`, which makes the results of a message's calls.
 */
export async function converse(script, { tools, system, run }) {
  const fetch = provider((request) => {
    script.offered(
      request.tools.map((tool) => tool.name),
      request.system,
      system,
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
  const messages = [{ role: "user", content: "go" }];
  for (;;) {
    const message = await client.messages.create({
      model: "scripted",
      max_tokens: 100,
      messages,
      system,
      tools,
    });
    messages.push({ role: "assistant", content: message.content });
    if (message.stop_reason !== "tool_use") return textOf(message.content);
    messages.push({ role: "user", content: await run(message) });
  }
}

export async function play(backend, script) {
  const files = fileTools(backend);
  const { schema, ...report } = REPORT;
  return converse(script, {
    tools: [...files.definitions, { ...report, input_schema: schema }],
    system: files.systemPrompt,
    run: async (message) => {
      const [{ id, name }] = message.content;
      if (files.handles(name)) return files.run(message);
      const text = await files.offload(LARGE, { callId: id, toolName: name });
      return [resultOf(id, { text, isError: false })];
    },
  });
}

/** A result as the Messages API takes it. */
export const resultOf = (id, { text, isError }) => ({
  type: "tool_result",
  tool_use_id: id,
  is_error: isError,
  content: [{ type: "text", text }],
});
