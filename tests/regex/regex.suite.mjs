// Regular expressions against recorded answers, with the full parser and without it.

export default {
  about: "regular expressions against the crate regex, by table",
  needs: ["build", "crates"],
  run: (ctx) => ctx.nodeTests(ctx.testFiles("regex")),
};
