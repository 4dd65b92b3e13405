// StateBackend beyond the protocol: snapshots, a caller's state, channels, bounds, options.

export default {
  about: "StateBackend: snapshot, runtime and channel forms, maxBytes, options",
  needs: ["build"],
  run: (ctx) => ctx.nodeTests(ctx.testFiles("state")),
};
