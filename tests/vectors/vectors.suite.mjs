// The recorded results in tests/vectors, with the built package.

export default {
  about: "recorded answers on the built package in Node",
  needs: ["build"],
  run: (ctx) => ctx.nodeTests(ctx.testFiles("vectors")),
};
