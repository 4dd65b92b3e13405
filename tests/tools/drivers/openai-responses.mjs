// kitbag/openai with Responses of OpenAI's SDK.

import { fileTools } from "kitbag/openai";
import OpenAI from "openai";
import { LARGE } from "../cases/material.mjs";
import { TASK } from "../cases/task.mjs";
import { base, provider, REPORT } from "./provider.mjs";

export const steps = TASK;

function shown({ input }) {
  const results = input.filter((item) => item.type === "function_call_output");
  return results.map(({ call_id: id, output }) => {
    if (typeof output === "string") return { id, text: output, media: [] };
    const media = output
      .filter((part) => part.type === "input_image")
      .map((part) => {
        const [, mimeType, data] = /^data:(.*?);base64,(.*)$/.exec(part.image_url) ?? [];
        return { mimeType, data };
      });
    const text = output.flatMap((part) => (part.type === "input_text" ? [part.text] : []));
    return { id, text: text.join("\n"), media };
  });
}

export async function play(backend, script) {
  const files = fileTools(backend);
  const fetch = provider((request) => {
    script.offered(
      request.tools.map((tool) => tool.name),
      request.instructions,
      files.systemPrompt,
    );
    const call = script.next(shown(request));
    const said = { type: "output_text", text: "done", annotations: [] };
    const item = call
      ? {
          type: "function_call",
          id: `f_${call.id}`,
          call_id: call.id,
          name: call.name,
          arguments: JSON.stringify(call.input),
          status: "completed",
        }
      : { type: "message", id: "m", role: "assistant", status: "completed", content: [said] };
    return {
      id: "r",
      object: "response",
      created_at: 0,
      model: "scripted",
      status: "completed",
      output: [item],
    };
  });
  const client = new OpenAI({ ...base, fetch });
  const { schema: parameters, ...report } = REPORT;
  const input = [{ role: "user", content: "go" }];
  for (;;) {
    const response = await client.responses.create({
      model: "scripted",
      instructions: files.systemPrompt,
      input,
      tools: [...files.definitions, { type: "function", strict: false, ...report, parameters }],
    });
    const [call] = response.output;
    if (call.type !== "function_call") return response.output_text;
    input.push(...response.output);
    if (files.handles(call.name)) input.push(...(await files.run(response)));
    else {
      const { call_id, name } = call;
      const output = await files.offload(LARGE, { callId: call_id, toolName: name });
      input.push({ type: "function_call_output", call_id, output });
    }
  }
}
