// Every method with every hostile value.

export default {
  about: "hostile arguments, by table",
  needs: ["npm", "npm:optional", "build"],
  run: (ctx) => ctx.nodeTests(ctx.testFiles("bad-input")),
};
