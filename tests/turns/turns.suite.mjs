// Turns on every backend that needs no server, and their patches against git.

export default {
  about: "turns: commit, undo, conflicts, rebase, rules and patches on each kind of backend",
  needs: ["npm", "build", "npm:durable"],
  seconds: 70,
  soakMinutes: 30,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("turns")),
  soak: (ctx) =>
    ctx.nodeTests(["tests/turns/killed.test.mjs", "tests/turns/agents.test.mjs"], {
      env: { KITBAG_KILLS: "50", KITBAG_TURNS: "200" },
    }),
};
