// What docs/limits.md promises, row by row, and large sizes. The end of memory is in `bad-input`.

export default {
  about: "every bound of docs/limits.md, and large sizes",
  needs: ["build"],
  seconds: 80,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("limits")),
  soak: (ctx) => ctx.nodeTests(ctx.testFiles("limits"), { env: { KITBAG_LIMITS: "1" } }),
};
