// deepagents' own `createDeepAgent`, its own tools and prompt, over our backend.

import { createDeepAgent } from "deepagents";
import { TASK } from "../cases/task.mjs";
import { led, report } from "./graph.mjs";

export const steps = TASK;
export const words = "theirs";

export function play(backend, script) {
  const make = (model) => createDeepAgent({ model, tools: [report], backend });
  return led(make, script, { telling: false });
}
