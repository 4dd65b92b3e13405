// Every method with every hostile value.

export default {
  about: "hostile arguments, by table",
  needs: ["npm", "build"],
  run: (ctx) => ctx.nodeTests(ctx.testFiles("bad-input")),
};
