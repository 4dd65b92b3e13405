// The versions of Node that docs/start.md names, each with a part of what `npm test -- --node …` runs.

import { environmentOf, nodeOf, versions } from "../../scripts/lib/nodes.mjs";

const STATE = ["tests/state/state.test.mjs", "tests/state/async.test.mjs"];

export default {
  about:
    "Node 22, 24 and 26: the packed package, state, a folder, node:sqlite, an agent, the command",
  needs: ["npm", "build", "npm:nodes", "npm:durable", "npm:latest"],
  seconds: 80,
  run: async (ctx) => {
    const notes = [];
    const results = [await ctx.nodeTests(["tests/nodes/versions.test.mjs"])];
    for (const [major, version] of Object.entries(versions())) {
      const result = await ctx.nodeTests(["tests/nodes/short.test.mjs", ...STATE], {
        node: nodeOf(major),
        env: { ...environmentOf(major), KITBAG_NODE_VERSION: version },
        concurrency: 2,
      });
      notes.push(`Node ${version}: ${result.passed} passed, ${result.failed} failed`);
      results.push(result);
    }
    return { ...ctx.sum(results), notes };
  },
};
