// createFileTools alone, in a loop of one's own.

import { createFileTools } from "kitbag";
import { LARGE } from "../cases/material.mjs";
import { TASK } from "../cases/task.mjs";

export const steps = TASK;

export async function play(backend, script, options) {
  const files = createFileTools(backend, options);
  script.offered([...files.tools.map((tool) => tool.name), "large_report"]);
  const results = [];
  for (;;) {
    const call = script.next(results);
    if (!call) return "done";
    const { id, name, input } = call;
    if (name === "large_report") {
      const text = await files.offload(LARGE, { callId: id, toolName: name });
      results.push({ id, text, media: [] });
      continue;
    }
    const { content, text, isError } = await files.call(name, input, { callId: id });
    const media = content
      .filter((block) => block.type !== "text")
      .map(({ mimeType, data }) => ({ mimeType, data }));
    results.push({ id, text, media, isError });
  }
}
