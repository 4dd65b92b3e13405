// kitbag/langchain: `createAgent` with the middleware, which brings tools, prompt and offloading.

import { createFileTools } from "kitbag";
import { kitbagMiddleware } from "kitbag/langchain";
import { createAgent } from "langchain";
import { TASK } from "../cases/task.mjs";
import { led, report } from "./graph.mjs";

export const steps = TASK;

export function play(backend, script) {
  const prompt = createFileTools(backend).systemPrompt;
  const middleware = [kitbagMiddleware(backend)];
  return led((model) => createAgent({ model, tools: [report], middleware }), script, { prompt });
}
