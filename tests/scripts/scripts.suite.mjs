// What the scripts of this project do with processes and files of other projects.

export default {
  about: "the runner's clock, and what it says of a suite that hangs",
  needs: [],
  seconds: 10,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("scripts")),
};
