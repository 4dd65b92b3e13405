// StateBackend beyond the protocol: snapshots, a caller's state, channels, limits, options.

export default {
  about: "StateBackend: snapshot, runtime and channel forms, maxBytes, options",
  needs: ["build"],
  run: (ctx) => ctx.nodeTests(ctx.testFiles("state")),
};
