// Every method with every hostile value.

export default {
  about: "hostile arguments, by table",
  needs: ["build"],
  run: (ctx) => ctx.nodeTests(ctx.testFiles("bad-input")),
};
