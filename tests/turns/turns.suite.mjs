// Turns on every backend that needs no server, and their patches against git.

export default {
  about: "turns: commit, undo, conflicts, rebase, rules and patches on each kind of backend",
  needs: ["npm", "build", "npm:durable"],
  run: (ctx) => ctx.nodeTests(ctx.testFiles("turns")),
};
