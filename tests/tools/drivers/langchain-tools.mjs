// kitbag/langchain: the tools alone in a plain `createAgent`. Nothing offloads the results of
// other tools there, so the large one comes from `execute`.

import { fileTools } from "kitbag/langchain";
import { createAgent } from "langchain";
import { SHELL_TASK } from "../cases/task.mjs";
import { led } from "./graph.mjs";

export const steps = SHELL_TASK;

export function play(backend, script) {
  return led((model) => createAgent({ model, tools: fileTools(backend).tools }), script);
}
