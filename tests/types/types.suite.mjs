// The declarations: against deepagents' own, with strict programs, with checkers of packages, and
// whether every public member is documented.

export default {
  about:
    "tsc --strict: deepagents 1.10.7 and 1.14.1, every entry, VS Code, MCP SDK 1 and 2; attw, publint, JSDoc of members",
  needs: [
    "npm",
    "build",
    "npm:latest",
    "npm:older",
    "npm:agents",
    "npm:optional",
    "npm:newest",
    "npm:editor",
    "npm:mcp",
    "npm:declarations",
  ],
  seconds: 60,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("types")),
};
