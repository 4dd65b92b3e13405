// `npm run fresh` in its short form: what a new machine must do before anything is installed, with an empty
// home and an empty cargo home; and that each suite installs the packages that its files use.

export default {
  about: "the first steps on a new machine, and what suites install against what they use",
  needs: [],
  seconds: 30,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("fresh")),
};
