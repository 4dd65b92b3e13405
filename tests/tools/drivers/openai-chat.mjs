// kitbag/openai with Chat Completions of OpenAI's SDK.

import { fileTools } from "kitbag/openai";
import OpenAI from "openai";
import { LARGE } from "../cases/material.mjs";
import { TASK } from "../cases/task.mjs";
import { base, provider, REPORT } from "./provider.mjs";

export const steps = TASK;

/** The results in a request; a picture stands in the user's message that follows its result. */
function shown({ messages }) {
  const results = [];
  for (const { role, tool_call_id: id, content } of messages) {
    if (role === "tool") results.push({ id, text: content, media: [] });
    if (role !== "user" || !Array.isArray(content)) continue;
    for (const { image_url: image } of content) {
      const [, mimeType, data] = /^data:(.*?);base64,(.*)$/.exec(image?.url) ?? [];
      results.at(-1).media.push({ mimeType, data });
    }
  }
  return results;
}

export async function play(backend, script) {
  const files = fileTools(backend, { api: "chat" });
  const fetch = provider((request) => {
    script.offered(
      request.tools.map((tool) => tool.function.name),
      request.messages[0].content,
      files.systemPrompt,
    );
    const call = script.next(shown(request));
    const asked = call && {
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: JSON.stringify(call.input) },
    };
    const message = asked
      ? { role: "assistant", content: null, tool_calls: [asked] }
      : { role: "assistant", content: "done" };
    return {
      id: "c",
      object: "chat.completion",
      created: 0,
      model: "scripted",
      choices: [{ index: 0, finish_reason: call ? "tool_calls" : "stop", message }],
    };
  });
  const client = new OpenAI({ ...base, fetch });
  const { schema: parameters, ...report } = REPORT;
  const messages = [
    { role: "system", content: files.systemPrompt },
    { role: "user", content: "go" },
  ];
  for (;;) {
    const { choices } = await client.chat.completions.create({
      model: "scripted",
      messages,
      tools: [...files.definitions, { type: "function", function: { ...report, parameters } }],
    });
    const [{ message }] = choices;
    messages.push(message);
    const call = message.tool_calls?.[0];
    if (!call) return message.content;
    const { name } = call.function;
    if (files.handles(name)) messages.push(...(await files.run(message)));
    else {
      const content = await files.offload(LARGE, { callId: call.id, toolName: name });
      messages.push({ role: "tool", tool_call_id: call.id, content });
    }
  }
}
