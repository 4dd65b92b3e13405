// The projects in `examples/`, each with the packed package.

export default {
  about:
    "examples: a Worker with R2, pages with OPFS and from a CDN, deepagents with PostgreSQL, an MCP server",
  needs: ["npm", "build", "chromium", "npm:agents", "npm:durable"],
  run: (ctx) => ctx.nodeTests(["tests/examples/examples.test.mjs", "tests/examples/cdn.test.mjs"]),
};
