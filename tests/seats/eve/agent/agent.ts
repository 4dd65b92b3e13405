// An agent whose model makes the calls that the message names, and then tells what they returned.

import { defineAgent } from "eve";
import { mockModel } from "eve/evals";

export default defineAgent({
  build: { externalDependencies: ["kitbag"] },
  model: mockModel(({ lastUserMessage, toolResults }) =>
    toolResults.length === 0
      ? { toolCalls: JSON.parse(lastUserMessage ?? "[]") }
      : JSON.stringify(toolResults),
  ),
});
