// Real agents of both versions of deepagents, with a scripted model.

export default {
  about: "createDeepAgent of 1.10.7 and 1.14.1 on a StateBackend",
  needs: ["build", "npm:latest", "npm:older"],
  seconds: 60,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("agents")),
  soak: (ctx) =>
    ctx.nodeTests(["tests/agents/threads.test.mjs"], { env: { KITBAG_THREADS: "50" } }),
};
