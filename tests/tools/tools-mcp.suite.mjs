// kitbag/mcp with version 2 of the MCP SDK, and with the oldest of version 1 that it takes.

import { named, toolTests } from "./install.mjs";

/** What runs with version 2 as it does with version 1: all of it in the era of 2025; roots and subscriptions end there. */
const BOTH = [
  ...["adapters/mcp", "adapters/room-mcp", "mcp-http-stateless"],
  ...["adapters/mcp-data", "adapters/mcp-roots"],
  ...["adapters/mcp-dry-run", "adapters/mcp-media"],
];
const IN_2026 = BOTH.slice(1, 3);

export default {
  about:
    "MCP SDK 2.4 and 2.0, both eras: tools, resources, rules, roots, questions over several rounds, `kitbag serve`, MCP's conformance tool; SDK 1.20 and 1.32 at either end",
  needs: ["npm", "npm:mcp", "npm:mcp-conformance", "npm:nodes", "build"],
  uses: ["deps-mcp"],
  seconds: 150,
  run: async (ctx) => {
    const options = { set: "mcp" };
    const era = (year, names) => toolTests(ctx, named(...names), { KITBAG_MCP_ERA: year }, options);
    return ctx.sum([
      await toolTests(ctx, ctx.testFiles("tools/mcp-2"), {}, options),
      await era("2025", BOTH),
      await era("2026", IN_2026),
    ]);
  },
};
