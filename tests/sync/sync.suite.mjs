// kitbag/sync over real pairs of backends, with processes that are killed, also those of its command; and
// beside other ways to sync. The long form waits after kills as long as `kitbag sync` does.

export default {
  about: "kitbag/sync: pairs of backends, killed processes, its edits beside git's and others'",
  needs: ["npm", "build", "npm:durable"],
  seconds: 120,
  soakMinutes: 60,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("sync")),
  soak: (ctx) =>
    ctx.nodeTests(["tests/sync/killed.test.mjs", "tests/sync/killed-command.test.mjs"], {
      env: { KITBAG_KILLS: "30", KITBAG_WAITS: "1" },
    }),
};
