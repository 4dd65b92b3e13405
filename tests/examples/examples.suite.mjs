// The projects in `examples/`, each with the packed package.

export default {
  about: "examples: a Worker with R2, a page with OPFS, deepagents with PostgreSQL, an MCP server",
  needs: ["npm", "build", "chromium", "npm:agents", "npm:durable"],
  run: (ctx) => ctx.nodeTests(["tests/examples/examples.test.mjs"]),
};
