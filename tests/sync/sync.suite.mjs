// kitbag/sync over real pairs of backends, with processes that are killed, and its command.

export default {
  about: "kitbag/sync: memory and a folder, a folder and SQLite, killed processes, kitbag sync",
  needs: ["npm", "build", "npm:durable"],
  seconds: 60,
  soakMinutes: 30,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("sync")),
  soak: (ctx) => ctx.nodeTests(["tests/sync/killed.test.mjs"], { env: { KITBAG_KILLS: "30" } }),
};
