// The comparison of benchmarks with the committed ratios, with figures that are made up.

export default {
  about: "`npm run bench -- --check`: a loss of a quarter fails",
  needs: [],
  run: (ctx) => ctx.nodeTests(ctx.testFiles("benches")),
};
