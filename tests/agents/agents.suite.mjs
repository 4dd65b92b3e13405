// Real agents of both versions of deepagents, with a scripted model.

export default {
  about: "createDeepAgent of 1.10.7 and 1.14.1 on a StateBackend",
  needs: ["build", "npm:latest", "npm:older"],
  seconds: 100,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("agents")),
};
