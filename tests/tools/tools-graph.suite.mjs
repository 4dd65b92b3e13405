// kitbag/langchain inside real graphs: which store, state and context a call uses.

import { named, toolTests } from "./install.mjs";

export default {
  about:
    "LangGraph: state and store of the running graph, tenants, parallel calls, policies, pins in checkpoints",
  needs: ["npm:agents", "npm:durable", "build"],
  uses: ["deps-agents"],
  seconds: 70,
  minutes: 15,
  run: (ctx) =>
    toolTests(
      ctx,
      named(
        "graph",
        "threads",
        "parallel",
        "contexts",
        "policies",
        "same-files",
        "mcp-stdio",
        "graph-pins",
      ),
    ),
};
