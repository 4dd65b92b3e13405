// kitbag/mcp over Streamable HTTP: what a client is told without asking.

import { named, toolTests } from "./install.mjs";

export default {
  about: "MCP subscriptions over Streamable HTTP: a folder in Node, an R2 binding in workerd",
  needs: ["npm", "npm:agents", "build"],
  uses: ["deps-agents"],
  seconds: 15,
  run: (ctx) => toolTests(ctx, named("mcp-http")),
};
