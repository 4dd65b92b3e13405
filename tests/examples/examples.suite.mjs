// The projects in `examples/`, each with the packed package.

export default {
  about:
    "examples: Workers with R2 and D1, pages with OPFS and from a CDN, deepagents with PostgreSQL and with undo, MCP servers",
  needs: ["npm", "build", "chromium", "npm:agents", "npm:newest", "npm:durable"],
  run: (ctx) =>
    ctx.nodeTests(
      ["examples", "applications", "cdn"].map((name) => `tests/examples/${name}.test.mjs`),
    ),
};
