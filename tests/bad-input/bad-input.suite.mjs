// Every method with every hostile value.

export default {
  about: "hostile arguments, by table",
  needs: ["npm", "npm:optional", "npm:agents", "npm:newest", "build"],
  seconds: 95,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("bad-input")),
};
