// kitbag/mcp over Streamable HTTP: what a client is told without asking.

import { named, toolTests } from "./install.mjs";

export default {
  about:
    "MCP over Streamable HTTP: subscriptions of a folder in Node and an R2 binding in workerd; servers without sessions",
  needs: ["npm", "npm:agents", "build"],
  uses: ["deps-agents"],
  seconds: 15,
  run: (ctx) => toolTests(ctx, named("mcp-http", "mcp-http-stateless")),
};
