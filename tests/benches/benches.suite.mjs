// The comparison of benchmarks with the committed ratios, with figures that are made up; and a short form of
// the benchmark of `StateBackend`.

export default {
  about: "`npm run bench -- --check`: a loss of a quarter fails; its rows, in Node and a page",
  needs: ["build", "npm:latest", "chromium"],
  run: (ctx) => ctx.nodeTests(ctx.testFiles("benches")),
};
