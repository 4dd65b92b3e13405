// The command `kitbag` of the packed package, installed by npm in a project of its own. The run
// against an object gateway is in the suite `s3-hosts`.

export default {
  about: "npx kitbag: ls, cat, grep, cp, diff, du, serve over folders, SQLite and PostgreSQL",
  needs: ["npm", "npm:agents", "npm:durable", "build", "ripgrep", "zsh", "postgres"],
  uses: ["deps-agents"],
  seconds: 45,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("command")),
};
